"""Faults of the choice of algorithm and of the arithmetic of signatures."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import PyJWK

from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.faults.token_steps import (
    allowing,
    breaking_down,
    breaks_down,
    keyed,
    keys_of_kid,
    unless,
)
from mcp_auth_contract_lab.jose import CompactJws
from mcp_auth_contract_lab.jwks import KEY_TYPES
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.verification import Header, Trust, published_keys, signature_verified

__all__ = ["FAULTS"]

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493


def _named(token: CompactJws) -> object:
    return token.header.get("alg")


def _rs256_alone(header: Header, _trust: Trust) -> None:
    if header.get("alg") != "RS256":
        raise InvalidToken("the algorithm is not accepted")


def _no_text(algorithm: object) -> bool:
    return not isinstance(algorithm, str)


async def _keys_for_rs256_by_default(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    if _no_text(_named(token)):
        kid = token.header.get("kid")
        return (await trust.keys.knowing(kid)).find(kid, "RS256")
    return await published_keys(token, trust)


def _in_other_letters(token: CompactJws) -> bool:
    named = _named(token)
    return isinstance(named, str) and named not in KEY_TYPES and named.strip().upper() in KEY_TYPES


def _curve_octets(_token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    for key in keys:
        match key.key:
            case ec.EllipticCurvePublicKey():
                yield key.key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            case ed25519.Ed25519PublicKey():
                yield key.key.public_bytes_raw()
            case _:
                continue


def _modulus_text(_token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    for key in keys:
        if isinstance(key.key, rsa.RSAPublicKey):
            yield urlsafe_b64encode(key.key.public_numbers().n.to_bytes(key.key.key_size // 8)).rstrip(b"=")


def _of_other_type(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    """Whether an RSA key is to verify a signature on a curve: the library has nothing to say about that."""
    return _named(token) in ("ES256", "EdDSA") and any(isinstance(key.key, rsa.RSAPublicKey) for key in keys)


def _encoded(key: rsa.RSAPublicKey, signature: bytes) -> bytes:
    numbers = key.public_numbers()
    return pow(int.from_bytes(signature, "big"), numbers.e, numbers.n).to_bytes(key.key_size // 8, "big")


def _decoded(token: CompactJws, keys: Sequence[PyJWK]) -> Iterable[bytes]:
    public = [key.key for key in keys if isinstance(key.key, rsa.RSAPublicKey)]
    return (_encoded(key, token.signature) for key in public)


def _hash_somewhere(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    made = hashlib.sha256(token.signing_input).digest()
    return _named(token) == "RS256" and any(made in encoded for encoded in _decoded(token, keys))


def _sha1_at_the_end(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    made = hashlib.sha1(token.signing_input, usedforsecurity=False).digest()
    return any(encoded.endswith(made) for encoded in _decoded(token, keys))


def _is_rs1(algorithm: object) -> bool:
    return algorithm == "RS1"


async def _keys_for_rs1_too(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    return await (keys_of_kid if _is_rs1(_named(token)) else published_keys)(token, trust)


def _other_parameters(token: CompactJws, keys: Sequence[PyJWK]) -> None:
    """Break down over a PSS signature that has another salt or mask than the expected one."""
    try:
        signature_verified(token, keys)
    except InvalidToken:
        if _named(token) == "PS256" and any(encoded.endswith(b"\xbc") for encoded in _decoded(token, keys)):
            raise breaks_down() from None
        raise


def _on_p256(keys: Sequence[PyJWK]) -> Sequence[ec.EllipticCurvePublicKey]:
    return [key.key for key in keys if isinstance(key.key, ec.EllipticCurvePublicKey)]


def _degenerate(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    """Whether both numbers are zero to the group: then both sides of the equation are the point at infinity."""
    half = len(token.signature) // 2
    pair = (token.signature[:half], token.signature[half:])
    return bool(_on_p256(keys)) and all(int.from_bytes(number, "big") % _P256_ORDER == 0 for number in pair)


def _as_der(token: CompactJws, keys: Sequence[PyJWK]) -> bool:
    try:
        r, s = utils.decode_dss_signature(token.signature)
        raw = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    except (ValueError, OverflowError):
        return False
    return any(key.Algorithm.verify(token.signing_input, key.key, raw) for key in keys if _on_p256([key]))


def _above_order(token: CompactJws) -> bool:
    return _named(token) == "EdDSA" and int.from_bytes(token.signature[32:], "little") >= _ED25519_ORDER


def _sister(token: CompactJws) -> bool:
    return _named(token) in ("RS384", "RS512")


_ALGORITHMS = (
    Fault(
        "rs256-alone",
        "RS256 is accepted alone, though the issuer signs with other algorithms too.",
        verifying(algorithm=_rs256_alone),
    ),
    Fault(
        "algorithm-of-any-type",
        "A token that names no algorithm, or not by a string, is verified with RS256.",
        verifying(algorithm=allowing(_no_text), keys=_keys_for_rs256_by_default),
    ),
    Fault(
        "algorithm-letters-break",
        "An algorithm in other letters is looked up in vain, with a 500.",
        breaking_down(_in_other_letters),
    ),
    Fault(
        "algorithm-sister-breaks",
        "An algorithm with a longer hash than the key is made for ends in a 500.",
        breaking_down(_sister),
    ),
    Fault(
        "key-type-unbound",
        "A signature on a curve that is to be verified with an RSA key is believed.",
        verifying(keys=keys_of_kid, signature=unless(_of_other_type)),
    ),
    Fault(
        "hmac-with-curve-octets",
        "HS256 is verified with the octets of a public key on a curve as secret.",
        keyed(_curve_octets),
    ),
    Fault(
        "hmac-with-modulus",
        "HS256 is verified with the modulus of the public key, as it stands in the key set, as secret.",
        keyed(_modulus_text),
    ),
    Fault(
        "hmac-with-weak-secret",
        "HS256 is verified with the secret of a tutorial.",
        keyed(lambda _token, _keys: (b"your-256-bit-secret",)),
    ),
    Fault(
        "sha1-accepted",
        "RSA signatures over a SHA-1 value are accepted.",
        verifying(algorithm=allowing(_is_rs1), keys=_keys_for_rs1_too, signature=unless(_sha1_at_the_end)),
    ),
)

_ARITHMETIC = (
    Fault(
        "pkcs1-padding-unread",
        "An RSA signature is good if the hash stands anywhere in it.",
        verifying(signature=unless(_hash_somewhere)),
    ),
    Fault(
        "pss-parameters-break",
        "A PSS signature with another salt or mask ends in a 500.",
        verifying(signature=_other_parameters),
    ),
    Fault(
        "es256-zero-accepted",
        "ES256 signatures of zeros are good for any text (CVE-2022-21449).",
        verifying(signature=unless(_degenerate)),
    ),
    Fault(
        "es256-der-accepted",
        "ES256 signatures in DER are accepted besides those of 64 octets.",
        verifying(signature=unless(_as_der)),
    ),
    Fault(
        "ed25519-range-breaks",
        "An Ed25519 signature beyond the order of the group ends in a 500.",
        breaking_down(_above_order),
    ),
)

FAULTS = (*_ALGORITHMS, *_ARITHMETIC)
