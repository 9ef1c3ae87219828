"""Faults of header extensions: what is not understood is passed over, and the header speaks for the claims."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace

from jwt import PyJWK

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.credentials import Absent, Credential, Presented, authorization_header
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.faults.token_steps import breaking_down, breaking_down_over_verified, breaks_down
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.verification import Claims, Header, Trust, nothing_critical, published_keys

__all__ = ["FAULTS"]

_REPLICATED = ("iss", "aud", "exp", "sub")
_POINTLESS: tuple[list[str], ...] = ([], ["alg"], ["exp"])


def _critical_if_present(header: Header, trust: Trust) -> None:
    """Find nothing to process where a critical name stands for no parameter."""
    names = header.get("crit")
    if not isinstance(names, list) or not names or any(str(name) in header for name in names):
        nothing_critical(header, trust)


def _critical_lists_alone(header: Header, trust: Trust) -> None:
    if isinstance(header.get("crit"), list):
        nothing_critical(header, trust)


def _pointless(token: CompactJws) -> bool:
    return token.header.get("crit") in _POINTLESS


def _unencoded(token: str) -> CompactJws | None:
    """Return a token whose payload stands in the clear, if it is one (RFC 7797 §5.2)."""
    header, _, rest = token.partition(".")
    payload, _, signature = rest.rpartition(".")
    try:
        members = object_of(decode_segment(header))
    except InvalidToken:
        return None
    if members.get("crit") != ["b64"] or members.get("b64") is not False:
        return None
    return CompactJws(members, payload.encode(), f"{header}.{payload}".encode(), decode_segment(signature))


def _parse_unencoded(token: str) -> CompactJws:
    return _unencoded(token) or parse_compact(token)


def _b64_understood(header: Header, trust: Trust) -> None:
    if header.get("crit") != ["b64"] or header.get("b64") is not False:
        nothing_critical(header, trust)


async def _any_octets(incoming: Incoming) -> Credential:
    """Take a token with other characters than RFC 6750 §2.1 allows, if its header says why."""
    for line in incoming.header_lines("authorization"):
        token = line.partition(" ")[2]
        if _unencoded(token) is not None:
            return Presented(token)
    return Absent()


def _reading_unencoded(behaviour: Behaviour) -> Behaviour:
    credentials = replace(behaviour.credentials, sources=(_any_octets, authorization_header))
    verification = replace(behaviour.verification, parse=_parse_unencoded, critical=_b64_understood)
    return replace(behaviour, credentials=credentials, verification=verification)


def _called_unencoded(token: CompactJws) -> bool:
    return token.header.get("b64") is False and "crit" not in token.header


def _parse_compressed(token: str) -> CompactJws:
    jws = parse_compact(token)
    if jws.header.get("zip") != "DEF" or jws.payload.startswith(b"{"):
        return jws
    try:
        return replace(jws, payload=zlib.decompressobj(-zlib.MAX_WBITS).decompress(jws.payload, 65_536))
    except zlib.error:
        raise InvalidToken("the token is malformed") from None


def _called_compressed(token: CompactJws) -> bool:
    return "zip" in token.header and token.payload.startswith(b"{")


def _inner(payload: bytes) -> list[bytes]:
    parts = payload.split(b".")
    return parts if len(parts) == 3 and payload.startswith(b"eyJ") else []


def _claims_of_inner(payload: bytes) -> Claims:
    """Decode a token in a token without verifying it."""
    parts = _inner(payload)
    return object_of(decode_segment(parts[1].decode("ascii", "replace")) if parts else payload)


def _breaking_over_inner(payload: bytes) -> Claims:
    parts = _inner(payload)
    if parts and parts[2]:
        raise breaks_down()
    return object_of(payload)


def _parse_with_header_claims(token: str) -> CompactJws:
    jws = parse_compact(token)
    replicated = {name: jws.header[name] for name in _REPLICATED if name in jws.header}
    if not replicated:
        return jws
    return replace(jws, payload=json.dumps({**object_of(jws.payload), **replicated}).encode())


async def _breaking_over_foreign_header(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    if token.header.get("iss", trust.settings.issuer) != trust.settings.issuer:
        raise breaks_down()
    return await published_keys(token, trust)


FAULTS = (
    Fault(
        "critical-without-parameter-ignored",
        "A critical name is skipped where the header has no such parameter.",
        verifying(critical=_critical_if_present),
    ),
    Fault(
        "critical-of-other-type-ignored",
        "A crit that is no list is skipped.",
        verifying(critical=_critical_lists_alone),
    ),
    Fault(
        "critical-list-breaks",
        "A pointless list of critical extensions ends in a 500.",
        breaking_down(_pointless),
    ),
    Fault(
        "payload-unencoded-read",
        "A payload in the clear is read as the header asks for (RFC 7797).",
        _reading_unencoded,
    ),
    Fault(
        "payload-called-unencoded-breaks",
        "A token that is called unencoded and is not ends in a 500.",
        breaking_down(_called_unencoded),
    ),
    Fault(
        "payload-unpacked",
        "A compressed payload is unpacked.",
        verifying(parse=_parse_compressed),
    ),
    Fault(
        "payload-called-compressed-breaks",
        "A token that is called compressed and is not ends in a 500.",
        breaking_down_over_verified(_called_compressed),
    ),
    Fault(
        "nested-not-verified",
        "A token inside a token is decoded without verifying it.",
        verifying(claims=_claims_of_inner),
    ),
    Fault(
        "nested-breaks",
        "A signed token inside a token ends in a 500.",
        verifying(claims=_breaking_over_inner),
    ),
    Fault(
        "header-claims-win",
        "Claims in the header win over those of the payload.",
        verifying(parse=_parse_with_header_claims),
    ),
    Fault(
        "header-issuer-breaks",
        "A foreign issuer in the header ends in a 500.",
        verifying(keys=_breaking_over_foreign_header),
    ),
)
