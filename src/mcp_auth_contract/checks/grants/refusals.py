"""Token requests that have to be refused."""

from mcp_auth_contract.answers.authorization import How, Issued
from mcp_auth_contract.checks.grants.observation import ClientRequestObserved
from mcp_auth_contract.checks.grants.scenes import (
    NO_OTHER_CLIENT,
    NO_REFRESH_TOKEN,
    NO_SECRET,
    UNKNOWN,
    UNKNOWN_SCOPE,
    Scenes,
    absent,
    blocked,
    left_out,
)
from mcp_auth_contract.provider.client import Client
from mcp_auth_contract.provider.tenant import Flow, Tenant

_GRANT = frozenset({"invalid_grant"})
_GRANT_OR_REQUEST = frozenset({"invalid_grant", "invalid_request"})
_CLIENT = frozenset({"invalid_client", "invalid_request", "unauthorized_client"})
_OTHERS = _GRANT | {"invalid_client", "unauthorized_client"}

SCENES = Scenes()
"""By their names in the catalogue."""


async def _code(tenant: Tenant) -> Flow | str:
    """Return a new code of a sound request, or why there is none."""
    sound = await tenant.sound()
    if sound.why_no_token:
        return sound.why_no_token
    flow = await tenant.code(note="a new code")
    return flow if flow.ending.code else flow.why_no_code


async def _exchange(
    tenant: Tenant, expects: frozenset[str], client: Client | None = None, **changes: str | None
) -> ClientRequestObserved:
    flow = await _code(tenant)
    if isinstance(flow, str):
        return blocked(flow)
    form = tenant.exchange(flow, **changes)
    return ClientRequestObserved(await tenant.http.token(form, client or tenant.client), expects)


@SCENES.scene
async def wrong_verifier(tenant: Tenant) -> ClientRequestObserved:
    """A code with the verifier of another request."""
    return await _exchange(tenant, _GRANT, code_verifier=tenant.http.verifier().text)


@SCENES.scene
async def missing_verifier(tenant: Tenant) -> ClientRequestObserved:
    """A code without a verifier."""
    return await _exchange(tenant, _GRANT_OR_REQUEST, code_verifier=None)


@SCENES.scene
async def challenge_as_verifier(tenant: Tenant) -> ClientRequestObserved:
    """A code with its challenge in the place of the verifier."""
    flow = await _code(tenant)
    if isinstance(flow, str):
        return blocked(flow)
    form = tenant.exchange(flow, code_verifier=flow.verifier.challenge)
    return ClientRequestObserved(await tenant.http.token(form, tenant.client), _GRANT_OR_REQUEST)


@SCENES.scene
async def verifier_without_challenge(tenant: Tenant) -> ClientRequestObserved:
    """A verifier for a code that was asked for without a challenge."""
    sound = await tenant.sound()
    if sound.why_no_token:
        return blocked(sound.why_no_token)
    flow = await tenant.code(code_challenge=None, code_challenge_method=None, note="no challenge")
    if not flow.ending.code:
        return absent("no code is issued without a challenge")
    return ClientRequestObserved(await tenant.http.token(tenant.exchange(flow), tenant.client), _GRANT_OR_REQUEST)


@SCENES.scene
async def other_redirect_uri(tenant: Tenant) -> ClientRequestObserved:
    """A code with another redirect URI than the one it was sent to."""
    return await _exchange(tenant, _GRANT_OR_REQUEST, redirect_uri=f"{tenant.provider.redirect_uri}/other")


@SCENES.scene
async def code_of_other_client(tenant: Tenant) -> ClientRequestObserved:
    """A code that was issued to another client."""
    if tenant.other_client is None:
        return absent(NO_OTHER_CLIENT)
    return await _exchange(tenant, _OTHERS, tenant.other_client)


@SCENES.scene
async def code_replayed(tenant: Tenant) -> ClientRequestObserved:
    """A code that was used before."""
    flow = await _code(tenant)
    if isinstance(flow, str):
        return blocked(flow)
    first = await tenant.http.token(tenant.exchange(flow), tenant.client, note="the first use of a code")
    if not first.token:
        return blocked("the first use of the code got no token")
    again = await tenant.http.token(tenant.exchange(flow), tenant.client, note="the same code again")
    later = None
    if first.refresh_token:
        later = await tenant.refresh(first.refresh_token, note="is what the first use got still good?")
    return ClientRequestObserved(again, _GRANT, later=later)


