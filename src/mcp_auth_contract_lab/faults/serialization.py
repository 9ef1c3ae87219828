"""Faults of parsing: segments and base64url that no JWS has, JSON forms, and breakdowns on odd input."""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable

from mcp_auth_contract_lab.credentials import Credential, Presented, authorization_header
from mcp_auth_contract_lab.fault import Change, Faults, all_of
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import accepting, breaking, sources, verifying

FAULTS = Faults()

_breaking = breaking("parse")


async def _any_characters(incoming: Incoming) -> Credential:
    """Take whatever follows the scheme for a token."""
    lines = incoming.header_lines("authorization")
    scheme, _, token = (lines[0] if len(lines) == 1 else "").strip(" ").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return await authorization_header(incoming)
    return Presented(token)


def _of_any_characters(parse: Callable[[str], CompactJws]) -> Change:
    return all_of(sources(_any_characters), verifying(parse=parse))


FAULTS.rows(
    ("further-segments-ignored", "Only the first three segments of a token are read.",
     verifying(parse=lambda token: parse_compact(".".join(token.split(".")[:3])))),
    ("earlier-segments-ignored", "Only the last three segments of a token are read.",
     verifying(parse=lambda token: parse_compact(".".join(token.split(".")[-3:])))),
    ("padding-breaks-down", "A token with padding ends in a 500.", _breaking(lambda token: "=" in token)),
    ("many-dots-break-down", "A token of thousands of dots ends in a 500.",
     _breaking(lambda token: token.count(".") > 1000)),
    ("long-token-breaks-down", "A long token ends in a 500.", _breaking(lambda token: len(token) > 8000)),
)  # fmt: skip


def _skipping(octets: str) -> bytes:
    """Decode base64url and pass over everything else, as many decoders do."""
    kept = re.sub(r"[^A-Za-z0-9_-]", "", octets)
    try:
        return urlsafe_b64decode(kept + "=" * (-len(kept) % 4))
    except ValueError:
        raise InvalidToken("the token is malformed") from None


@FAULTS.by(_of_any_characters)
def stray_characters_skipped(token: str) -> CompactJws:
    """Characters that base64url does not have are passed over."""
    segments = token.split(".")
    if len(segments) != 3:
        raise InvalidToken("the token is malformed")
    header, payload, signature = segments
    message = f"{header}.{payload}".encode()
    return CompactJws(object_of(_skipping(header)), _skipping(payload), message, _skipping(signature))


@FAULTS.by(_of_any_characters)
def stray_signature_characters_skipped(token: str) -> CompactJws:
    """Some characters around the signature are passed over."""
    message, _, signature = token.rpartition(".")
    return parse_compact(f"{message}.{re.sub(r'[!%~?]', '', signature)}")


@FAULTS.by(_breaking)
def odd_segment_breaks_down(token: str) -> bool:
    """A segment that is not canonical base64url ends in a 500."""
    try:
        for segment in token.split("."):
            decode_segment(segment)
    except InvalidToken:
        return True
    return False


@FAULTS.by(_of_any_characters)
def json_serialization_read(token: str) -> CompactJws:
    """A JWS in its JSON serialization is accepted."""
    if not token.startswith("{"):
        return parse_compact(token)
    try:
        value = json.loads(token)
        first = value["signatures"][0] if "signatures" in value else value
        header, payload, signature = first["protected"], value["payload"], first["signature"]
    except (ValueError, KeyError, IndexError, TypeError):
        raise InvalidToken("the token is malformed") from None
    return parse_compact(f"{header}.{payload}.{signature}")


@FAULTS.by(
    lambda parse: all_of(_of_any_characters(parse), accepting("signature")(lambda token, _: not token.signing_input))
)
def no_signatures_accepted(token: str) -> CompactJws:
    """A JSON serialization without a signature is believed."""
    # None of the signatures is wrong where there is none (CVE-2026-102946).
    if not token.startswith("{"):
        return parse_compact(token)
    try:
        value = json.loads(token)
        if value["signatures"]:
            raise InvalidToken("the token is malformed")
        payload = decode_segment(value["payload"])
    except (ValueError, KeyError, TypeError):
        raise InvalidToken("the token is malformed") from None
    return CompactJws({"alg": "RS256", "typ": "at+jwt"}, payload, b"", b"")
