"""What does a real authorization server do with clients? (OAuth 2.1, RFC 7009, 7591, 7662, 8707, 9207)"""

from mcp_auth_contract.answers.authorization import Issued
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.grants import refusals, registrations, revocations
from mcp_auth_contract.checks.grants.observation import (
    AuthorizationObserved,
    CapabilityObserved,
    ClientRequestObserved,
    TokensObserved,
)
from mcp_auth_contract.checks.grants.requests import ALTERATIONS
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import ProviderQuestion
from mcp_auth_contract.provider.tenant import Tenant


@probe("Where does an authorization request end?", forms={name: one.words for name, one in ALTERATIONS.items()})
async def ask_authorization(question: ProviderQuestion, context: Context) -> AuthorizationObserved:
    """Send an authorization request with one thing changed, where a sound one gets a code."""
    tenant, alteration = context.tenant, ALTERATIONS[question.form]
    sound = await tenant.sound()
    metadata, registered = tenant.http.metadata, tenant.provider.redirect_uri
    if question.form == "sound" or sound.why_no_code:
        return AuthorizationObserved(
            sound.ending,
            "" if question.form == "sound" else sound.why_no_code,
            registered,
            registered,
            sound.sent["state"],
            metadata=metadata,
        )
    pairs = alteration.make(tenant.http.request(tenant.http.verifier(), sound.sent["state"]))
    ending = await tenant.http.authorize(pairs, note=f"authorization request: {alteration.words}")
    return AuthorizationObserved(
        ending,
        redirect_uri=dict(pairs)["redirect_uri"],
        registered=registered,
        state=sound.sent["state"],
        expects=alteration.expects,
        metadata=metadata,
    )


_TOKENS = {
    "code": "an authorization code",
    "refresh": "a refresh token",
    "client_credentials": "the client's own credentials",
}


@probe("What does the token endpoint answer to a sound request?", forms=_TOKENS)
async def ask_tokens(question: ProviderQuestion, context: Context) -> TokensObserved:
    """Ask for tokens as a sound client does."""
    tenant = context.tenant
    if question.form == "client_credentials":
        return await _own_credentials(tenant)
    if question.form == "refresh":
        return await _refreshed(tenant)
    flow = await tenant.sound()
    return _seen(tenant, flow.issued) if flow.issued is not None else TokensObserved(None, flow.why_no_token)


async def _refreshed(tenant: Tenant) -> TokensObserved:
    given = await refusals.refreshable(tenant)
    if isinstance(given, ClientRequestObserved):
        return TokensObserved(None, given.blocked, given.absent)
    # As hosts do it: neither scope nor resource is sent again.
    return _seen(tenant, await tenant.refresh(given.refresh_token, note="a refresh"), given)


async def _own_credentials(tenant: Tenant) -> TokensObserved:
    if tenant.provider.capabilities.client_credentials in ("forbidden", "ignore"):
        return TokensObserved(None, absent="the contract leaves it out (provider.capabilities.client_credentials)")
    if not tenant.client.secret:
        return TokensObserved(None, absent="the client has no secret")
    if not tenant.http.offers_grant("client_credentials"):
        return TokensObserved(None, absent="the metadata does not list the client credentials grant")
    form = {"grant_type": "client_credentials"}
    if tenant.provider.resource:
        form["resource"] = tenant.provider.resource
    return _seen(tenant, await tenant.http.token(form, tenant.client, note="client credentials"))


def _seen(tenant: Tenant, issued: Issued, before: Issued | None = None) -> TokensObserved:
    provider = tenant.provider
    audience = provider.audience or provider.resource or ""
    return TokensObserved(issued, scopes=frozenset(provider.scopes), audience=audience, before=before)


@probe("What comes of a token request that has to be refused?", forms=refusals.SCENES.words)
async def ask_refusal(question: ProviderQuestion, context: Context) -> ClientRequestObserved:
    """Make a token request that has to be refused."""
    return await refusals.SCENES[question.form](context.tenant)


@probe("What do revocation and introspection do?", forms=revocations.SCENES.words)
async def ask_revocation(question: ProviderQuestion, context: Context) -> ClientRequestObserved:
    """Revoke or introspect a token."""
    return await revocations.SCENES[question.form](context.tenant)


@probe("What does the registration endpoint do?", forms=registrations.SCENES.words)
async def ask_registration(question: ProviderQuestion, context: Context) -> ClientRequestObserved:
    """Register a client."""
    return await registrations.SCENES[question.form](context.tenant)


_CAPABILITIES = {
    "refresh": "refresh tokens",
    "client_credentials": "the client credentials grant",
    "registration": "dynamic client registration",
    "revocation": "token revocation",
    "introspection": "token introspection",
}


@probe("Does the metadata offer what the contract wants?", forms=_CAPABILITIES)
async def ask_capability(question: ProviderQuestion, context: Context) -> CapabilityObserved:
    """Look a capability up in the metadata."""
    tenant, name = context.tenant, question.form
    wanted: str = getattr(tenant.provider.capabilities, name)
    grant = {"refresh": "refresh_token", "client_credentials": "client_credentials"}.get(name)
    if grant is None:
        return CapabilityObserved(name, wanted, bool(tenant.http.endpoint(name)), f"{name}_endpoint")
    return CapabilityObserved(name, wanted, tenant.http.offers_grant(grant), f'"{grant}" in grant_types_supported')
