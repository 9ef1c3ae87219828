"""Faults of header extensions: what is not understood is passed over, and the header speaks for the claims."""

import json
import zlib
from dataclasses import replace

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.credentials import Absent, Credential, Presented, authorization_header
from mcp_auth_contract_lab.fault import Faults, all_of
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import accepting, breaking, breaking_over, sources, verifying
from mcp_auth_contract_lab.verification import Claims, Header, Trust

FAULTS = Faults()

_REPLICATED = ("iss", "aud", "exp", "sub")

_uncritical = accepting("critical")


@FAULTS.by(_uncritical)
def critical_without_parameter_ignored(header: Header, _trust: Trust) -> bool:
    """A critical name is skipped where the header has no such parameter."""
    names = header.get("crit")
    return isinstance(names, list) and names != [] and not any(str(name) in header for name in names)


FAULTS.rows(
    ("critical-of-other-type-ignored", "A crit that is no list is skipped.",
     _uncritical(lambda header, _trust: not isinstance(header.get("crit"), list))),
    ("critical-list-breaks", "A pointless list of critical extensions ends in a 500.",
     breaking_over(lambda token: token.header.get("crit") in ([], ["alg"], ["exp"]))),
    ("payload-called-unencoded-breaks", "A token that is called unencoded and is not ends in a 500.",
     breaking_over(lambda token: token.header.get("b64") is False and "crit" not in token.header)),
    ("payload-called-compressed-breaks", "A token that is called compressed and is not ends in a 500.",
     breaking("signature", after=True)(lambda token, _keys: "zip" in token.header and token.payload.startswith(b"{"))),
    ("header-issuer-breaks", "A foreign issuer in the header ends in a 500.",
     breaking("keys")(lambda token, trust: token.header.get("iss", trust.settings.issuer) != trust.settings.issuer)),
)  # fmt: skip


def _unencoded(token: str) -> CompactJws | None:
    """Return a token whose payload stands in the clear, if it is one (RFC 7797 §5.2)."""
    header, _, rest = token.partition(".")
    payload, _, signature = rest.rpartition(".")
    try:
        members = object_of(decode_segment(header))
    except InvalidToken:
        return None
    if not _called_unencoded(members, None):
        return None
    return CompactJws(members, payload.encode(), f"{header}.{payload}".encode(), decode_segment(signature))


def _called_unencoded(header: Header, _trust: Trust | None) -> bool:
    return header.get("crit") == ["b64"] and header.get("b64") is False


async def _any_octets(incoming: Incoming) -> Credential:
    """Take a token with other characters than RFC 6750 §2.1 allows, if its header says why."""
    tokens = (line.partition(" ")[2] for line in incoming.header_lines("authorization"))
    return next((Presented(token) for token in tokens if _unencoded(token) is not None), Absent())


@FAULTS.change
def payload_unencoded_read(behaviour: Behaviour) -> Behaviour:
    """A payload in the clear is read as the header asks for (RFC 7797)."""
    return all_of(
        sources(_any_octets, authorization_header),
        _uncritical(_called_unencoded),
        verifying(parse=lambda token: _unencoded(token) or parse_compact(token)),
    )(behaviour)


@FAULTS.step("verification", "parse")
def payload_unpacked(token: str) -> CompactJws:
    """A compressed payload is unpacked."""
    jws = parse_compact(token)
    if jws.header.get("zip") != "DEF" or jws.payload.startswith(b"{"):
        return jws
    try:
        return replace(jws, payload=zlib.decompressobj(-zlib.MAX_WBITS).decompress(jws.payload, 65_536))
    except zlib.error:
        raise InvalidToken("the token is malformed") from None


def _inner(payload: bytes) -> list[bytes]:
    parts = payload.split(b".")
    return parts if len(parts) == 3 and payload.startswith(b"eyJ") else []


@FAULTS.step("verification", "claims")
def nested_not_verified(payload: bytes) -> Claims:
    """A token inside a token is decoded without verifying it."""
    parts = _inner(payload)
    return object_of(decode_segment(parts[1].decode("ascii", "replace")) if parts else payload)


@FAULTS.by(breaking("claims"))
def nested_breaks(payload: bytes) -> bool:
    """A signed token inside a token ends in a 500."""
    parts = _inner(payload)
    return parts != [] and parts[2] != b""


@FAULTS.step("verification", "parse")
def header_claims_win(token: str) -> CompactJws:
    """Claims in the header win over those of the payload."""
    jws = parse_compact(token)
    replicated = {name: jws.header[name] for name in _REPLICATED if name in jws.header}
    if not replicated:
        return jws
    return replace(jws, payload=json.dumps({**object_of(jws.payload), **replicated}).encode())
