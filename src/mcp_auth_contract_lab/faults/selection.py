"""Faults of the choice of the algorithm and the key, which the token leads to, and of the arithmetic of signatures."""

import asyncio
import hashlib
import posixpath
import re
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import PyJWK
from jwt.algorithms import RSAAlgorithm

from mcp_auth_contract_lab.fault import Faults, all_of
from mcp_auth_contract_lab.fetching import Unreachable, exchange
from mcp_auth_contract_lab.incoming import parse_json
from mcp_auth_contract_lab.jose import CompactJws, object_of
from mcp_auth_contract_lab.keyring import KEY_TYPES, KeySet, objects_only, usable
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import (
    accepting,
    allowing,
    breaking,
    breaking_over,
    broken,
    hmac_keyed,
    keys_of_kid,
    members_of,
    refusing,
    unless,
    verifying,
)
from mcp_auth_contract_lab.verification import Trust, published_keys, signature_verified

FAULTS = Faults()

_UNION = re.compile(r"UNION SELECT '([^']*)'", re.IGNORECASE)
_OF_EVERY_OBJECT = {"__proto__", "constructor", "hasOwnProperty", "toString"}
_LONG = 1000

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493

_unverified = accepting("signature")
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


async def _members_at(url: str) -> Sequence[Mapping[str, Any]]:
    value = parse_json(await _fetched(url))
    return objects_only(value) if isinstance(value, dict) else ()


async def _keys_at(url: str, token: CompactJws) -> Sequence[PyJWK]:
    return _fitting(await _members_at(url), token)


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


