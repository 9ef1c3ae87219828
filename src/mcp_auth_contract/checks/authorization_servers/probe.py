"""What the listed authorization servers publish."""

from dataclasses import replace

from mcp_auth_contract.checks.authorization_servers.observation import AuthorizationServer, AuthorizationServersObserved
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.observation import Location
from mcp_auth_contract.checks.discovery.probe import ask_resource_metadata, fetch_jwks, read_document
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.oauth.metadata import authorization_server_urls
from mcp_auth_contract.wire.request import origin_of

_MOST_SERVERS = 10
_VERSIONED = (("MCP-Protocol-Version", "2025-11-25"),)


@probe("What do the listed authorization servers publish?", anonymous=True)
async def ask_authorization_servers(question: Question, context: Context) -> AuthorizationServersObserved:
    """Look up every authorization server that the resource's metadata lists; in a provider run that of the contract."""
    if context.provider is not None:
        server = await _server(context, context.provider.provider.issuer)
        return AuthorizationServersObserved(context.resource, (server,))
    value = (await ask_resource_metadata(question, context)).value or {}
    named, listed = value.get("resource"), value.get("authorization_servers")
    issuers = [issuer for issuer in listed if isinstance(issuer, str)] if isinstance(listed, list) else []
    servers = [await _server(context, issuer) for issuer in dict.fromkeys(issuers[:_MOST_SERVERS])]
    return AuthorizationServersObserved(named if isinstance(named, str) else None, tuple(servers))


async def _server(context: Context, issuer: str) -> AuthorizationServer:
    urls = authorization_server_urls(issuer)
    places = {
        Location.OAUTH: urls.oauth,
        Location.OIDC_INSERTED: urls.oidc_inserted,
        Location.OIDC_APPENDED: urls.oidc_appended,
        Location.OAUTH_APPENDED: urls.oauth_appended,
    }
    astray = {Location.OAUTH_AT_ROOT: urls.oauth_at_root, Location.OIDC_AT_ROOT: urls.oidc_at_root}
    answers = {url: await context.fetch(url) for url in dict.fromkeys(places.values())}
    documents = tuple(read_document(where, url, answers[url]) for where, url in places.items())
    own = issuer.rstrip("/") in {each.rstrip("/") for each in context.own_issuers}
    here = {origin_of(context.endpoint), origin_of(context.resource)} - {None}
    found = AuthorizationServer(issuer, own, documents, served=origin_of(issuer) in here)
    if found.best is None:
        elsewhere = [(where, url) for where, url in astray.items() if url not in answers]
        more = [read_document(where, url, await context.fetch(url)) for where, url in elsewhere]
        return replace(found, documents=(*documents, *more))
    jwks = await fetch_jwks(context, found.best)
    return replace(found, jwks=jwks, versioned=await context.fetch(found.best.url, headers=_VERSIONED))
