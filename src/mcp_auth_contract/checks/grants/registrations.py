"""Dynamic client registration (RFC 7591); what is registered is deleted where the provider lets it (RFC 7592)."""

import json
from typing import Any

from mcp_auth_contract.checks.grants.observation import ClientRequestObserved
from mcp_auth_contract.checks.grants.scenes import Scenes, absent, left_out
from mcp_auth_contract.provider.tenant import Tenant

_REDIRECT = "http://127.0.0.1:8765/callback"
_REFUSED = frozenset({"invalid_redirect_uri", "invalid_client_metadata"})
_JSON = (("Content-Type", "application/json"), ("Accept", "application/json"))

SCENES = Scenes()
"""By their names in the catalogue."""


async def _registered(tenant: Tenant, expects: frozenset[str] = frozenset(), **changes: Any) -> ClientRequestObserved:
    if (left := left_out(tenant, "registration")) is not None:
        return left
    if not tenant.provider.writes:
        return absent("provider.writes is false, so no client is registered")
    document = {
        "client_name": "mcp-auth-contract (a test; may be deleted)",
        "redirect_uris": [_REDIRECT],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        **changes,
    }
    url = tenant.http.endpoint("registration")
    made = await tenant.http.send("POST", url, _JSON, json.dumps(document).encode(), note="registration")
    manage, token = made.text("registration_client_uri"), made.text("registration_access_token")
    if manage.startswith(("http://", "https://")) and token and tenant.http.is_own(manage):
        bearer = (("Authorization", f"Bearer {token}"),)
        await tenant.http.send("DELETE", manage, bearer, note="the registered client is deleted")
    if made.answer.status in (401, 403):
        return absent("registration needs an initial access token")
    return ClientRequestObserved(made, expects)


@SCENES.scene
async def public_client(tenant: Tenant) -> ClientRequestObserved:
    """A public client with a loopback redirect URI."""
    return await _registered(tenant)


@SCENES.scene
async def client_with_unknown_members(tenant: Tenant) -> ClientRequestObserved:
    """A public client with application_type, and with a member that does not exist."""
    return await _registered(tenant, application_type="native", mcp_auth_contract=True)


@SCENES.scene
async def client_with_secret(tenant: Tenant) -> ClientRequestObserved:
    """A client that wants a secret."""
    return await _registered(tenant, token_endpoint_auth_method="client_secret_basic")  # noqa: S106  a method


@SCENES.scene
async def script_redirect(tenant: Tenant) -> ClientRequestObserved:
    """A client with a javascript: redirect URI."""
    return await _registered(tenant, _REFUSED, redirect_uris=["javascript:alert(1)"])


@SCENES.scene
async def plain_http_redirect(tenant: Tenant) -> ClientRequestObserved:
    """A client with an http redirect URI that is not loopback."""
    return await _registered(tenant, _REFUSED, redirect_uris=["http://mcp-auth-contract.invalid/callback"])


@SCENES.scene
async def fragment_redirect(tenant: Tenant) -> ClientRequestObserved:
    """A client with a fragment in its redirect URI."""
    return await _registered(tenant, _REFUSED, redirect_uris=[f"{_REDIRECT}#more"])


@SCENES.scene
async def wrong_types(tenant: Tenant) -> ClientRequestObserved:
    """A client whose redirect URIs are a number."""
    return await _registered(tenant, _REFUSED, redirect_uris=7)
