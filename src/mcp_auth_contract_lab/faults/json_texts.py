"""Faults of reading the JSON inside a token: loose parsers, folded names, members that shadow others."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from jwt import PyJWK

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.serialization import break_down, parsing
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.verification import Claims, Trust, issuer_identical, signature_verified

__all__ = ["FAULTS"]

_Read: TypeAlias = Callable[[bytes], Claims]


def _claims(read: _Read) -> Change:
    return lambda behaviour: replace(behaviour, verification=replace(behaviour.verification, claims=read))


def _issuer(check: Callable[[Claims, Trust], None]) -> Change:
    return lambda behaviour: replace(behaviour, verification=replace(behaviour.verification, issuer=check))


def _malformed() -> InvalidToken:
    return InvalidToken("the token is malformed")


def _loaded(text: str, **hooks: Any) -> Any:
    try:
        return json.loads(text, **hooks)
    except (ValueError, RecursionError):
        raise _malformed() from None


def _text(payload: bytes) -> str:
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError:
        raise _malformed() from None


def _unwrapped(payload: bytes) -> Claims:
    value = _loaded(_text(payload))
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else object_of(payload)


def _parsed_twice(payload: bytes) -> Claims:
    value = _loaded(_text(payload))
    return object_of(value.encode()) if isinstance(value, str) else object_of(payload)


def _header_unwrapped(token: str) -> CompactJws:
    header, payload, signature = _three(token)
    value = _loaded(_text(decode_segment(header)))
    unwrapped = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else None
    if unwrapped is None:
        return parse_compact(token)
    return CompactJws(unwrapped, decode_segment(payload), f"{header}.{payload}".encode(), decode_segment(signature))


def _three(token: str) -> tuple[str, str, str]:
    segments = token.split(".")
    if len(segments) != 3:
        raise _malformed()
    header, payload, signature = segments
    return header, payload, signature


def _first_text(payload: bytes) -> Claims:
    try:
        value, _ = json.JSONDecoder().raw_decode(_text(payload).lstrip())
    except (ValueError, RecursionError):
        raise _malformed() from None
    if not isinstance(value, dict):
        raise _malformed()
    return value


def _breaking_at_encoding(payload: bytes) -> Claims:
    try:
        payload.decode("utf-8")
    except UnicodeDecodeError:
        break_down()
    return object_of(payload)


def _octets_dropped(payload: bytes) -> Claims:
    return object_of(payload.decode("utf-8", "ignore").encode())


def _surrogates_dropped(payload: bytes) -> Claims:
    claims = object_of(payload)
    return {
        name: value.encode("utf-8", "ignore").decode() if isinstance(value, str) else value
        for name, value in claims.items()
    }


def _searched(payload: bytes) -> Claims:
    """Look for the text that the issuer's own serializer writes."""
    if b'"aud":' not in payload:
        raise _malformed()
    return object_of(payload)


def _no_spaces(payload: bytes) -> Claims:
    if re.search(rb'"\s+:|:\s+["0-9]', payload):
        raise _malformed()
    return object_of(payload)


def _first_wins(payload: bytes) -> Claims:
    def first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(reversed(pairs))

    value = _loaded(_text(payload), object_pairs_hook=first)
    if not isinstance(value, dict):
        raise _malformed()
    return value


def _breaking_at_repetition(payload: bytes) -> Claims:
    value = _loaded(_text(payload), object_pairs_hook=tuple)
    names = [name for name, _ in value] if isinstance(value, tuple) else []
    if len(set(names)) != len(names):
        break_down()
    return object_of(payload)


def _last_alg_unsigned(behaviour: Behaviour) -> Behaviour:
    """Allow the first algorithm that the header names, and verify as the last one says."""

    def parse(token: str) -> CompactJws:
        header, payload, signature = _three(token)
        value = _loaded(_text(decode_segment(header)), object_pairs_hook=tuple)
        pairs = list(value) if isinstance(value, tuple) else []
        if [name for name, _ in pairs].count("alg") < 2 or pairs[-1] != ("alg", "none") or signature:
            return parse_compact(token)
        return CompactJws(dict(reversed(pairs)), decode_segment(payload), b"", b"")

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        if token.signing_input:
            signature_verified(token, keys)

    steps = replace(behaviour.verification, parse=parse, signature=signature)
    return replace(behaviour, verification=steps)


def _folded(payload: bytes) -> Claims:
    """Match names as Go's encoding/json does: any case, and a long s is an s."""
    return {name.casefold(): value for name, value in object_of(payload).items()}


def _with_prototype(payload: bytes) -> Claims:
    claims = object_of(payload)
    inherited = claims.get("__proto__")
    return {**inherited, **claims} if isinstance(inherited, dict) else claims


