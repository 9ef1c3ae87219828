"""Where the protected-resource metadata is, and what it says (RFC 9728)."""

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.challenges.presentation import Presentation
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.observation import Document, Location, ResourceMetadataObserved
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.tokens.probe import ask_call, send_presented
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import (
    identifier_faults,
    protected_resource_urls,
)
from mcp_auth_contract.wire import Call, operation_call, request

FORWARDED_HOST = "forwarded.invalid"
"""A host that no configuration names: the `invalid` domain is reserved (RFC 2606)."""


_STRAY = "/no-such-resource-7b1f"


_MOST_SERVERS = 10


_ACCEPTS = (
    ("Accept: */*", "*/*", ()),
    ("Accept: text/html", "text/html", ()),
    ("an MCP-Protocol-Version header", "application/json", (("MCP-Protocol-Version", "2025-11-25"),)),
)


async def ask_resource_metadata(question: Question, context: Context) -> ResourceMetadataObserved:
    """Look for the resource's metadata by the challenge's pointer and at the well-known locations."""
    refusal = await _refusal(question, context)
    pointer = refusal.challenges.get("resource_metadata") if refusal is not None else None
    # Identifiers that are no URLs have no well-known location; the endpoint's own is looked at instead.
    named = context.resource if not identifier_faults(context.resource) else context.endpoint
    urls = protected_resource_urls(named)
    places = [(Location.PATH, urls.path), (Location.ROOT, urls.root), (Location.APPENDED, urls.appended)]
    places.append((Location.STRAY, protected_resource_urls(_stray(named)).path))
    if pointer is not None:
        places.insert(0, (Location.POINTER, pointer))
    documents = [await _document(context, where, url) for where, url in places]
    observed = ResourceMetadataObserved(context.endpoint, refusal, pointer, tuple(documents))
    best = observed.best
    if best is None or best.value is None:
        return observed
    accepts = [
        (label, await context.fetch(best.url, accept=accept, headers=headers)) for label, accept, headers in _ACCEPTS
    ]
    jwks_uri = best.value.get("jwks_uri")
    return ResourceMetadataObserved(
        context.endpoint,
        refusal,
        pointer,
        tuple(documents),
        tuple(accepts),
        await _reflected(question, context),
        await _document(context, Location.JWKS, jwks_uri) if isinstance(jwks_uri, str) else None,
    )


def _stray(named: str) -> str:
    return f"{named.split('?', 1)[0].rstrip('/')}{_STRAY}"


async def _refusal(question: Question, context: Context) -> Answer | None:
    """Return the answer of a call without a token that carries a challenge, if there is one."""
    operation = question.operation or context.control
    if operation is None:
        return None
    principal = next(iter(context.minter.contract.principals), None) if context.minter else None
    asked = Question("call", revision=context.revisions[0], operation=operation, principal=principal)
    observed: CallObserved = await ask_call(asked, context)
    refused = [attempt.answer for attempt in observed.attempts if attempt.answer.status == 401]
    return refused[0] if refused else None


async def _reflected(question: Question, context: Context) -> Answer | None:
    operation = question.operation or context.control
    if operation is None:
        return None
    call = operation_call(operation.kind, operation.name, operation.arguments)
    if context.minter is None:
        call = Call(operation.name, {})
    message = request(context.revisions[0], call, next(context.conversation.ids))
    forwarded = (("X-Forwarded-Host", FORWARDED_HOST), ("X-Forwarded-Proto", "https"))
    return await send_presented(context, message, Presentation(forwarded))


async def _document(context: Context, where: Location, url: str) -> Document:
    return _read(where, url, await context.fetch(url))


def _read(where: Location, url: str, answer: Answer) -> Document:
    if answer.status is None or not answer.text:
        return Document(where, url, answer, None, ("an empty body",) if answer.status == 200 else ())
    document = read_json_object(answer.text)
    return Document(where, url, answer, document.value, tuple(document.faults))
