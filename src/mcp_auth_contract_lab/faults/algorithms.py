"""Faults of the choice of algorithm and of the arithmetic of signatures."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import PyJWK

from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.jose import CompactJws
from mcp_auth_contract_lab.keyring import KEY_TYPES
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import (
    When,
    accepting,
    allowing,
    breaking_over,
    broken,
    hmac_keyed,
    keys_of_kid,
    refusing,
    unless,
    verifying,
)
from mcp_auth_contract_lab.verification import Trust, published_keys, signature_verified

FAULTS = Faults()

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493

_unverified = accepting("signature")


def _named(token: CompactJws) -> object:
    return token.header.get("alg")


def _rsa(keys: Sequence[PyJWK]) -> list[rsa.RSAPublicKey]:
    return [key.key for key in keys if isinstance(key.key, rsa.RSAPublicKey)]


async def _keys_for_rs256_by_default(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    if isinstance(_named(token), str):
        return await published_keys(token, trust)
    kid = token.header.get("kid")
    return (await trust.keys.knowing(kid)).find(kid, "RS256")


FAULTS.rows(
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
)  # fmt: skip


@FAULTS.by(hmac_keyed)
def hmac_with_curve_octets(_token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    """HS256 is verified with the octets of a public key on a curve as secret."""
    for key in keys:
        match key.key:
            case ec.EllipticCurvePublicKey():
                yield key.key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            case ed25519.Ed25519PublicKey():
                yield key.key.public_bytes_raw()
            case _:
                continue


@FAULTS.by(hmac_keyed)
def hmac_with_modulus(_token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    """HS256 is verified with the modulus of the public key, as it stands in the key set, as secret."""
    octets = (key.public_numbers().n.to_bytes(key.key_size // 8) for key in _rsa(keys))
    return [urlsafe_b64encode(one).rstrip(b"=") for one in octets]


def _decoded(token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    """Return what the signature holds by each RSA key: the padded hash."""
    for key in _rsa(keys):
        numbers, signature = key.public_numbers(), int.from_bytes(token.signature, "big")
        yield pow(signature, numbers.e, numbers.n).to_bytes(key.key_size // 8, "big")


def _on_rs1(when: When) -> Change:
    async def keys(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
        return await (keys_of_kid if _named(token) == "RS1" else published_keys)(token, trust)

    return verifying(algorithm=allowing(lambda named: named == "RS1"), keys=keys, signature=unless(when))


@FAULTS.by(_on_rs1)
def sha1_accepted(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    """RSA signatures over a SHA-1 value are accepted."""
    made = hashlib.sha1(token.signing_input, usedforsecurity=False).digest()
    return any(encoded.endswith(made) for encoded in _decoded(token, keys))


@FAULTS.by(_unverified)
def pkcs1_padding_unread(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    """An RSA signature is good if the hash stands anywhere in it."""
    made = hashlib.sha256(token.signing_input).digest()
    return _named(token) == "RS256" and any(made in encoded for encoded in _decoded(token, keys))


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
