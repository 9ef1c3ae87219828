"""Faults of the choice of the key: the token leads to it, or the wrong one of the published keys is taken."""

import asyncio
import json
import posixpath
import re
from base64 import b64decode
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt import PyJWK
from jwt.algorithms import RSAAlgorithm

from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import issuer_if, verifying
from mcp_auth_contract_lab.faults.token_steps import (
    breaking_down,
    breaking_down_over_verified,
    breaks_down,
    keyed,
    members_of,
)
from mcp_auth_contract_lab.fetching import Unreachable, exchange
from mcp_auth_contract_lab.jose import CompactJws, object_of
from mcp_auth_contract_lab.jwks import KeySet, objects_only, usable
from mcp_auth_contract_lab.verification import Trust, published_keys

__all__ = ["FAULTS"]

_UNION = re.compile(r"UNION SELECT '([^']*)'", re.IGNORECASE)
_OF_EVERY_OBJECT = {"__proto__", "constructor", "hasOwnProperty", "toString"}
_LONG = 1000


def _kid(token: CompactJws) -> object:
    return token.header.get("kid")


def _text(token: CompactJws) -> str:
    kid = _kid(token)
    return kid if isinstance(kid, str) else ""


def _nameless(token: CompactJws) -> bool:
    return _kid(token) is None and token.header.get("alg") == "RS256" and "jwk" not in token.header


