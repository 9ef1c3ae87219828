"""Revocation (RFC 7009) and introspection (RFC 7662)."""

from mcp_auth_contract.checks.grants.observation import ClientRequestObserved
from mcp_auth_contract.checks.grants.refusals import refreshing
from mcp_auth_contract.checks.grants.scenes import (
    NO_OTHER_CLIENT,
    NO_SECRET,
    UNKNOWN,
    Scenes,
    absent,
    blocked,
    left_out,
)
from mcp_auth_contract.provider.tenant import Tenant

SCENES = Scenes()
"""By their names in the catalogue."""


@SCENES.scene
async def revoked_refresh_token(tenant: Tenant) -> ClientRequestObserved:
    """A refresh token that was revoked."""
    if (left := left_out(tenant, "revocation")) is not None:
        return left
    given = await refreshing(tenant)
    if isinstance(given, ClientRequestObserved):
        return given
    await tenant.http.post("revocation", {"token": given.refresh_token}, tenant.client, note="revocation")
    used = await tenant.refresh(given.refresh_token, note="the revoked refresh token")
    return ClientRequestObserved(used, frozenset({"invalid_grant"}))


@SCENES.scene
async def revocation_of_unknown_token(tenant: Tenant) -> ClientRequestObserved:
    """The revocation of a token that nobody issued."""
    if (left := left_out(tenant, "revocation")) is not None:
        return left
    return ClientRequestObserved(await tenant.http.post("revocation", {"token": UNKNOWN}, tenant.client))


@SCENES.scene
async def revocation_without_token(tenant: Tenant) -> ClientRequestObserved:
    """A revocation without a token."""
    if (left := left_out(tenant, "revocation")) is not None:
        return left
    form = {"token_type_hint": "refresh_token"}
    return ClientRequestObserved(
        await tenant.http.post("revocation", form, tenant.client), frozenset({"invalid_request"})
    )


@SCENES.scene
async def revoked_by_other_client(tenant: Tenant) -> ClientRequestObserved:
    """A refresh token that another client tried to revoke."""
    if (left := left_out(tenant, "revocation")) is not None:
        return left
    if tenant.other_client is None:
        return absent(NO_OTHER_CLIENT)
    given = await refreshing(tenant)
    if isinstance(given, ClientRequestObserved):
        return given
    await tenant.http.post("revocation", {"token": given.refresh_token}, tenant.other_client, note="another client")
    return ClientRequestObserved(await tenant.refresh(given.refresh_token, note="is it still good?"))


@SCENES.scene
async def introspection_by_strangers(tenant: Tenant) -> ClientRequestObserved:
    """The introspection of a good token without authentication."""
    if (left := left_out(tenant, "introspection")) is not None:
        return left
    flow = await tenant.sound()
    if flow.issued is None or not flow.issued.token:
        return blocked(flow.why_no_token)
    return ClientRequestObserved(await tenant.http.post("introspection", {"token": flow.issued.token}))


@SCENES.scene
async def introspection_of_unknown_token(tenant: Tenant) -> ClientRequestObserved:
    """The introspection of a token that nobody issued."""
    if (left := left_out(tenant, "introspection")) is not None:
        return left
    if not tenant.client.secret:
        return absent(NO_SECRET)
    return ClientRequestObserved(await tenant.http.post("introspection", {"token": UNKNOWN}, tenant.client))


@SCENES.scene
async def introspection_after_revocation(tenant: Tenant) -> ClientRequestObserved:
    """The introspection of an access token that was revoked."""
    for name in ("revocation", "introspection"):
        if (left := left_out(tenant, name)) is not None:
            return left
    if not tenant.client.secret:
        return absent(NO_SECRET)
    flow = await tenant.flow(note="a token to revoke")
    if flow.issued is None or not flow.issued.token:
        return blocked(flow.why_no_token)
    token = {"token": flow.issued.token}
    before = await tenant.http.post("introspection", token, tenant.client, note="before it is revoked")
    if (before.document or {}).get("active") is not True:
        return absent("this client may not introspect its access tokens")
    revoked = await tenant.http.post("revocation", token, tenant.client, note="revocation")
    if revoked.error == "unsupported_token_type":
        return absent("access tokens cannot be revoked, which RFC 7009 allows")
    return ClientRequestObserved(await tenant.http.post("introspection", token, tenant.client, note="revoked"))