@SCENES.scene
async def unknown_code(tenant: Tenant) -> ClientRequestObserved:
    """A code that nobody issued."""
    flow = await tenant.sound()
    if flow.why_no_code:
        return blocked(flow.why_no_code)
    return ClientRequestObserved(await tenant.http.token(tenant.exchange(flow, code=UNKNOWN), tenant.client), _GRANT)


@SCENES.scene
async def unknown_scope(tenant: Tenant) -> ClientRequestObserved:
    """A scope that does not exist, beside those of the contract."""
    sound = await tenant.sound()
    if sound.why_no_token:
        return blocked(sound.why_no_token)
    scope = " ".join((*tenant.provider.scopes, UNKNOWN_SCOPE))
    flow = await tenant.flow(scope=scope, note="a scope that does not exist")
    if flow.issued is None:
        return ClientRequestObserved(None, refused=flow.ending.how is How.REDIRECT or flow.ending.how is How.PAGE)
    return ClientRequestObserved(flow.issued)


@SCENES.scene
async def no_grant_type(tenant: Tenant) -> ClientRequestObserved:
    """A token request without a grant type."""
    expects = frozenset({"invalid_request", "unsupported_grant_type"})
    return ClientRequestObserved(await tenant.http.token({"code": UNKNOWN}, tenant.client), expects)


@SCENES.scene
async def unknown_grant_type(tenant: Tenant) -> ClientRequestObserved:
    """A grant type that does not exist."""
    expects = frozenset({"unsupported_grant_type", "unauthorized_client", "invalid_request"})
    return ClientRequestObserved(await tenant.http.token({"grant_type": UNKNOWN}, tenant.client), expects)


@SCENES.scene
async def password_grant(tenant: Tenant) -> ClientRequestObserved:
    """The password grant, without a user or a password."""
    expects = frozenset({"unsupported_grant_type", "unauthorized_client"})
    refused = await tenant.http.token({"grant_type": "password"}, tenant.client)
    other = await tenant.http.token({"grant_type": UNKNOWN}, tenant.client, note="a grant type that does not exist")
    return ClientRequestObserved(refused, expects, later=other, offered=tenant.http.offers_grant("password"))


@SCENES.scene
async def unknown_client(tenant: Tenant) -> ClientRequestObserved:
    """A client that nobody registered, by HTTP Basic."""
    stranger = Client(UNKNOWN, UNKNOWN, "client_secret_basic")
    form = {"grant_type": "authorization_code", "code": UNKNOWN, "redirect_uri": tenant.provider.redirect_uri}
    return ClientRequestObserved(await tenant.http.token(form, stranger), frozenset({"invalid_client"}))


@SCENES.scene
async def get_request(tenant: Tenant) -> ClientRequestObserved:
    """A good code in a token request by GET."""
    flow = await _code(tenant)
    if isinstance(flow, str):
        return blocked(flow)
    if tenant.client.secret:
        return absent("a secret does not belong in a URL")
    form = tenant.exchange(flow, client_id=tenant.client.id)
    return ClientRequestObserved(await tenant.http.in_query("token", form))


@SCENES.scene
async def code_without_authentication(tenant: Tenant) -> ClientRequestObserved:
    """A code of a client with a secret, without the secret."""
    if not tenant.client.secret:
        return absent(NO_SECRET)
    return await _exchange(tenant, _CLIENT | _GRANT, Client(tenant.client.id))


@SCENES.scene
async def two_authentications(tenant: Tenant) -> ClientRequestObserved:
    """A client that authenticates by HTTP Basic and in the body."""
    client = tenant.client
    if not client.secret:
        return absent(NO_SECRET)
    flow = await _code(tenant)
    if isinstance(flow, str):
        return blocked(flow)
    form = tenant.exchange(flow, client_id=client.id, client_secret=client.secret)
    both = Client(client.id, client.secret, "client_secret_basic")
    return ClientRequestObserved(await tenant.http.token(form, both), _CLIENT)


