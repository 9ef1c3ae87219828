"""Assembling tokens byte by byte, so that no JOSE library can refuse or repair a faulty one."""

import hashlib
import hmac
import json
from typing import assert_never

from mcp_auth_contract.tokens.keys import b64url, unb64url
from mcp_auth_contract.tokens.spec import (
    COMPACT,
    Absent,
    Borrowed,
    Crafted,
    Edited,
    Honest,
    Keyed,
    Literal,
    SignatureEdit,
    Spellings,
    TokenSpec,
)

__all__ = ["SPECIAL_CHARACTERS", "MintedWrongly", "decode_parts", "mint", "opaque_token"]


SPECIAL_CHARACTERS = "special_characters"
"""In the place of a way to answer: answered as usual, for a token of other characters than letters and digits."""


class MintedWrongly(Exception):
    """The token is not what its spec or its defect says; the case proves nothing."""


def mint(spec: TokenSpec) -> str:
    """Return the token as it goes into the Authorization header.

    Raises MintedWrongly when the token does not decode to what the spec says.
    """
    spelled = spec.spelled
    header, payload = spelled.header.encode(spec.header_bytes), spelled.payload.encode(spec.payload_bytes)
    signature = _signature(spec, f"{header}.{payload}".encode())
    token = spec.form.format(header=header, payload=payload, signature=spelled.signature.encode(signature))
    if (spec.form, spelled) == (COMPACT, Spellings()):
        _prove(spec, token)
    return token


def opaque_token(spec: TokenSpec) -> str:
    """Return a token that says nothing itself, the same for the same spec (RFC 6750 §2.1)."""
    secret = hashlib.sha256(b"\0".join((spec.payload_bytes, spec.introspection.encode()))).digest()
    # A form needs more care with some characters that a token may have than with others.
    return f"opaque.{b64url(secret)}{'+/~=' if spec.introspection == SPECIAL_CHARACTERS else ''}"


def _signature(spec: TokenSpec, message: bytes) -> bytes:
    match spec.signature:
        case Honest():
            return spec.key.sign(message)
        case Absent():
            return b""
        case Edited(edit):
            return _edited(spec.key.sign(message), edit)
        case Borrowed(header, payload):
            return spec.key.sign(f"{b64url(header)}.{b64url(payload)}".encode())
        case Keyed(secret):
            return hmac.digest(secret, message, hashlib.sha256)
        case Literal(octets):
            return octets
        case Crafted(make=make):
            return make(spec.key, message)
        case _:
            assert_never(spec.signature)


def _edited(honest: bytes, edit: SignatureEdit) -> bytes:
    middle = len(honest) // 2
    match edit:
        case SignatureEdit.FLIPPED:
            return honest[:middle] + bytes([honest[middle] ^ 0x10]) + honest[middle + 1 :]
        case SignatureEdit.ZEROS:
            return bytes(len(honest))
        case SignatureEdit.ONES:
            return b"\xff" * len(honest)
        case SignatureEdit.SHORT_BY_ONE:
            return honest[:-1]
        case SignatureEdit.SHORT_BY_EIGHT:
            return honest[:-8]
        case SignatureEdit.HALF:
            return honest[:middle]
        case _:
            assert_never(edit)


def _prove(spec: TokenSpec, token: str) -> None:
    """Read the finished token back: its bytes must be the spec's, and verify under the spec's key or not."""
    header, payload, signature = (unb64url(segment) for segment in token.split("."))
    if header != spec.header_bytes or payload != spec.payload_bytes:
        raise MintedWrongly("the token does not hold the bytes of the spec")
    if spec.raw_header is None and decode_parts(token)[0] != dict(spec.header):
        raise MintedWrongly("the header does not decode to the spec's")
    if spec.raw_payload is None and decode_parts(token)[1] != dict(spec.claims):
        raise MintedWrongly("the claims do not decode to the spec's")
    honest = isinstance(spec.signature, Honest) or (isinstance(spec.signature, Crafted) and spec.signature.verifies)
    if spec.key.verifies(token.rpartition(".")[0].encode(), signature) is not honest:
        raise MintedWrongly("the signature verifies, or does not, against the spec")


def decode_parts(token: str) -> tuple[dict[str, object] | None, dict[str, object] | None]:
    """Return header and claims without verifying anything; None for one that is not a JSON object."""
    segments = token.split(".")
    return _object(segments[0]), _object(segments[1]) if len(segments) > 1 else None


def _object(segment: str) -> dict[str, object] | None:
    try:
        value = json.loads(unb64url(segment))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
