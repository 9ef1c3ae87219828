"""Assembling tokens byte by byte, so that no JOSE library can refuse or repair a faulty one."""

import hashlib
import json

from mcp_auth_contract.tokens.keys import b64url, unb64url
from mcp_auth_contract.tokens.spec import COMPACT, Spellings, TokenSpec, honest, signed_again

SPECIAL_CHARACTERS = "special_characters"
"""In the place of a way to answer: answered as usual, for a token of other characters than letters and digits."""


class MintedWrongly(Exception):
    """The token is not what its spec or its defect says; the case proves nothing."""


def mint(spec: TokenSpec) -> str:
    """Return the token as it goes into the Authorization header.

    Raises MintedWrongly when the token does not decode to what the spec says.
    """
    message = spec.signing_input
    header, payload = message.decode().split(".", 1)
    signature = spec.spelled.signature(spec.signature(spec.key, message))
    token = spec.form.format(header=header, payload=payload, signature=signature)
    if (spec.form, spec.spelled) == (COMPACT, Spellings()):
        _prove(spec, token)
    return token


def opaque_token(spec: TokenSpec) -> str:
    """Return a token that says nothing itself, the same for the same spec (RFC 6750 §2.1)."""
    secret = hashlib.sha256(b"\0".join((spec.payload_bytes, spec.introspection.encode()))).digest()
    # A form needs more care with some characters that a token may have than with others.
    return f"opaque.{b64url(secret)}{'+/~=' if spec.introspection == SPECIAL_CHARACTERS else ''}"


def _prove(spec: TokenSpec, token: str) -> None:
    """Read the finished token back: its bytes must be the spec's, and verify under the spec's key or not."""
    header, payload, signature = (unb64url(segment) for segment in token.split("."))
    if header != spec.header_bytes or payload != spec.payload_bytes:
        raise MintedWrongly("the token does not hold the bytes of the spec")
    if spec.raw_header is None and decode_parts(token)[0] != dict(spec.header):
        raise MintedWrongly("the header does not decode to the spec's")
    if spec.raw_payload is None and decode_parts(token)[1] != dict(spec.claims):
        raise MintedWrongly("the claims do not decode to the spec's")
    if spec.key.verifies(spec.signing_input, signature) is not (spec.signature in (honest, signed_again)):
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
