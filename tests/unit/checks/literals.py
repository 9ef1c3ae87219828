"""Five-line literals: answers, calls and documents as a judge sees them, without a server."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_auth_contract.answers import Answer, Attempt, TransportFailure, read
from mcp_auth_contract.checks.authorization_servers.observation import AuthorizationServer, AuthorizationServersObserved
from mcp_auth_contract.checks.discovery.observation import Document, ForgedHost, Location, ResourceMetadataObserved
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.registry import JUDGES
from mcp_auth_contract.checks.tokens.observation import CallObserved, TokenShown
from mcp_auth_contract.checks.transport.observation import EndpointObserved, MirrorObserved, PreflightObserved
from mcp_auth_contract.model import Revision, Verdict

ENDPOINT = "https://mcp.example.com/mcp"
PATH_URL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
ROOT_URL = "https://mcp.example.com/.well-known/oauth-protected-resource"
ISSUER = "https://auth.example.com"
POINTER = f'resource_metadata="{PATH_URL}"'
ORIGIN = "https://client.example.com"

RESOURCE: Mapping[str, Any] = {
    "resource": ENDPOINT,
    "authorization_servers": [ISSUER],
    "scopes_supported": ["invoices:read"],
    "bearer_methods_supported": ["header"],
    "resource_name": "Invoices",
}
SERVER: Mapping[str, Any] = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "registration_endpoint": f"{ISSUER}/register",
    "jwks_uri": f"{ISSUER}/jwks",
    "response_types_supported": ["code"],
    "grant_types_supported": ["authorization_code", "refresh_token"],
    "code_challenge_methods_supported": ["S256"],
    "token_endpoint_auth_methods_supported": ["none"],
}
GONE = object()
"""In place of a member's value: the member is left out."""


def facts(**changes: Any) -> Facts:
    """Ground truth of a sound contract, with changes."""
    known: dict[str, Any] = {
        "endpoint": ENDPOINT,
        "resource": ENDPOINT,
        "revisions": (Revision.R2025_11_25,),
        "revision": Revision.R2025_11_25,
        "needed": frozenset({"invoices:read"}),
        "missing": "invoices:write",
    }
    return Facts(**{**known, **changes})


def answer(
    status: int | None = 200,
    *challenges: str,
    body: Mapping[str, Any] | None = None,
    failure: TransportFailure | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    stream: bool = False,
    reply: bool = True,
) -> Answer:
    """An HTTP answer; each challenge is a WWW-Authenticate line of its own."""
    lines = tuple(("www-authenticate", challenge) for challenge in challenges)
    media = (("content-type", "text/event-stream"),) if stream else ()
    return Answer(
        "x1",
        "POST",
        ENDPOINT,
        status=status,
        failure=failure or (TransportFailure.TIMEOUT if status is None else None),
        headers=(*headers, *media, *lines),
        text=json.dumps(body) if body else "",
        messages=(body,) if body else (),
        reply=body if reply else None,
        stream=stream,
    )


def result(**content: Any) -> Answer:
    """A 200 with a JSON-RPC result."""
    return answer(200, body={"jsonrpc": "2.0", "id": 1, "result": content or {"content": []}})


def tool_error(challenge: str | None = None) -> Answer:
    """A 200 whose tool result has isError, with a challenge in `_meta` if one is given."""
    meta = {} if challenge is None else {"_meta": {"mcp/www_authenticate": [challenge]}}
    return result(isError=True, content=[], **meta)


