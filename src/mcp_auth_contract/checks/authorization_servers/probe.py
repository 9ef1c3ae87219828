"""What the listed authorization servers publish."""

from mcp_auth_contract.checks.authorization_servers.observation import AuthorizationServer, AuthorizationServersObserved
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.observation import Location
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.oauth.metadata import (
    authorization_server_urls,
)


async def ask_authorization_servers(question: Question, context: Context) -> AuthorizationServersObserved:
    """Look up every authorization server that the resource's metadata lists."""
    resource = await ask_resource_metadata(question, context)
    value = resource.best.value if resource.best is not None else None
    listed = value.get("authorization_servers") if value is not None else None
    issuers = [issuer for issuer in listed if isinstance(issuer, str)] if isinstance(listed, list) else []
    servers = [await _server(context, issuer) for issuer in dict.fromkeys(issuers[:_MOST_SERVERS])]
    named = value.get("resource") if value is not None else None
    return AuthorizationServersObserved(named if isinstance(named, str) else None, tuple(servers))


async def _server(context: Context, issuer: str) -> AuthorizationServer:
    urls = authorization_server_urls(issuer)
    places = {
        Location.OAUTH: urls.oauth,
        Location.OIDC_INSERTED: urls.oidc_inserted,
        Location.OIDC_APPENDED: urls.oidc_appended,
        Location.OAUTH_APPENDED: urls.oauth_appended,
    }
    answers = {url: await context.fetch(url) for url in dict.fromkeys(places.values())}
    documents = tuple(_read(where, url, answers[url]) for where, url in places.items())
    own = issuer.rstrip("/") in {each.rstrip("/") for each in context.own_issuers}
    found = AuthorizationServer(issuer, own, documents)
    best = found.best
    if best is None or best.value is None:
        return found
    jwks_uri = best.value.get("jwks_uri")
    return AuthorizationServer(
        issuer,
        own,
        documents,
        await _document(context, Location.JWKS, jwks_uri) if isinstance(jwks_uri, str) else None,
        await context.fetch(best.url, headers=(("MCP-Protocol-Version", "2025-11-25"),)),
    )
