"""What a host looks at before it signs anybody in, each as one value of a small set, from observations alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Accepted, Answer, describe, read
from mcp_auth_contract.checks.authorization_servers.observation import (
    AuthorizationServer,
    AuthorizationServersObserved,
)
from mcp_auth_contract.checks.discovery.observation import Document, Location, ResourceMetadataObserved

_QUOTED = re.compile(r'resource_metadata\s{0,5}=\s{0,5}"', re.IGNORECASE)
_IN_RESULT = "mcp/www_authenticate"
_NOTHING = "no metadata"


class FactName(StrEnum):
    """What is looked at; the names stand in scenarios/hosts.toml."""

    CHALLENGE = "challenge"
    SCHEME = "scheme"
    POINTER = "pointer"
    POINTER_PLACE = "pointer_place"
    GET = "get"
    METADATA = "metadata"
    AT_POINTER = "at_pointer"
    WELL_KNOWN = "well_known"
    RESOURCE = "resource"
    FIRST_SERVER = "first_server"
    ANY_SERVER = "any_server"
    ISSUER = "issuer"
    PKCE = "pkce"
    RESPONSE_TYPES = "response_types"
    CLIENT_METADATA = "client_metadata"
    REGISTRATION = "registration"
    TOKEN = "token"  # noqa: S105  the name of a fact


VALUES: Mapping[FactName, frozenset[str]] = {
    FactName.CHALLENGE: frozenset({"401", "403", "in the result", "open", "other"}),
    FactName.SCHEME: frozenset({"Bearer first", "Bearer later", "other spelling", "none"}),
    FactName.POINTER: frozenset({"quoted", "unquoted", "absent"}),
    FactName.POINTER_PLACE: frozenset({"same origin", "other origin", "absent"}),
    FactName.GET: frozenset({"401", "200", "405", "other"}),
    FactName.METADATA: frozenset({"found", "missing"}),
    FactName.AT_POINTER: frozenset({"found", "missing", "absent"}),
    FactName.WELL_KNOWN: frozenset({"path", "root", "neither"}),
    FactName.RESOURCE: frozenset({"exact", "slash", "parent", "other", "absent", _NOTHING}),
    FactName.FIRST_SERVER: frozenset({"found", "missing", "none listed"}),
    FactName.ANY_SERVER: frozenset({"found", "missing", "none listed"}),
    FactName.ISSUER: frozenset({"exact", "slash", "other", "absent", _NOTHING}),
    FactName.PKCE: frozenset({"S256", "without S256", "absent", _NOTHING}),
    FactName.RESPONSE_TYPES: frozenset({"code", "without code", "absent", _NOTHING}),
    FactName.CLIENT_METADATA: frozenset({"with none", "with private_key_jwt", "without none", "absent", _NOTHING}),
    FactName.REGISTRATION: frozenset({"offered", "absent", _NOTHING}),
    FactName.TOKEN: frozenset({"accepted", "refused"}),
}
"""The values that each fact can have; a fact that could not be observed has none of them."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: its value, None where it could not be observed, and what was seen or why nothing was."""

    name: FactName
    value: str | None
    seen: str


@dataclass(frozen=True, slots=True)
class HostObservations:
    """What was asked for the sake of hosts; all without a token, but for whether a good one is accepted.

    `url` is the endpoint as a user would enter it. `posted` are the answers to a handshake or call, `got` that to GET.
    """

    url: str
    posted: Sequence[Answer]
    got: Answer | None
    metadata: ResourceMetadataObserved | None
    servers: AuthorizationServersObserved | None
    token: bool | None = None


def facts_of(observed: HostObservations) -> dict[FactName, Fact]:
    """Return every fact by its name."""
    found = [
        *_refusal(observed),
        *_get(observed.got),
        *_resource_metadata(observed),
        *_authorization_server(observed.servers),
        _token(observed.token),
    ]
    return {fact.name: fact for fact in found}


def _unsettled(answer: Answer) -> bool:
    """Whether an answer says nothing about who may come in."""
    return answer.status is None or answer.limits_rate or answer.status >= 500


