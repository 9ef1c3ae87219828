"""Reading a compact JWS strictly, before anything in it is believed (RFC 7515 §5.2)."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract_lab.incoming import refuse_constant
from mcp_auth_contract_lab.refusal import InvalidToken


@dataclass(frozen=True, slots=True)
class CompactJws:
    """The parts of a compact JWS: the header parsed, the payload still bytes."""

    header: Mapping[str, Any]
    payload: bytes = field(repr=False)
    signing_input: bytes = field(repr=False)
    signature: bytes = field(repr=False)


def decode_segment(segment: str) -> bytes:
    """Decode base64url, canonical and without padding (RFC 7515 §2). Raises InvalidToken."""
    try:
        decoded = base64.b64decode(segment + "=" * (-len(segment) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidToken("the token is malformed") from None
    if base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() != segment:
        raise InvalidToken("the token is malformed")
    return decoded


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def object_of(text: bytes) -> dict[str, Any]:
    """Parse a JSON object whose members are unique (RFC 7515 §4, RFC 7519 §4). Raises InvalidToken."""
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise InvalidToken("the token is malformed") from None
    if not isinstance(value, dict):
        raise InvalidToken("the token is malformed")
    return value


def assembled(
    header: str, payload: str, signature: str, *, decode: Callable[[str], bytes] = decode_segment
) -> CompactJws:
    """Return the JWS that three segments make. Raises InvalidToken."""
    return CompactJws(object_of(decode(header)), decode(payload), f"{header}.{payload}".encode(), decode(signature))


def parse_compact(token: str) -> CompactJws:
    """Split a compact JWS of three non-empty segments. Raises InvalidToken."""
    segments = token.split(".", 3)
    if len(segments) != 3 or not all(segments):
        raise InvalidToken("the token is malformed")
    return assembled(*segments)
