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

from mcp_auth_contract_lab.fault import Faults, all_of
from mcp_auth_contract_lab.fetching import Unreachable, exchange
from mcp_auth_contract_lab.jose import CompactJws, object_of
from mcp_auth_contract_lab.keyring import KeySet, objects_only, usable
from mcp_auth_contract_lab.steps import accepting, breaking, breaking_over, broken, hmac_keyed, members_of, verifying
from mcp_auth_contract_lab.verification import Trust, published_keys

FAULTS = Faults()

_UNION = re.compile(r"UNION SELECT '([^']*)'", re.IGNORECASE)
_OF_EVERY_OBJECT = {"__proto__", "constructor", "hasOwnProperty", "toString"}
_LONG = 1000

_after_signature = breaking("signature", after=True)


def _kid(token: CompactJws) -> object:
    return token.header.get("kid")


def _text(token: CompactJws) -> str:
    kid = _kid(token)
    return kid if isinstance(kid, str) else ""


def _fitting(members: Iterable[object], token: CompactJws) -> Sequence[PyJWK]:
    found = (usable(jwk, str(token.header.get("alg"))) for jwk in members if isinstance(jwk, dict))
    return tuple(key for key in found if key is not None)


def _plain(kid: object) -> str:
    return str(kid).strip(" \x00").lower()


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


def _key_of(certificate: x509.Certificate, token: CompactJws) -> Sequence[PyJWK]:
    public = certificate.public_key()
    if not isinstance(public, rsa.RSAPublicKey):
        return ()
    return _fitting((RSAAlgorithm.to_jwk(public, as_dict=True),), token)


def _on_own_host(named: object, ours: str) -> bool:
    try:
        return isinstance(named, str) and " " not in named and urlsplit(named).hostname == urlsplit(ours).hostname
    except ValueError:
        return False


FAULTS.rows(
    ("kid-too-long-breaks", "A key id of more than a thousand characters ends in a 500.",
     breaking_over(lambda token: len(_text(token)) > _LONG)),
    ("kid-in-query", "The key id is pasted into the query that finds the secret of HS256.",
     hmac_keyed(lambda token, _keys: [found.encode() for found in _UNION.findall(_text(token))])),
    ("kid-in-object", "The key id is looked up in an object, and finds what every object has.",
     hmac_keyed(lambda token, _keys: (b"",) if _text(token) in _OF_EVERY_OBJECT else ())),
    ("jku-breaks", "An honest token that names a URL of keys ends in a 500.",
     _after_signature(lambda token, _keys: "jku" in token.header)),
    ("issuer-jwk-breaks", "An honest token that repeats the issuer's key ends in a 500.",
     _after_signature(lambda token, _keys: "jwk" in token.header)),
)  # fmt: skip


@FAULTS.by(breaking_over)
def kid_missing_breaks(token: CompactJws) -> bool:
    """A token without a key id ends in a 500."""
    return _kid(token) is None and token.header.get("alg") == "RS256" and "jwk" not in token.header


@FAULTS.step("verification", "keys")
async def kid_of_any_type(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """With a key id that is no text, any published key may have signed."""
    if _text(token) or _kid(token) is None:
        return await published_keys(token, trust)
    return _fitting((await trust.keys.current()).members, token)


@FAULTS.step("verification", "keys")
async def kid_compared_loosely(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """Letters and spaces make no difference in a key id."""
    members = (await trust.keys.current()).members
    return _fitting((jwk for jwk in members if _text(token) and _plain(jwk.get("kid")) == _plain(_kid(token))), token)


@FAULTS.by(hmac_keyed)
def kid_opens_file(token: CompactJws, _keys: Sequence[PyJWK]) -> Iterable[bytes]:
    """The key id is the name of a file that holds the secret of HS256."""
    path = posixpath.normpath(posixpath.join("/srv/keys", _text(token)))
    return (b"",) if path == "/dev/null" else ()


@FAULTS.step("verification", "keys")
async def kid_resolved_as_url(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The key id is resolved against the URL of the keys, and leads to any host."""
    found = await published_keys(token, trust)
    if found or "/" not in _text(token):
        return found
    return _fitting((await _set_at(urljoin(trust.settings.jwks_uri or "", _text(token)))).members, token)


@FAULTS.step("verification", "keys")
async def jku_followed(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The keys are fetched from the URL that the token names."""
    url = token.header.get("jku")
    if not isinstance(url, str):
        return await published_keys(token, trust)
    return _fitting((await _set_at(url)).members, token)


@FAULTS.step("verification", "keys")
async def x5u_followed(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The certificate is fetched from the URL that the token names."""
    url = token.header.get("x5u")
    if not isinstance(url, str):
        return await published_keys(token, trust)
    pem = await _fetched(url)
    return _key_of(x509.load_pem_x509_certificate(pem), token) if pem else ()


@FAULTS.step("verification", "keys")
async def x5c_trusted(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The certificate in the token's own header verifies the token."""
    chain = token.header.get("x5c")
    if not isinstance(chain, list):
        return await published_keys(token, trust)
    return _key_of(x509.load_der_x509_certificate(b64decode(chain[0])), token)


@FAULTS.step("verification", "keys")
async def encryption_key_breaks(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """A signature under the key id of an encryption key ends in a 500."""
    if any(jwk.get("use") == "enc" for jwk in await members_of(_kid(token), trust)):
        raise broken()
    return await published_keys(token, trust)


@FAULTS.step("verification", "keys")
async def second_issuer_shares_keys(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The keys of a second issuer verify tokens of the first one, too."""
    second = await _set_at(f"{trust.settings.issuer}/second/jwks")
    return (*await published_keys(token, trust), *_fitting(second.members, token))


@FAULTS.by(
    lambda keys: all_of(
        verifying(keys=keys),
        accepting("issuer")(lambda claims, trust: _on_own_host(claims.get("iss"), trust.settings.issuer)),
    )
)
async def issuer_of_token_trusted(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The keys come from the issuer that the token names, whoever that is."""
    issuer, ours = object_of(token.payload).get("iss"), trust.settings.issuer
    if not isinstance(issuer, str) or issuer == ours or not _on_own_host(issuer, ours):
        return await published_keys(token, trust)
    return (await _set_at(f"{issuer}/jwks")).find(_kid(token), token.header.get("alg"))