@SCENES.scene
async def client_credentials_alone(tenant: Tenant) -> ClientRequestObserved:
    """The client credentials grant without credentials."""
    if (left := left_out(tenant, "client_credentials")) is not None:
        return left
    form = {"grant_type": "client_credentials", "client_id": tenant.client.id}
    return ClientRequestObserved(await tenant.http.token(form), _CLIENT | {"unsupported_grant_type"})


async def refreshable(tenant: Tenant) -> Issued | ClientRequestObserved:
    """Return new tokens with a refresh token, or what says that there are none."""
    if (left := left_out(tenant, "refresh")) is not None:
        return left
    sound = await tenant.sound()
    if sound.why_no_token:
        return blocked(sound.why_no_token)
    if sound.issued is None or not sound.issued.refresh_token:
        return absent(NO_REFRESH_TOKEN)
    flow = await tenant.flow(note="a flow of its own")
    if flow.issued is None or not flow.issued.refresh_token:
        return blocked(flow.why_no_token or "this time no refresh token was issued")
    return flow.issued


async def refreshing(tenant: Tenant) -> Issued | ClientRequestObserved:
    """Return new tokens with a refresh token, where an untouched refresh token gets a token."""
    untouched = await refreshable(tenant)
    if isinstance(untouched, ClientRequestObserved):
        return untouched
    if not (await tenant.refresh(untouched.refresh_token, note="an untouched refresh token")).token:
        return blocked("an untouched refresh token gets no token either; refresh-accepted reports it")
    return await refreshable(tenant)


@SCENES.scene
async def refresh_unknown(tenant: Tenant) -> ClientRequestObserved:
    """A refresh token that nobody issued."""
    if (left := left_out(tenant, "refresh")) is not None:
        return left
    sound = await tenant.sound()
    if sound.issued is None or not sound.issued.refresh_token:
        return absent(NO_REFRESH_TOKEN) if sound.issued is not None else blocked(sound.why_no_token)
    return ClientRequestObserved(await tenant.refresh(UNKNOWN), _GRANT)


@SCENES.scene
async def refresh_reused(tenant: Tenant) -> ClientRequestObserved:
    """A refresh token of a public client that was used before."""
    if tenant.client.secret:
        return absent("the client has a secret, and needs no rotation")
    given = await refreshable(tenant)
    if isinstance(given, ClientRequestObserved):
        return given
    first = await tenant.refresh(given.refresh_token, note="the first use of a refresh token")
    if not first.token:
        return blocked("the first use of the refresh token got no token; refresh-accepted reports it")
    again = await tenant.refresh(given.refresh_token, note="the same refresh token again")
    later = None
    if first.refresh_token and first.refresh_token != given.refresh_token:
        later = await tenant.refresh(first.refresh_token, note="the refresh token that replaced it")
    return ClientRequestObserved(again, _GRANT, later=later)


@SCENES.scene
async def refresh_wider_scope(tenant: Tenant) -> ClientRequestObserved:
    """A refresh token with a scope that was never granted."""
    given = await refreshable(tenant)
    if isinstance(given, ClientRequestObserved):
        return given
    scope = " ".join((*tenant.provider.scopes, UNKNOWN_SCOPE))
    return ClientRequestObserved(await tenant.refresh(given.refresh_token, scope=scope), frozenset({"invalid_scope"}))


@SCENES.scene
async def refresh_foreign_resource(tenant: Tenant) -> ClientRequestObserved:
    """A refresh token with a resource that nobody knows."""
    given = await refreshable(tenant)
    if isinstance(given, ClientRequestObserved):
        return given
    issued = await tenant.refresh(given.refresh_token, resource="https://mcp-auth-contract.invalid/mcp")
    return ClientRequestObserved(issued, frozenset({"invalid_target", "invalid_request", "invalid_grant"}))


@SCENES.scene
async def refresh_of_other_client(tenant: Tenant) -> ClientRequestObserved:
    """A refresh token that was issued to another client."""
    if tenant.other_client is None:
        return absent(NO_OTHER_CLIENT)
    given = await refreshable(tenant)
    if isinstance(given, ClientRequestObserved):
        return given
    return ClientRequestObserved(await tenant.refresh(given.refresh_token, tenant.other_client), _OTHERS)
