"""Faults of the signature check: what the header says is believed, or nothing is verified at all."""

import hmac
from collections.abc import Callable, Sequence

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.faults.token_steps import allowing, unless
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.jwks import KEY_TYPES, usable
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.verification import Header, Trust, published_keys, signature_verified

__all__ = ["FAULTS"]


def _parse_loosely(token: str) -> CompactJws:
    """Let a signature be empty or its segment missing."""
    segments = token.split(".")
    if len(segments) not in (2, 3) or not all(segments[:2]):
        raise InvalidToken("the token is malformed")
    header, payload, signature = (*segments, "")[:3]
    signed = f"{header}.{payload}".encode("ascii")
    return CompactJws(object_of(decode_segment(header)), decode_segment(payload), signed, decode_segment(signature))


def _parse_two_segments(token: str) -> CompactJws:
    return _parse_loosely(token) if token.count(".") == 1 else parse_compact(token)


def _parse_empty_signature(token: str) -> CompactJws:
    if token.count(".") != 2:
        raise InvalidToken("the token is malformed")
    return _parse_loosely(token)


def _is_none(algorithm: object) -> bool:
    return algorithm == "none"


def _is_none_in_capitals(algorithm: object) -> bool:
    return isinstance(algorithm, str) and algorithm != "none" and algorithm.lower() == "none"


def _is_unheard_of(algorithm: object) -> bool:
    known = isinstance(algorithm, str) and (
        algorithm in KEY_TYPES or algorithm.lower() == "none" or algorithm.startswith("HS")
    )
    return not known


def _is_hmac(algorithm: object) -> bool:
    return algorithm == "HS256"


def _unsigned(named: Callable[[object], bool], empty: bool) -> Change:
    def exempt(token: CompactJws, _keys: Sequence[PyJWK]) -> bool:
        return named(token.header.get("alg")) and (not token.signature) is empty

    return verifying(parse=_parse_empty_signature, algorithm=allowing(named), signature=unless(exempt))


async def _keys_for_any_padding(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    kid = token.header.get("kid")
    found = await trust.keys.knowing(kid)
    members = [jwk for jwk in found.members if jwk.get("kid") == kid]
    keys = [usable({**jwk, "alg": name}, name) for jwk in members for name in ("RS256", "PS256")]
    return tuple(key for key in keys if key is not None) or await published_keys(token, trust)


async def _keys_of_the_kid(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    kid = token.header.get("kid")
    members = (await trust.keys.knowing(kid)).members
    keys = (usable({**jwk, "alg": "RS256"}, "RS256") for jwk in members if jwk.get("kid") == kid)
    return tuple(key for key in keys if key is not None)


def _keyed_with_public_key(token: CompactJws, keys: Sequence[PyJWK]) -> None:
    """Take the public key's PEM for a shared secret when the header says HS256 (RFC 8725 §2.1)."""
    if token.header.get("alg") != "HS256":
        signature_verified(token, keys)
        return
    for key in keys:
        if isinstance(key.key, RSAPublicKey):
            pem = key.key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            if hmac.compare_digest(hmac.new(pem, token.signing_input, "sha256").digest(), token.signature):
                return
    raise InvalidToken("the signature does not verify")


async def _hmac_keys(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    if token.header.get("alg") == "HS256":
        return await _keys_of_the_kid(token, trust)
    return await published_keys(token, trust)


async def _embedded_key(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    embedded, named = token.header.get("jwk"), token.header.get("alg")
    if isinstance(embedded, dict) and isinstance(named, str):
        try:
            return (PyJWK(embedded, named),)
        except (PyJWTError, ValueError, TypeError, KeyError):
            return ()
    return await published_keys(token, trust)


def _zeroed(token: CompactJws, _keys: Sequence[PyJWK]) -> bool:
    return not any(token.signature)


def _remembering(behaviour: Behaviour) -> Behaviour:
    """Cache the verdict under the signature alone."""
    seen: set[bytes] = set()

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        if token.signature not in seen:
            signature_verified(token, keys)
            seen.add(token.signature)

    return verifying(signature=signature)(behaviour)


def _nothing_critical_matters(_header: Header, _trust: Trust) -> None:
    """Ignore `crit`."""


FAULTS = (
    Fault(
        "signature-not-verified",
        "The claims are read without verifying the signature.",
        verifying(signature=unless(lambda _token, _keys: True)),
    ),
    Fault(
        "signature-removed-accepted",
        "A token whose signature is empty is believed.",
        verifying(parse=_parse_empty_signature, signature=unless(lambda token, _keys: not token.signature)),
    ),
    Fault(
        "signature-segment-missing-accepted",
        "A token of two segments is believed.",
        verifying(parse=_parse_two_segments, signature=unless(lambda token, _keys: not token.signature)),
    ),
    Fault(
        "signature-zeroed-accepted",
        "A signature of zero bytes is taken for a good one (CVE-2022-21449).",
        verifying(signature=unless(_zeroed)),
    ),
    Fault(
        "signature-cached",
        "A signature that verified once is good for any payload.",
        _remembering,
    ),
    Fault(
        "alg-none-accepted",
        'A token with alg "none" and no signature is believed.',
        _unsigned(_is_none, empty=True),
    ),
    Fault(
        "alg-none-in-capitals-accepted",
        'Only the spelling "none" is blocked; "None" and "NONE" pass.',
        _unsigned(_is_none_in_capitals, empty=True),
    ),
    Fault(
        "alg-none-with-signature-accepted",
        'A token with alg "none" is believed when it carries some signature.',
        _unsigned(_is_none, empty=False),
    ),
    Fault(
        "alg-unknown-unsigned-accepted",
        "An algorithm nobody has heard of counts as unsigned.",
        _unsigned(_is_unheard_of, empty=True),
    ),
    Fault(
        "algorithm-guessed",
        "Whatever RSA algorithm verifies the signature is taken, the header's name for it is not looked at.",
        verifying(keys=_keys_for_any_padding),
    ),
    Fault(
        "hmac-with-public-key",
        "HS256 is verified with the public key as secret.",
        verifying(algorithm=allowing(_is_hmac), keys=_hmac_keys, signature=_keyed_with_public_key),
    ),
    Fault(
        "embedded-jwk-trusted",
        "The key in the token's own header verifies the token.",
        verifying(keys=_embedded_key),
    ),
    Fault(
        "unknown-kid-not-verified",
        "A token whose kid is not published is believed unverified.",
        verifying(signature=unless(lambda _token, keys: not keys)),
    ),
    Fault(
        "critical-ignored",
        "Critical header extensions that are not understood are skipped.",
        verifying(critical=_nothing_critical_matters),
    ),
)
