"""Fetching metadata documents from every place the specifications name."""

from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import (
    authorization_server_urls,
    identifier_faults,
    protected_resource_urls,
)
from mcp_auth_contract.observations import (
    Answer,
    AuthorizationServer,
    AuthorizationServersObserved,
    CallObserved,
    Document,
    Location,
    ResourceMetadataObserved,
)
from mcp_auth_contract.probes.bench import Bench
from mcp_auth_contract.probes.calls import ask_call, send_presented
from mcp_auth_contract.probes.presentation import Presentation
from mcp_auth_contract.probes.question import Question
from mcp_auth_contract.wire import Call, operation_call, request

__all__ = ["FORWARDED_HOST", "ask_authorization_servers", "ask_resource_metadata"]

FORWARDED_HOST = "forwarded.invalid"
"""A host that no configuration names: the `invalid` domain is reserved (RFC 2606)."""

_STRAY = "/no-such-resource-7b1f"
_MOST_SERVERS = 10
_ACCEPTS = (
    ("Accept: */*", "*/*", ()),
    ("Accept: text/html", "text/html", ()),
    ("an MCP-Protocol-Version header", "application/json", (("MCP-Protocol-Version", "2025-11-25"),)),
)


async def ask_resource_metadata(question: Question, bench: Bench) -> ResourceMetadataObserved:
    """Look for the resource's metadata by the challenge's pointer and at the well-known locations."""
    refusal = await _refusal(question, bench)
    pointer = refusal.challenges.get("resource_metadata") if refusal is not None else None
    # Identifiers that are no URLs have no well-known location; the endpoint's own is looked at instead.
    named = bench.resource if not identifier_faults(bench.resource) else bench.endpoint
    urls = protected_resource_urls(named)
    places = [(Location.PATH, urls.path), (Location.ROOT, urls.root), (Location.APPENDED, urls.appended)]
    places.append((Location.STRAY, protected_resource_urls(_stray(named)).path))
    if pointer is not None:
        places.insert(0, (Location.POINTER, pointer))
    documents = [await _document(bench, where, url) for where, url in places]
    observed = ResourceMetadataObserved(bench.endpoint, refusal, pointer, tuple(documents))
    best = observed.best
    if best is None or best.value is None:
        return observed
    accepts = [
        (label, await bench.fetch(best.url, accept=accept, headers=headers)) for label, accept, headers in _ACCEPTS
    ]
    jwks_uri = best.value.get("jwks_uri")
    return ResourceMetadataObserved(
        bench.endpoint,
        refusal,
        pointer,
        tuple(documents),
        tuple(accepts),
        await _reflected(question, bench),
        await _document(bench, Location.JWKS, jwks_uri) if isinstance(jwks_uri, str) else None,
    )


def _stray(named: str) -> str:
    return f"{named.split('?', 1)[0].rstrip('/')}{_STRAY}"


async def _refusal(question: Question, bench: Bench) -> Answer | None:
    """Return the answer of a call without a token that carries a challenge, if there is one."""
    operation = question.operation or bench.control
    if operation is None:
        return None
    principal = next(iter(bench.minter.contract.principals), None) if bench.minter else None
    asked = Question("call", revision=bench.revisions[0], operation=operation, principal=principal)
    observed: CallObserved = await ask_call(asked, bench)
    refused = [attempt.answer for attempt in observed.attempts if attempt.answer.status == 401]
    return refused[0] if refused else None


async def _reflected(question: Question, bench: Bench) -> Answer | None:
    operation = question.operation or bench.control
    if operation is None:
        return None
    call = operation_call(operation.kind, operation.name, operation.arguments)
    if bench.minter is None:
        call = Call(operation.name, {})
    message = request(bench.revisions[0], call, next(bench.conversation.ids))
    forwarded = (("X-Forwarded-Host", FORWARDED_HOST), ("X-Forwarded-Proto", "https"))
    return await send_presented(bench, message, Presentation(forwarded))


async def _document(bench: Bench, where: Location, url: str) -> Document:
    return _read(where, url, await bench.fetch(url))


def _read(where: Location, url: str, answer: Answer) -> Document:
    if answer.status is None or not answer.text:
        return Document(where, url, answer, None, ("an empty body",) if answer.status == 200 else ())
    document = read_json_object(answer.text)
    return Document(where, url, answer, document.value, tuple(document.faults))


async def ask_authorization_servers(question: Question, bench: Bench) -> AuthorizationServersObserved:
    """Look up every authorization server that the resource's metadata lists."""
    resource = await ask_resource_metadata(question, bench)
    value = resource.best.value if resource.best is not None else None
    listed = value.get("authorization_servers") if value is not None else None
    issuers = [issuer for issuer in listed if isinstance(issuer, str)] if isinstance(listed, list) else []
    servers = [await _server(bench, issuer) for issuer in dict.fromkeys(issuers[:_MOST_SERVERS])]
    named = value.get("resource") if value is not None else None
    return AuthorizationServersObserved(named if isinstance(named, str) else None, tuple(servers))


async def _server(bench: Bench, issuer: str) -> AuthorizationServer:
    urls = authorization_server_urls(issuer)
    places = {
        Location.OAUTH: urls.oauth,
        Location.OIDC_INSERTED: urls.oidc_inserted,
        Location.OIDC_APPENDED: urls.oidc_appended,
        Location.OAUTH_APPENDED: urls.oauth_appended,
    }
    answers = {url: await bench.fetch(url) for url in dict.fromkeys(places.values())}
    documents = tuple(_read(where, url, answers[url]) for where, url in places.items())
    own = issuer.rstrip("/") in {each.rstrip("/") for each in bench.own_issuers}
    found = AuthorizationServer(issuer, own, documents)
    best = found.best
    if best is None or best.value is None:
        return found
    jwks_uri = best.value.get("jwks_uri")
    return AuthorizationServer(
        issuer,
        own,
        documents,
        await _document(bench, Location.JWKS, jwks_uri) if isinstance(jwks_uri, str) else None,
        await bench.fetch(best.url, headers=(("MCP-Protocol-Version", "2025-11-25"),)),
    )