@FAULTS.step("verification", "keys")
async def kid_of_any_type(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """With a key id that is no text, any published key may have signed."""
    named = _text(token) or _kid(token) is None
    return await published_keys(token, trust) if named else _fitting((await trust.keys.current()).members, token)


@FAULTS.step("verification", "keys")
async def kid_compared_loosely(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """Letters and spaces make no difference in a key id."""
    members = (await trust.keys.current()).members
    return _fitting((jwk for jwk in members if _text(token) and _plain(jwk.get("kid")) == _plain(_kid(token))), token)


@FAULTS.step("verification", "keys")
async def kid_resolved_as_url(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The key id is resolved against the URL of the keys, and leads to any host."""
    found = await published_keys(token, trust)
    if found or "/" not in _text(token):
        return found
    return await _keys_at(urljoin(trust.settings.jwks_uri or "", _text(token)), token)


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
    second = await _keys_at(f"{trust.settings.issuer}/second/jwks", token)
    return (*await published_keys(token, trust), *second)


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
    return KeySet(await _members_at(f"{issuer}/jwks")).find(_kid(token), token.header.get("alg"))


def _named(token: CompactJws) -> object:
    return token.header.get("alg")


def _rsa(keys: Sequence[PyJWK]) -> list[rsa.RSAPublicKey]:
    return [key.key for key in keys if isinstance(key.key, rsa.RSAPublicKey)]


def _decoded(token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    """Return what the signature holds by each RSA key: the padded hash."""
    for key in _rsa(keys):
        numbers, signature = key.public_numbers(), int.from_bytes(token.signature, "big")
        yield pow(signature, numbers.e, numbers.n).to_bytes(key.key_size // 8, "big")


async def _keys_for_rs1(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    return await (keys_of_kid if _named(token) == "RS1" else published_keys)(token, trust)


async def _keys_for_rs256_by_default(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    if isinstance(_named(token), str):
        return await published_keys(token, trust)
    kid = token.header.get("kid")
    return (await trust.keys.knowing(kid)).find(kid, "RS256")


FAULTS.rows(
    ("kid-too-long-breaks", "A key id of more than a thousand characters ends in a 500.",
     breaking_over(lambda token: len(_text(token)) > _LONG)),
    ("kid-in-query", "The key id is pasted into the query that finds the secret of HS256.",
     hmac_keyed(lambda token, _keys: [found.encode() for found in _UNION.findall(_text(token))])),
    ("kid-in-object", "The key id is looked up in an object, and finds what every object has.",
     hmac_keyed(lambda token, _keys: (b"",) if _text(token) in _OF_EVERY_OBJECT else ())),
    ("kid-opens-file", "The key id is the name of a file that holds the secret of HS256.",
     hmac_keyed(lambda token, _keys: (
         (b"",) if posixpath.normpath(posixpath.join("/srv/keys", _text(token))) == "/dev/null" else ()))),
    ("jku-breaks", "An honest token that names a URL of keys ends in a 500.",
     _after_signature(lambda token, _keys: "jku" in token.header)),
    ("issuer-jwk-breaks", "An honest token that repeats the issuer's key ends in a 500.",
     _after_signature(lambda token, _keys: "jwk" in token.header)),
    ("kid-missing-breaks", "A token without a key id ends in a 500.",
     breaking_over(lambda token: (
         _kid(token) is None and token.header.get("alg") == "RS256" and "jwk" not in token.header))),
    ("rs256-alone", "RS256 is accepted alone, though the issuer signs with other algorithms too.",
     refusing("algorithm")(lambda header, _trust: header.get("alg") != "RS256")),
    ("algorithm-of-any-type", "A token that names no algorithm, or not by a string, is verified with RS256.",
     verifying(algorithm=allowing(lambda named: not isinstance(named, str)), keys=_keys_for_rs256_by_default)),
    ("key-type-unbound", "A signature on a curve that is to be verified with an RSA key is believed.",
     verifying(keys=keys_of_kid, signature=unless(
         lambda token, keys: _named(token) in ("ES256", "EdDSA") and _rsa(keys) != []))),
    ("algorithm-letters-break", "An algorithm in other letters is looked up in vain, with a 500.",
     breaking_over(lambda token: str(_named(token)) not in KEY_TYPES
                   and str(_named(token)).strip().upper() in KEY_TYPES)),
    ("ed25519-range-breaks", "An Ed25519 signature beyond the order of the group ends in a 500.",
     breaking_over(lambda token: _named(token) == "EdDSA"
                   and int.from_bytes(token.signature[32:], "little") >= _ED25519_ORDER)),
    ("algorithm-sister-breaks", "An algorithm with a longer hash than the key is made for ends in a 500.",
     breaking_over(lambda token: _named(token) in ("RS384", "RS512"))),
    ("hmac-with-weak-secret", "HS256 is verified with the secret of a tutorial.",
     hmac_keyed(lambda _token, _keys: (b"your-256-bit-secret",))),
    ("hmac-with-modulus",
     "HS256 is verified with the modulus of the public key, as it stands in the key set, as secret.",
     hmac_keyed(lambda _token, keys: [
         urlsafe_b64encode(key.public_numbers().n.to_bytes(key.key_size // 8)).rstrip(b"=") for key in _rsa(keys)])),
    ("sha1-accepted", "RSA signatures over a SHA-1 value are accepted.",
     verifying(algorithm=allowing(lambda named: named == "RS1"), keys=_keys_for_rs1,
               signature=unless(lambda token, keys: any(
                   encoded.endswith(hashlib.sha1(token.signing_input, usedforsecurity=False).digest())
                   for encoded in _decoded(token, keys))))),
    ("pkcs1-padding-unread", "An RSA signature is good if the hash stands anywhere in it.",
     _unverified(lambda token, keys: _named(token) == "RS256" and any(
         hashlib.sha256(token.signing_input).digest() in encoded for encoded in _decoded(token, keys)))),
)  # fmt: skip


@FAULTS.step("verification", "keys")
async def jku_followed(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """The keys are fetched from the URL that the token names."""
    url = token.header.get("jku")
    return await (_keys_at(url, token) if isinstance(url, str) else published_keys(token, trust))


@FAULTS.by(hmac_keyed)
def hmac_with_curve_octets(_token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    """HS256 is verified with the octets of a public key on a curve as secret."""
    for key in keys:
        if isinstance(key.key, ec.EllipticCurvePublicKey):
            yield key.key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        elif isinstance(key.key, ed25519.Ed25519PublicKey):
            yield key.key.public_bytes_raw()


@FAULTS.step("verification", "signature")
def pss_parameters_break(token: CompactJws, keys: Sequence[PyJWK]) -> None:
    """A PSS signature with another salt or mask ends in a 500."""
    try:
        signature_verified(token, keys)
    except InvalidToken:
        if _named(token) == "PS256" and any(encoded.endswith(b"\xbc") for encoded in _decoded(token, keys)):
            raise broken() from None
        raise


@FAULTS.by(_unverified)
def es256_zero_accepted(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    """ES256 signatures of zeros are good for any text (CVE-2022-21449)."""
    # Where both numbers are zero to the group, both sides of the equation are the point at infinity.
    half = len(token.signature) // 2
    pair = (token.signature[:half], token.signature[half:])
    on_curve = any(isinstance(key.key, ec.EllipticCurvePublicKey) for key in keys)
    return on_curve and all(int.from_bytes(number, "big") % _P256_ORDER == 0 for number in pair)


@FAULTS.by(_unverified)
def es256_der_accepted(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    """ES256 signatures in DER are accepted besides those of 64 octets."""
    try:
        r, s = utils.decode_dss_signature(token.signature)
        raw = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    except (ValueError, OverflowError):
        return False
    on_curve = (key for key in keys if isinstance(key.key, ec.EllipticCurvePublicKey))
    return any(key.Algorithm.verify(token.signing_input, key.key, raw) for key in on_curve)
