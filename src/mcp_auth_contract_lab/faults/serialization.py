"""Faults of parsing: segments and base64url that no JWS has, JSON forms, and breakdowns on odd input."""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn, TypeAlias

from jwt import PyJWK

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.credentials import Credential, Presented, authorization_header
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import HttpRefused, InvalidToken

__all__ = ["FAULTS", "break_down", "parsing"]

_Parse: TypeAlias = Callable[[str], CompactJws]


def break_down() -> NoReturn:
    """End the request as an exception that nobody has caught would."""
    raise HttpRefused(500, "internal error")


def parsing(parse: _Parse) -> Change:
    """Return the change that reads tokens with another parser."""
    return lambda behaviour: replace(behaviour, verification=replace(behaviour.verification, parse=parse))


async def _any_characters(incoming: Incoming) -> Credential:
    """Take whatever follows the scheme for a token."""
    lines = incoming.header_lines("authorization")
    scheme, _, token = (lines[0] if len(lines) == 1 else "").strip(" ").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return await authorization_header(incoming)
    return Presented(token)


def _characters_too(parse: _Parse) -> Change:
    def change(behaviour: Behaviour) -> Behaviour:
        read = replace(behaviour.credentials, sources=(_any_characters,))
        return parsing(parse)(replace(behaviour, credentials=read))

    return change


def _first_three(token: str) -> CompactJws:
    return parse_compact(".".join(token.split(".")[:3]))


def _last_three(token: str) -> CompactJws:
    return parse_compact(".".join(token.split(".")[-3:]))


def _skipping(octets: str) -> bytes:
    """Decode base64url and pass over everything else, as many decoders do."""
    kept = re.sub(r"[^A-Za-z0-9_-]", "", octets)
    try:
        return urlsafe_b64decode(kept + "=" * (-len(kept) % 4))
    except ValueError:
        raise InvalidToken("the token is malformed") from None


def _stray_skipped(token: str) -> CompactJws:
    segments = token.split(".")
    if len(segments) != 3:
        raise InvalidToken("the token is malformed")
    header, payload, signature = segments
    message = f"{header}.{payload}".encode()
    return CompactJws(object_of(_skipping(header)), _skipping(payload), message, _skipping(signature))


def _stray_signature_skipped(token: str) -> CompactJws:
    message, _, signature = token.rpartition(".")
    kept = re.sub(r"[!%~?]", "", signature)
    return parse_compact(f"{message}.{kept}")


def _breaking_at_odd_segments(token: str) -> CompactJws:
    for segment in token.split("."):
        try:
            decode_segment(segment)
        except InvalidToken:
            break_down()
    return parse_compact(token)


def _breaking_at_padding(token: str) -> CompactJws:
    if "=" in token:
        break_down()
    return parse_compact(token)


def _json_too(token: str) -> CompactJws:
    """Read the JSON serializations as well (RFC 7515 §7.2)."""
    if not token.startswith("{"):
        return parse_compact(token)
    try:
        value = json.loads(token)
        first = value["signatures"][0] if "signatures" in value else value
        header, payload, signature = first["protected"], value["payload"], first["signature"]
    except (ValueError, KeyError, IndexError, TypeError):
        raise InvalidToken("the token is malformed") from None
    return parse_compact(f"{header}.{payload}.{signature}")


def _without_signatures(token: str) -> CompactJws:
    """Find no signature wrong where there is none (CVE-2026-102946)."""
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


def _nothing_to_verify(behaviour: Behaviour) -> Behaviour:
    changed = _characters_too(_without_signatures)(behaviour)
    sound = changed.verification.signature

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        if token.signing_input:
            sound(token, keys)

    return replace(changed, verification=replace(changed.verification, signature=signature))


def _breaking_at_many_dots(token: str) -> CompactJws:
    if token.count(".") > 1000:
        break_down()
    return parse_compact(token)


def _breaking_at_length(token: str) -> CompactJws:
    if len(token) > 8000:
        break_down()
    return parse_compact(token)


FAULTS: tuple[Fault, ...] = (
    Fault("further-segments-ignored", "Only the first three segments of a token are read.",
          parsing(_first_three)),
    Fault("earlier-segments-ignored", "Only the last three segments of a token are read.",
          parsing(_last_three)),
    Fault("stray-characters-skipped", "Characters that base64url does not have are passed over.",
          _characters_too(_stray_skipped)),
    Fault("stray-signature-characters-skipped", "Some characters around the signature are passed over.",
          _characters_too(_stray_signature_skipped)),
    Fault("odd-segment-breaks-down", "A segment that is not canonical base64url ends in a 500.",
          parsing(_breaking_at_odd_segments)),
    Fault("padding-breaks-down", "A token with padding ends in a 500.",
          parsing(_breaking_at_padding)),
    Fault("json-serialization-read", "A JWS in its JSON serialization is accepted.",
          _characters_too(_json_too)),
    Fault("no-signatures-accepted", "A JSON serialization without a signature is believed.",
          _nothing_to_verify),
    Fault("many-dots-break-down", "A token of thousands of dots ends in a 500.",
          parsing(_breaking_at_many_dots)),
    Fault("long-token-breaks-down", "A long token ends in a 500.",
          parsing(_breaking_at_length)),
)  # fmt: skip