def rpc_error(status: int = 200, code: int = -32602) -> Answer:
    """A JSON-RPC error."""
    return answer(status, body={"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}})


def html() -> Answer:
    """A sign-in page where a JSON-RPC reply was due."""
    return answer(200, headers=(("content-type", "text/html"),))


def login_redirect() -> Answer:
    """A redirect to a sign-in page."""
    return answer(302, headers=(("location", "https://login.example.com/"),))


def event_stream() -> Answer:
    """A result that came in an event stream."""
    return answer(200, body={"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, stream=True)


def call(*answers: Answer, operation: str = "get_invoice", offered: str = "", change: str = "") -> CallObserved:
    """A call whose attempts were answered like this, the second inside a live session."""
    ways = ("with a handshake of its own", "inside a live session")
    attempts = tuple(Attempt(way, "call", each, read(each)) for way, each in zip(ways, answers, strict=False))
    token = TokenShown("token#00000000", {}, {}, change) if change else None
    return CallObserved(operation, attempts, token, offered)


def mirrored(each: Answer, way: str = "another name in Mcp-Name") -> MirrorObserved:
    """A call whose header says something else than its body, and the answer to it."""
    return MirrorObserved(Attempt(way, "call", each, read(each)))


def http(each: Answer, name: str = "get_stream", *, expects_reply: bool = True) -> EndpointObserved:
    """One endpoint and its answer."""
    return EndpointObserved(name, each, read(each, expects_reply=expects_reply))


def preflight(status: int | None, challenged: Answer, *headers: tuple[str, str], **rest: Any) -> PreflightObserved:
    """A preflight's answer, and the challenge that a browser meets afterwards."""
    return PreflightObserved(ORIGIN, answer(status, headers=headers, **rest), challenged)


def altered(document: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """The document with members replaced, or left out where the value is GONE."""
    return {name: value for name, value in {**document, **members}.items() if value is not GONE}


def document(
    where: Location,
    url: str,
    value: Mapping[str, Any] | None,
    *,
    status: int | None = 200,
    media: str = "application/json",
    faults: tuple[str, ...] = (),
) -> Document:
    """One fetched document."""
    headers = (("content-type", media),) if media else ()
    failure = TransportFailure.TIMEOUT if status is None else None
    fetched = Answer("x2", "GET", url, status=status, failure=failure, headers=headers)
    return Document(where, url, fetched, value, faults)


def at_path(value: Mapping[str, Any] | None = RESOURCE, **rest: Any) -> Document:
    """The document at the location with the path inserted."""
    return document(Location.PATH, PATH_URL, value, **rest)


def at_root(value: Mapping[str, Any] | None = RESOURCE, **rest: Any) -> Document:
    """The document at the root location."""
    return document(Location.ROOT, ROOT_URL, value, **rest)


def at_pointer(value: Mapping[str, Any] | None = RESOURCE, url: str = PATH_URL, **rest: Any) -> Document:
    """The document that the challenge points to."""
    return document(Location.POINTER, url, value, **rest)


def nothing_at(where: Location, url: str, status: int | None = 404) -> Document:
    """A location that serves nothing."""
    return document(where, url, None, status=status, media="text/plain")


def resource(*documents: Document, **rest: Any) -> ResourceMetadataObserved:
    """What discovery of the resource's metadata brought; the sound document at its path by default."""
    pointer = next((each.url for each in documents if each.where is Location.POINTER), None)
    found = documents or (at_path(),)
    return ResourceMetadataObserved(ENDPOINT, rest.pop("challenge", None), rest.pop("pointer", pointer), found, **rest)


def forged(challenge: Answer, *, document: Document | None = None, header: str = "X-Forwarded-Host") -> ForgedHost:
    """What a call without a token and the document's location answered to a request that names a foreign host."""
    return ForgedHost(header, challenge, document or at_path(), anywhere=header == "Host")


def resource_with(**members: Any) -> ResourceMetadataObserved:
    """The sound document with members replaced or left out."""
    return resource(at_path(altered(RESOURCE, **members)))


def server(
    value: Mapping[str, Any] | None = SERVER,
    *more: Document,
    issuer: str = ISSUER,
    own: bool = False,
    jwks: Mapping[str, Any] | None = None,
    versioned: Answer | None = None,
    **rest: Any,
) -> AuthorizationServer:
    """A listed authorization server with its document at the RFC 8414 location, and more documents."""
    oauth = document(Location.OAUTH, f"{issuer}/.well-known/oauth-authorization-server", value, **rest)
    keys = document(Location.JWKS, f"{issuer}/jwks", jwks) if jwks is not None else None
    return AuthorizationServer(issuer, own, (oauth, *more), keys, versioned)


def servers(*each: AuthorizationServer, named: str | None = ENDPOINT) -> AuthorizationServersObserved:
    """The listed authorization servers."""
    return AuthorizationServersObserved(named, each)


def server_with(**members: Any) -> AuthorizationServersObserved:
    """One authorization server with members of its document replaced or left out."""
    return servers(server(altered(SERVER, **members)))


def judged(name: str, observed: Any, known: Facts | None = None) -> Verdict:
    """The verdict of the judge with that name."""
    return JUDGES[name].decide(observed, known or facts())
