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
    Edited,
    Honest,
    Keyed,
    Literal,
    SignatureEdit,
    TokenSpec,
)

__all__ = ["MintedWrongly", "decode_parts", "mint"]


class MintedWrongly(Exception):
    """The token is not what its spec or its defect says; the case proves nothing."""


def mint(spec: TokenSpec) -> str:
    """Return the token as it goes into the Authorization header.

    Raises MintedWrongly when the token does not decode to what the spec says.
    """
    segments = {"header": b64url(spec.header_bytes), "payload": b64url(spec.payload_bytes)}
    message = f"{segments['header']}.{segments['payload']}".encode()
    segments["signature"] = b64url(_signature(spec, message))
    token = spec.form.format(**segments)
    if spec.form == COMPACT:
        _prove(spec, token)
    return token


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
    header, claims = decode_parts(token)
    if spec.raw_header is None and header != dict(spec.header):
        raise MintedWrongly("the header does not decode to the spec's")
    if spec.raw_payload is None and claims != dict(spec.claims):
        raise MintedWrongly("the claims do not decode to the spec's")
    unsigned = token.endswith(".")
    if unsigned != (spec.signature in (Absent(), Literal(b""))):
        raise MintedWrongly("the signature is present or absent against the spec")


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