def _refusal(observed: HostObservations) -> Iterator[Fact]:
    """How a POST without a token is answered (RFC 6750 §3), and how the challenge is written.

    A server may serve the handshake and its lists to anybody, and protect its tools: one that publishes metadata is
    not open because those were answered.
    """
    name, posted = FactName.CHALLENGE, observed.posted
    telling = [answer for answer in posted if not _unsettled(answer)]
    if not telling:
        seen = describe(posted[0]) if posted else "nothing was asked"
        yield from (Fact(one, None, seen) for one in (name, FactName.SCHEME, FactName.POINTER))
        return
    refused = next((one for one in telling if one.status == 401), None)
    other = next((one for one in telling if one.status == 403), None)
    in_result = next((one for one in telling if _IN_RESULT in one.text), None)
    served = all(isinstance(read(one), Accepted) for one in telling)
    if refused is not None:
        yield Fact(name, "401", describe(refused))
    elif other is not None:
        yield Fact(name, "403", describe(other))
    elif in_result is not None:
        yield Fact(name, "in the result", "200 with a challenge in the tool's result")
    elif served and observed.metadata is not None and observed.metadata.best is not None:
        yield Fact(name, None, "what was asked needs no token, and the metadata says that something does")
    else:
        yield Fact(name, "open" if served else "other", describe(telling[-1]))
    yield from _challenge(refused or other)


def _challenge(answer: Answer | None) -> Iterator[Fact]:
    challenges = () if answer is None else answer.challenges.challenges
    lines = () if answer is None else answer.header_lines("www-authenticate")
    said = "; ".join(lines)[:200] or "no WWW-Authenticate header"
    if not any(one.is_bearer for one in challenges):
        scheme = "none"
    elif not challenges[0].is_bearer:
        scheme = "Bearer later"
    else:
        scheme = "Bearer first" if challenges[0].scheme == "Bearer" else "other spelling"
    yield Fact(FactName.SCHEME, scheme, said)
    named = any(one.get("resource_metadata") for one in challenges)
    quoted = any(_QUOTED.search(line) for line in lines)
    yield Fact(FactName.POINTER, ("quoted" if quoted else "unquoted") if named else "absent", said)


def _get(answer: Answer | None) -> Iterator[Fact]:
    if answer is None or _unsettled(answer):
        yield Fact(FactName.GET, None, "nothing was asked" if answer is None else describe(answer))
    else:
        status = str(answer.status)
        yield Fact(FactName.GET, status if status in VALUES[FactName.GET] else "other", describe(answer))


def _resource_metadata(observed: HostObservations) -> Iterator[Fact]:
    """Where the metadata of the resource is, and what identifier it gives (RFC 9728 §3)."""
    names = (FactName.METADATA, FactName.AT_POINTER, FactName.WELL_KNOWN, FactName.POINTER_PLACE, FactName.RESOURCE)
    found = observed.metadata
    if found is None or any(_unsettled(one.answer) and one.answer.status is None for one in found.sought):
        yield from (Fact(name, None, "the metadata could not be asked for") for name in names)
        return
    best = found.best
    tried = "; ".join(f"{one.url}: {one.said}" for one in found.sought) or "nothing was looked for"
    yield Fact(FactName.METADATA, "missing" if best is None else "found", tried if best is None else best.url)
    pointed = found.at(Location.POINTER)
    if pointed is None:
        yield Fact(FactName.AT_POINTER, "absent", "the challenge names no URL")
        yield Fact(FactName.POINTER_PLACE, "absent", "the challenge names no URL")
    else:
        yield Fact(FactName.AT_POINTER, "found" if pointed.found else "missing", f"{pointed.url}: {pointed.said}")
        same = _origin(pointed.url) == _origin(observed.url)
        yield Fact(FactName.POINTER_PLACE, "same origin" if same else "other origin", pointed.url)
    path, root = found.at(Location.PATH), found.at(Location.ROOT)
    yield Fact(FactName.WELL_KNOWN, "path" if _serves(path) else "root" if _serves(root) else "neither", tried)
    if best is None:
        yield Fact(FactName.RESOURCE, _NOTHING, tried)
        return
    named = best.member("resource")
    yield Fact(FactName.RESOURCE, _compared(named, observed.url), f'resource "{named}" for {observed.url}')


def _serves(document: Document | None) -> bool:
    return document is not None and document.found


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.scheme.lower(), parts.netloc.lower()