def _endless(behaviour: Behaviour) -> Behaviour:
    """Read the numbers that JavaScript and Python know beyond JSON, and compare without asking whether finite."""

    def read(payload: bytes) -> Claims:
        value = _loaded(_text(payload))
        if not isinstance(value, dict):
            raise _malformed()
        return value

    def expiry(claims: Claims, trust: Trust) -> None:
        expires = claims.get("exp")
        if isinstance(expires, bool) or not isinstance(expires, int | float):
            raise InvalidToken("the token does not say when it expires")
        if trust.now - trust.settings.leeway >= expires:
            raise InvalidToken("the token has expired")

    return replace(behaviour, verification=replace(behaviour.verification, claims=read, expiry=expiry))


def _breaking_at_huge_numbers(payload: bytes) -> Claims:
    if re.search(rb"[0-9]{300}", payload):
        break_down()
    return object_of(payload)


def _too_deep(octets: bytes) -> bool:
    return b"[" * 500 in octets


def _deep_header_breaks(token: str) -> CompactJws:
    header, payload, _ = _three(token)
    if _too_deep(decode_segment(header)) or _too_deep(decode_segment(payload)):
        break_down()
    return parse_compact(token)


def _deep_payload_breaks(payload: bytes) -> Claims:
    if _too_deep(payload):
        break_down()
    return object_of(payload)


def _issuer_told(claims: Claims, trust: Trust) -> None:
    """Say which issuer it was, in the characters that a header line can hold."""
    issuer = claims.get("iss")
    if isinstance(issuer, str) and issuer != trust.settings.issuer:
        told = "".join(letter for letter in issuer if " " <= letter <= "~")
        raise InvalidToken(f"the issuer {told} is not trusted")
    issuer_identical(claims, trust)


def _issuer_breaks(claims: Claims, trust: Trust) -> None:
    """Say which issuer it was, in whatever characters."""
    issuer = claims.get("iss")
    if isinstance(issuer, str) and not issuer.isprintable():
        break_down()
    issuer_identical(claims, trust)


FAULTS: tuple[Fault, ...] = (
    Fault("payload-list-unwrapped", "Of a list as payload the first object counts.",
          _claims(_unwrapped)),
    Fault("payload-string-parsed-again", "A payload that is a string is parsed once more.",
          _claims(_parsed_twice)),
    Fault("header-list-unwrapped", "Of a list as header the first object counts.",
          parsing(_header_unwrapped)),
    Fault("trailing-json-ignored", "What follows the first JSON text of the payload is not read.",
          _claims(_first_text)),
    Fault("encoding-breaks-down", "A payload that is not UTF-8 ends in a 500.",
          _claims(_breaking_at_encoding)),
    Fault("undecodable-octets-dropped", "Octets of the payload that are not UTF-8 are left out.",
          _claims(_octets_dropped)),
    Fault("surrogates-dropped", "Lone surrogates in claims are left out.",
          _claims(_surrogates_dropped)),
    Fault("payload-searched-as-text", "A token is refused whose payload does not hold the usual text.",
          _claims(_searched)),
    Fault("white-space-refused", "White space between the parts of the payload is refused.",
          _claims(_no_spaces)),
    Fault("first-of-two-claims-counts", "Of a claim that stands there twice the first value counts.",
          _claims(_first_wins)),
    Fault("repeated-claim-breaks-down", "A claim that stands there twice ends in a 500.",
          _claims(_breaking_at_repetition)),
    Fault("last-of-two-algorithms-verified", "The first alg is allowed, the last one decides how to verify.",
          _last_alg_unsigned),
    Fault("claim-names-folded", "Claim names match in any case.",
          _claims(_folded)),
    Fault("prototype-members-read", "Members of __proto__ count as claims.",
          _claims(_with_prototype)),
    Fault("issuer-told-in-challenge", "The challenge repeats the issuer of a refused token.",
          _issuer(_issuer_told)),
    Fault("issuer-breaks-the-header", "An issuer that no header line can hold ends in a 500.",
          _issuer(_issuer_breaks)),
    Fault("endless-expiry-accepted", "An expiry that is infinite or no number lies ahead.",
          _endless),
    Fault("huge-number-breaks-down", "A number of hundreds of digits ends in a 500.",
          _claims(_breaking_at_huge_numbers)),
    Fault("deep-json-breaks-down", "JSON nested a thousand levels deep ends in a 500 before the signature is checked.",
          parsing(_deep_header_breaks)),
    Fault("deep-payload-breaks-down", "A signed payload nested a thousand levels deep ends in a 500.",
          _claims(_deep_payload_breaks)),
)  # fmt: skip
