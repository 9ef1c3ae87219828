"""Where the protected-resource metadata is, and what it says (RFC 9728)."""

from dataclasses import replace

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.observation import (
    Document,
    ForgedHost,
    Location,
    ResourceMetadataObserved,
)
from mcp_auth_contract.checks.presentation import Presentation
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.tokens.probe import ask_without_token
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import identifier_faults, protected_resource_urls
from mcp_auth_contract.tokens.defects.urls import FORGED_HOST

_FORGED = (
    (("X-Forwarded-Host", FORGED_HOST), ("X-Forwarded-Proto", "https")),
    (("Forwarded", f"host={FORGED_HOST};proto=https"),),
    (("Host", FORGED_HOST),),
)
_STRAY = "/no-such-resource-7b1f"
_ACCEPTS = (
    ("Accept: */*", "*/*", ()),
    ("Accept: text/html", "text/html", ()),
    ("an MCP-Protocol-Version header", "application/json", (("MCP-Protocol-Version", "2025-11-25"),)),
)


@probe("Where is the protected-resource metadata, and what does it say?", anonymous=True)
async def ask_resource_metadata(_question: Question, context: Context) -> ResourceMetadataObserved:
    """Look for the resource's metadata by the challenge's pointer and at the well-known locations."""
    refusal = await _refusal(context)
    pointer = refusal.challenges.get("resource_metadata") if refusal is not None else None
    # Identifiers that are no URLs have no well-known location; the endpoint's own is looked at instead.
    named = context.resource if not identifier_faults(context.resource) else context.endpoint
    urls = protected_resource_urls(named)
    stray = protected_resource_urls(f"{named.split('?', 1)[0].rstrip('/')}{_STRAY}")
    places = {Location.POINTER: pointer, Location.PATH: urls.path, Location.ROOT: urls.root}
    places |= {Location.APPENDED: urls.appended, Location.STRAY: stray.path}
    found = [await fetch_document(context, where, url) for where, url in places.items() if url is not None]
    observed = ResourceMetadataObserved(context.endpoint, refusal, pointer, tuple(found))
    best = observed.best
    if best is None or best.value is None:
        return observed
    accepts = [
        (label, await context.fetch(best.url, accept=accept, headers=headers)) for label, accept, headers in _ACCEPTS
    ]
    return replace(
        observed, accepts=tuple(accepts), forged=await _forged(context, best), jwks=await fetch_jwks(context, best)
    )


async def _refusal(context: Context) -> Answer | None:
    """Return the answer of a call without a token that carries a challenge, if there is one."""
    if context.control is None:
        return None
    principal = None if context.issued is None else next(iter(context.contract.principals), None)
    asked = await ask_without_token(context, context.revisions[0], context.control, principal)
    return next((answer for answer in asked.answers if answer.status == 401), None)


async def _forged(context: Context, best: Document) -> tuple[ForgedHost, ...]:
    """Call without a token, and fetch the document again, with each header that names a host."""
    if context.control is None:
        return ()
    nobody, found = PrincipalSession(context, context.revisions[0], None), []
    for headers in _FORGED:
        name = headers[0][0]
        called = await nobody.call(context.control, token=Presentation(headers), note=f"a foreign {name}")
        fetched = read_document(best.where, best.url, await context.fetch(best.url, headers=headers))
        found.append(ForgedHost(name, called.answer, fetched, anywhere=name == "Host"))
    return tuple(found)


async def fetch_jwks(context: Context, named_by: Document) -> Document | None:
    """Fetch the key set that a document names, if it names one."""
    url = (named_by.value or {}).get("jwks_uri")
    return await fetch_document(context, Location.JWKS, url) if isinstance(url, str) else None


async def fetch_document(context: Context, where: Location, url: str) -> Document:
    """Fetch a JSON document without credentials."""
    return read_document(where, url, await context.fetch(url))


def read_document(where: Location, url: str, answer: Answer) -> Document:
    """Read what came from a URL as a JSON document."""
    if answer.status is None or not answer.text:
        return Document(where, url, answer, None, ("an empty body",) if answer.status == 200 else ())
    document = read_json_object(answer.text)
    return Document(where, url, answer, document.value, tuple(document.faults))
