"""A protected MCP server on the official Python SDK, its tokens verified with PyJWT.

Environment: PORT to listen on, ISSUER and JWKS_URI of the authorization server, RESOURCE as the audience.
"""

import asyncio
import os
from typing import Any

import invoices
import jwt
from invoices import Account, Invoice
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

ISSUER = os.environ["ISSUER"]
RESOURCE = os.environ["RESOURCE"]


class JwtVerifier(TokenVerifier):
    """Accepts the JWT access tokens that one issuer made for this server."""

    def __init__(self, issuer: str, audience: str, jwks_uri: str) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = jwt.PyJWKClient(jwks_uri)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a token grants, or None if it is not to be trusted."""
        try:
            # PyJWKClient reads the key set with blocking calls.
            claims = await asyncio.to_thread(self._claims, token)
        except jwt.PyJWTError:
            return None
        subject, tenant = claims["sub"], claims["tenant_id"]
        if not (subject and isinstance(tenant, str) and tenant):
            return None
        scope = claims.get("scope", "")
        return AccessToken(
            token=token,
            client_id=str(claims.get("client_id", subject)),
            scopes=scope.split() if isinstance(scope, str) else [],
            expires_at=int(claims["exp"]),
            resource=self._audience,
            subject=subject,
            claims=claims,
        )

    def _claims(self, token: str) -> dict[str, Any]:
        key = self._keys.get_signing_key_from_jwt(token)
        return jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            issuer=self._issuer,
            audience=self._audience,
            options={"require": ["exp", "iss", "aud", "sub", "tenant_id"]},
        )


server = MCPServer(
    "invoices",
    token_verifier=JwtVerifier(ISSUER, RESOURCE, os.environ["JWKS_URI"]),
    auth=AuthSettings(
        issuer_url=ISSUER,  # as text: AnyHttpUrl would end a bare origin with a slash that `iss` lacks
        resource_server_url=RESOURCE,
        required_scopes=["invoices:read"],
        validate_token_resource=False,  # JwtVerifier checks the audience
    ),
    log_level="ERROR",
)


def caller() -> Account:
    """Return who the current request's token speaks for."""
    token = get_access_token()
    if token is None or token.subject is None or token.claims is None:
        raise ToolError("Sign in first.")
    return Account(tenant=token.claims["tenant_id"], subject=token.subject)


def require(scope: str) -> None:
    """Refuse the call unless the current request's token has `scope`."""
    token = get_access_token()
    if token is None or scope not in token.scopes:
        raise ToolError(f"This needs the scope {scope}.")


@server.tool()
def list_invoices() -> list[Invoice]:
    """List your invoices."""
    require("invoices:read")
    return invoices.of(caller())


@server.tool()
def get_invoice(invoice_id: str) -> Invoice:
    """Show one of your invoices."""
    require("invoices:read")
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise ToolError("There is no such invoice.")
    return invoice


@server.tool()
def search_invoices(query: str) -> list[Invoice]:
    """Search your invoices by number or memo."""
    require("invoices:read")
    return invoices.search(caller(), query)


@server.tool()
def export_invoices() -> str:
    """Export your invoices as CSV."""
    require("invoices:export")
    rows = [f"{row.invoice_id},{row.amount},{row.memo}" for row in invoices.of(caller())]
    return "\n".join(["invoice_id,amount,memo", *rows])


@server.tool()
def update_invoice(invoice_id: str, amount: int) -> Invoice:
    """Set the amount, in cents, of one of your invoices."""
    require("invoices:write")
    invoice = invoices.update(caller(), invoice_id, amount)
    if invoice is None:
        raise ToolError("There is no such invoice.")
    return invoice


@server.tool()
def whoami() -> dict[str, str]:
    """Say who you are signed in as."""
    account = caller()
    return {"subject": account.subject, "tenant": account.tenant}


@server.resource("invoice://{invoice_id}", mime_type="text/plain")
def invoice_text(invoice_id: str) -> str:
    """One of your invoices as text."""
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise ResourceNotFoundError("There is no such invoice.")
    return f"{invoice.invoice_id}: {invoice.amount} ({invoice.memo})"


@server.prompt()
def summarise_invoice(invoice_id: str) -> str:
    """Summarise one of your invoices."""
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise MCPError(code=INVALID_PARAMS, message="There is no such invoice.")
    return f"Summarise invoice {invoice.invoice_id} over {invoice.amount} cents: {invoice.memo}"


if __name__ == "__main__":
    server.run("streamable-http", port=int(os.environ["PORT"]))
