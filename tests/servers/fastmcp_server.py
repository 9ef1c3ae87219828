"""A protected MCP server on FastMCP, its tokens verified with FastMCP's own JWTVerifier.

Environment: PORT to listen on, ISSUER and JWKS_URI of the authorization server, RESOURCE as the audience.
"""

import os

import invoices
from fastmcp import FastMCP
from fastmcp.exceptions import PromptError, ResourceError, ToolError
from fastmcp.server.auth import RemoteAuthProvider, require_scopes
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token
from invoices import Account, Invoice
from pydantic import AnyHttpUrl

RESOURCE = os.environ["RESOURCE"]

server = FastMCP(
    "invoices",
    auth=RemoteAuthProvider(
        token_verifier=JWTVerifier(
            jwks_uri=os.environ["JWKS_URI"],
            issuer=os.environ["ISSUER"],
            audience=RESOURCE,
        ),
        authorization_servers=[AnyHttpUrl(os.environ["ISSUER"])],
        base_url=RESOURCE.removesuffix("/mcp"),
        scopes_supported=["invoices:read", "invoices:export", "invoices:write"],
        required_scopes=["invoices:read"],
    ),
)


def caller() -> Account:
    """Return who the current request's token speaks for."""
    token = get_access_token()
    if token is None:
        raise ToolError("Sign in first.")
    subject, tenant = token.claims.get("sub"), token.claims.get("tenant_id")
    if not (isinstance(subject, str) and subject and isinstance(tenant, str) and tenant):
        raise ToolError("This token names no user of a tenant.")
    return Account(tenant=tenant, subject=subject)


@server.tool(auth=require_scopes("invoices:read"))
def list_invoices() -> list[Invoice]:
    """List your invoices."""
    return invoices.of(caller())


@server.tool(auth=require_scopes("invoices:read"))
def get_invoice(invoice_id: str) -> Invoice:
    """Show one of your invoices."""
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise ToolError("There is no such invoice.")
    return invoice


@server.tool(auth=require_scopes("invoices:read"))
def search_invoices(query: str) -> list[Invoice]:
    """Search your invoices by number or memo."""
    return invoices.search(caller(), query)


@server.tool(auth=require_scopes("invoices:export"))
def export_invoices() -> str:
    """Export your invoices as CSV."""
    rows = [f"{row.invoice_id},{row.amount},{row.memo}" for row in invoices.of(caller())]
    return "\n".join(["invoice_id,amount,memo", *rows])


@server.tool(auth=require_scopes("invoices:write"))
def update_invoice(invoice_id: str, amount: int) -> Invoice:
    """Set the amount, in cents, of one of your invoices."""
    invoice = invoices.update(caller(), invoice_id, amount)
    if invoice is None:
        raise ToolError("There is no such invoice.")
    return invoice


@server.tool
def whoami() -> dict[str, str]:
    """Say who you are signed in as."""
    account = caller()
    return {"subject": account.subject, "tenant": account.tenant}


@server.resource("invoice://{invoice_id}", mime_type="text/plain", auth=require_scopes("invoices:read"))
def invoice_text(invoice_id: str) -> str:
    """One of your invoices as text."""
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise ResourceError("There is no such invoice.")
    return f"{invoice.invoice_id}: {invoice.amount} ({invoice.memo})"


@server.prompt(auth=require_scopes("invoices:read"))
def summarise_invoice(invoice_id: str) -> str:
    """Summarise one of your invoices."""
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise PromptError("There is no such invoice.")
    return f"Summarise invoice {invoice.invoice_id} over {invoice.amount} cents: {invoice.memo}"


if __name__ == "__main__":
    server.run(transport="http", port=int(os.environ["PORT"]), show_banner=False, log_level="ERROR")