async def _any_for_no_text(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    if _text(token) or _kid(token) is None:
        return await published_keys(token, trust)
    return _fitting((await trust.keys.current()).members, token)


def _fitting(members: Iterable[object], token: CompactJws) -> Sequence[PyJWK]:
    found = (usable(jwk, str(token.header.get("alg"))) for jwk in members if isinstance(jwk, dict))
    return tuple(key for key in found if key is not None)


def _plain(kid: object) -> str:
    return str(kid).strip(" \x00").lower()


async def _keys_of_similar_kid(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    members = (await trust.keys.current()).members
    return _fitting((jwk for jwk in members if _text(token) and _plain(jwk.get("kid")) == _plain(_kid(token))), token)


def _content_of_file(token: CompactJws, _keys: Sequence[PyJWK]) -> Iterable[bytes]:
    path = posixpath.normpath(posixpath.join("/srv/keys", _text(token)))
    return (b"",) if path == "/dev/null" else ()


def _result_of_query(token: CompactJws, _keys: Sequence[PyJWK]) -> Iterable[bytes]:
    return [found.encode() for found in _UNION.findall(_text(token))]


def _member_of_object(token: CompactJws, _keys: Sequence[PyJWK]) -> Iterable[bytes]:
    return (b"",) if _text(token) in _OF_EVERY_OBJECT else ()


def _long(token: CompactJws) -> bool:
    return len(_text(token)) > _LONG


async def _fetched(url: str) -> bytes:
    try:
        reply = await asyncio.to_thread(exchange, url)
    except Unreachable:
        return b""
    return reply.body if reply.status == HTTPStatus.OK else b""


async def _set_at(url: str) -> KeySet:
    try:
        value = json.loads(await _fetched(url))
    except ValueError:
        return KeySet(())
    return KeySet(objects_only(value) if isinstance(value, dict) else ())


async def _keys_at_kid(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """Resolve the kid against the URL of the key set, as if each key had a URL of its own."""
    found = await published_keys(token, trust)
    if found or "/" not in _text(token):
        return found
    return _fitting((await _set_at(urljoin(trust.settings.jwks_uri or "", _text(token)))).members, token)


async def _keys_at_jku(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    url = token.header.get("jku")
    if not isinstance(url, str):
        return await published_keys(token, trust)
    return _fitting((await _set_at(url)).members, token)


def _key_of(certificate: x509.Certificate, token: CompactJws) -> Sequence[PyJWK]:
    public = certificate.public_key()
    if not isinstance(public, rsa.RSAPublicKey):
        return ()
    return _fitting((RSAAlgorithm.to_jwk(public, as_dict=True),), token)


async def _key_at_x5u(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    url = token.header.get("x5u")
    if not isinstance(url, str):
        return await published_keys(token, trust)
    pem = await _fetched(url)
    return _key_of(x509.load_pem_x509_certificate(pem), token) if pem else ()


async def _key_in_x5c(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    chain = token.header.get("x5c")
    if not isinstance(chain, list):
        return await published_keys(token, trust)
    return _key_of(x509.load_der_x509_certificate(b64decode(chain[0])), token)


async def _breaking_over_encryption_key(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    if any(jwk.get("use") == "enc" for jwk in await members_of(_kid(token), trust)):
        raise breaks_down()
    return await published_keys(token, trust)


async def _keys_of_both_issuers(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    second = await _set_at(f"{trust.settings.issuer}/second/jwks")
    return (*await published_keys(token, trust), *_fitting(second.members, token))


def _on_own_host(named: object, ours: str) -> bool:
    try:
        return isinstance(named, str) and " " not in named and urlsplit(named).hostname == urlsplit(ours).hostname
    except ValueError:
        return False


async def _keys_of_named_issuer(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    issuer = object_of(token.payload).get("iss")
    if (
        not isinstance(issuer, str)
        or issuer == trust.settings.issuer
        or not _on_own_host(issuer, trust.settings.issuer)
    ):
        return await published_keys(token, trust)
    return (await _set_at(f"{issuer}/jwks")).find(_kid(token), token.header.get("alg"))


_KID = (
    Fault(
        "kid-missing-breaks",
        "A token without a key id ends in a 500.",
        breaking_down(_nameless),
    ),
    Fault(
        "kid-of-any-type",
        "With a key id that is no text, any published key may have signed.",
        verifying(keys=_any_for_no_text),
    ),
    Fault(
        "kid-compared-loosely",
        "Letters and spaces make no difference in a key id.",
        verifying(keys=_keys_of_similar_kid),
    ),
    Fault(
        "kid-too-long-breaks",
        "A key id of more than a thousand characters ends in a 500.",
        breaking_down(_long),
    ),
    Fault(
        "kid-opens-file",
        "The key id is the name of a file that holds the secret of HS256.",
        keyed(_content_of_file),
    ),
    Fault(
        "kid-in-query",
        "The key id is pasted into the query that finds the secret of HS256.",
        keyed(_result_of_query),
    ),
    Fault(
        "kid-in-object",
        "The key id is looked up in an object, and finds what every object has.",
        keyed(_member_of_object),
    ),
    Fault(
        "kid-resolved-as-url",
        "The key id is resolved against the URL of the keys, and leads to any host.",
        verifying(keys=_keys_at_kid),
    ),
)

_HEADER = (
    Fault(
        "jku-followed",
        "The keys are fetched from the URL that the token names.",
        verifying(keys=_keys_at_jku),
    ),
    Fault(
        "jku-breaks",
        "An honest token that names a URL of keys ends in a 500.",
        breaking_down_over_verified(lambda token: "jku" in token.header),
    ),
    Fault(
        "x5u-followed",
        "The certificate is fetched from the URL that the token names.",
        verifying(keys=_key_at_x5u),
    ),
    Fault(
        "x5c-trusted",
        "The certificate in the token's own header verifies the token.",
        verifying(keys=_key_in_x5c),
    ),
    Fault(
        "issuer-jwk-breaks",
        "An honest token that repeats the issuer's key ends in a 500.",
        breaking_down_over_verified(lambda token: "jwk" in token.header),
    ),
)

_PUBLISHED = (
    Fault(
        "encryption-key-breaks",
        "A signature under the key id of an encryption key ends in a 500.",
        verifying(keys=_breaking_over_encryption_key),
    ),
    Fault(
        "second-issuer-shares-keys",
        "The keys of a second issuer verify tokens of the first one, too.",
        verifying(keys=_keys_of_both_issuers),
    ),
    Fault(
        "issuer-of-token-trusted",
        "The keys come from the issuer that the token names, whoever that is.",
        verifying(keys=_keys_of_named_issuer, issuer=issuer_if(_on_own_host)),
    ),
)

FAULTS = (*_KID, *_HEADER, *_PUBLISHED)