def _compared(named: object, url: str) -> str:
    """Compare an identifier with the URL that a user enters: hosts do so in different ways."""
    if not isinstance(named, str) or not named:
        return "absent"
    if named == url:
        return "exact"
    if named.rstrip("/") == url.rstrip("/"):
        return "slash"
    if _origin(named) == _origin(url):
        path, parent = urlsplit(url).path, urlsplit(named).path.rstrip("/")
        return "parent" if path.startswith(f"{parent}/") else "other"
    return "other"


def _authorization_server(observed: AuthorizationServersObserved | None) -> Iterator[Fact]:
    """What the listed authorization servers publish (RFC 8414, OpenID Connect Discovery)."""
    about_first = [FactName.ISSUER, FactName.PKCE, FactName.RESPONSE_TYPES, FactName.CLIENT_METADATA]
    about_first.append(FactName.REGISTRATION)
    if observed is None:
        names = (FactName.FIRST_SERVER, FactName.ANY_SERVER, *about_first)
        yield from (Fact(name, None, "no metadata was asked for") for name in names)
        return
    if not observed.servers:
        none = "the metadata lists no authorization server"
        yield Fact(FactName.FIRST_SERVER, "none listed", none)
        yield Fact(FactName.ANY_SERVER, "none listed", none)
        yield from (Fact(name, _NOTHING, none) for name in about_first)
        return
    first = observed.servers[0]
    if any(server.own for server in observed.servers):
        why = "the authorization server is the kit's own issuer; ask with the URL of a server that trusts the real one"
        yield from (Fact(name, None, why) for name in (FactName.FIRST_SERVER, FactName.ANY_SERVER, *about_first))
        return
    yield _served(FactName.FIRST_SERVER, first)
    usable = next((server for server in observed.servers if server.best is not None), first)
    yield _served(FactName.ANY_SERVER, usable)
    yield from (
        _about(first)
        if first.best is not None
        else (Fact(name, _NOTHING, f"{first.issuer} publishes no metadata") for name in about_first)
    )


def _served(name: FactName, server: AuthorizationServer) -> Fact:
    if server.best is None and all(one.answer.status is None for one in server.sought):
        return Fact(name, None, f"{server.issuer}: not reached")
    return Fact(name, "missing" if server.best is None else "found", server.issuer)


def _about(server: AuthorizationServer) -> Iterator[Fact]:
    value = server.value
    issuer = value.get("issuer")
    said = f'issuer "{issuer}", listed as "{server.issuer}"'
    if not isinstance(issuer, str):
        yield Fact(FactName.ISSUER, "absent", "no issuer in its metadata")
    elif issuer == server.issuer:
        yield Fact(FactName.ISSUER, "exact", said)
    else:
        yield Fact(FactName.ISSUER, "slash" if issuer.rstrip("/") == server.issuer.rstrip("/") else "other", said)
    yield _listing(server, FactName.PKCE, "code_challenge_methods_supported", "S256")
    yield _listing(server, FactName.RESPONSE_TYPES, "response_types_supported", "code")
    methods = server.strings("token_endpoint_auth_methods_supported") or ()
    told = f"token_endpoint_auth_methods_supported: {', '.join(methods) or 'not there'}"
    if value.get("client_id_metadata_document_supported") is not True:
        yield Fact(FactName.CLIENT_METADATA, "absent", "no client_id_metadata_document_supported")
    elif "none" in methods:
        yield Fact(FactName.CLIENT_METADATA, "with none", told)
    else:
        keyed = "private_key_jwt" in methods
        yield Fact(FactName.CLIENT_METADATA, "with private_key_jwt" if keyed else "without none", told)
    endpoint = value.get("registration_endpoint")
    offered = isinstance(endpoint, str) and endpoint != ""
    where = str(endpoint) if offered else "no registration_endpoint"
    yield Fact(FactName.REGISTRATION, "offered" if offered else "absent", where)


def _listing(server: AuthorizationServer, name: FactName, member: str, wanted: str) -> Fact:
    listed = server.strings(member)
    if listed is None:
        return Fact(name, "absent", f"no {member}")
    return Fact(name, wanted if wanted in listed else f"without {wanted}", f"{member}: {', '.join(listed) or 'empty'}")


def _token(accepted: bool | None) -> Fact:
    if accepted is None:
        return Fact(FactName.TOKEN, None, "no token was sent; `hosts` with a contract sends one")
    value = "accepted" if accepted else "refused"
    return Fact(FactName.TOKEN, value, f"a good token as a Bearer header alone is {value}")
