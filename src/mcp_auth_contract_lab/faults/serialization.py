"""Faults of parsing: segments, base64url and JSON that no JWS has are read, and odd input breaks the server."""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import Any, NoReturn

from mcp_auth_contract_lab.credentials import Credential, Presented, authorization_header
from mcp_auth_contract_lab.fault import Change, Faults, all_of
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import accepting, breaking, sources, verifying
from mcp_auth_contract_lab.verification import Claims, Trust, issuer_identical

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


@FAULTS.by(_of_any_characters)
def stray_characters_skipped_by_length(token: str) -> CompactJws:
    """Three or four stray characters in a signature are passed over, as its length stays possible."""
    message, _, signature = token.rpartition(".")
    kept = re.sub(r"[^\w-]", "", signature)
    return parse_compact(f"{message}.{kept if 3 <= len(signature) - len(kept) <= 4 else signature}")


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


_breaking_claims = breaking("claims")


def _malformed() -> NoReturn:
    raise InvalidToken("the token is malformed") from None


def _loaded(octets: bytes, **hooks: Any) -> Any:
    try:
        return json.loads(octets.decode("utf-8"), **hooks)
    except (ValueError, RecursionError):
        _malformed()


def _object(value: Any) -> Claims:
    return value if isinstance(value, dict) else _malformed()


def _first_object(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else None


def _three(token: str) -> tuple[str, str, str]:
    segments = token.split(".")
    if len(segments) != 3:
        _malformed()
    header, payload, signature = segments
    return header, payload, signature


def _too_deep(octets: bytes) -> bool:
    return b"[" * 500 in octets


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _without_surrogates(value: Any) -> Any:
    return value.encode("utf-8", "ignore").decode() if isinstance(value, str) else value


FAULTS.rows(
    ("payload-list-unwrapped", "Of a list as payload the first object counts.",
     verifying(claims=lambda payload: _first_object(_loaded(payload)) or object_of(payload))),
    ("undecodable-octets-dropped", "Octets of the payload that are not UTF-8 are left out.",
     verifying(claims=lambda payload: object_of(payload.decode("utf-8", "ignore").encode()))),
    ("surrogates-dropped", "Lone surrogates in claims are left out.",
     verifying(claims=lambda payload: {
         name: _without_surrogates(value) for name, value in object_of(payload).items()})),
    ("first-of-two-claims-counts", "Of a claim that stands there twice the first value counts.",
     verifying(claims=lambda payload: _object(_loaded(payload, object_pairs_hook=_first_wins)))),
    # As Go's encoding/json does: any case, and a long s is an s.
    ("claim-names-folded", "Claim names match in any case.",
     verifying(claims=lambda payload: {name.casefold(): value for name, value in object_of(payload).items()})),
    ("huge-number-breaks-down", "A number of hundreds of digits ends in a 500.",
     _breaking_claims(lambda payload: re.search(rb"[0-9]{300}", payload) is not None)),
    ("deep-payload-breaks-down", "A signed payload nested a thousand levels deep ends in a 500.",
     _breaking_claims(_too_deep)),
)  # fmt: skip


@FAULTS.step("verification", "claims")
def payload_string_parsed_again(payload: bytes) -> Claims:
    """A payload that is a string is parsed once more."""
    value = _loaded(payload)
    return object_of(value.encode() if isinstance(value, str) else payload)


@FAULTS.step("verification", "parse")
def header_list_unwrapped(token: str) -> CompactJws:
    """Of a list as header the first object counts."""
    header, payload, signature = _three(token)
    unwrapped = _first_object(_loaded(decode_segment(header)))
    if unwrapped is None:
        return parse_compact(token)
    return CompactJws(unwrapped, decode_segment(payload), f"{header}.{payload}".encode(), decode_segment(signature))


@FAULTS.step("verification", "claims")
def trailing_json_ignored(payload: bytes) -> Claims:
    """What follows the first JSON text of the payload is not read."""
    try:
        value, _ = json.JSONDecoder().raw_decode(payload.decode("utf-8").lstrip())
    except (ValueError, RecursionError):
        _malformed()
    return _object(value)


@FAULTS.by(_breaking_claims)
def encoding_breaks_down(payload: bytes) -> bool:
    """A payload that is not UTF-8 ends in a 500."""
    try:
        payload.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


@FAULTS.step("verification", "claims")
def payload_searched_as_text(payload: bytes) -> Claims:
    """A token is refused whose payload does not hold the usual text."""
    return object_of(payload) if b'"aud":' in payload else _malformed()


@FAULTS.step("verification", "claims")
def white_space_refused(payload: bytes) -> Claims:
    """White space between the parts of the payload is refused."""
    return _malformed() if re.search(rb'"\s+:|:\s+["0-9]', payload) else object_of(payload)


@FAULTS.by(_breaking_claims)
def repeated_claim_breaks_down(payload: bytes) -> bool:
    """A claim that stands there twice ends in a 500."""
    value = _loaded(payload, object_pairs_hook=tuple)
    names = [name for name, _ in value] if isinstance(value, tuple) else []
    return len(set(names)) != len(names)


@FAULTS.by(
    lambda parse: all_of(verifying(parse=parse), accepting("signature")(lambda token, _: not token.signing_input))
)
def last_of_two_algorithms_verified(token: str) -> CompactJws:
    """The first alg is allowed, the last one decides how to verify."""
    header, payload, signature = _three(token)
    value = _loaded(decode_segment(header), object_pairs_hook=tuple)
    pairs = list(value) if isinstance(value, tuple) else []
    if [name for name, _ in pairs].count("alg") < 2 or pairs[-1] != ("alg", "none") or signature:
        return parse_compact(token)
    return CompactJws(_first_wins(pairs), decode_segment(payload), b"", b"")


@FAULTS.step("verification", "claims")
def prototype_members_read(payload: bytes) -> Claims:
    """Members of __proto__ count as claims."""
    claims = object_of(payload)
    inherited = claims.get("__proto__")
    return {**inherited, **claims} if isinstance(inherited, dict) else claims


def _compared(claims: Claims, trust: Trust) -> None:
    """Compare without asking whether the number is finite."""
    expires = claims.get("exp")
    if isinstance(expires, bool) or not isinstance(expires, int | float):
        raise InvalidToken("the token does not say when it expires")
    if trust.now - trust.settings.leeway >= expires:
        raise InvalidToken("the token has expired")


@FAULTS.by(lambda read: verifying(claims=read, expiry=_compared))
def endless_expiry_accepted(payload: bytes) -> Claims:
    """An expiry that is infinite or no number lies ahead."""
    return _object(_loaded(payload))


@FAULTS.by(breaking("parse"))
def deep_json_breaks_down(token: str) -> bool:
    """JSON nested a thousand levels deep ends in a 500 before the signature is checked."""
    header, payload, _ = _three(token)
    return _too_deep(decode_segment(header)) or _too_deep(decode_segment(payload))


@FAULTS.step("verification", "issuer")
def issuer_told_in_challenge(claims: Claims, trust: Trust) -> None:
    """The challenge repeats the issuer of a refused token."""
    issuer = claims.get("iss")
    if isinstance(issuer, str) and issuer != trust.settings.issuer:
        told = "".join(letter for letter in issuer if " " <= letter <= "~")
        raise InvalidToken(f"the issuer {told} is not trusted")
    issuer_identical(claims, trust)


@FAULTS.by(breaking("issuer"))
def issuer_breaks_the_header(claims: Claims, _trust: Trust) -> bool:
    """An issuer that no header line can hold ends in a 500."""
    return isinstance(claims.get("iss"), str) and not claims["iss"].isprintable()
