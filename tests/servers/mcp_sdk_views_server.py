"""The invoice server on the official Python SDK with a View."""

from pathlib import Path

import invoices
from invoices import Invoice
from mcp.server.mcpserver.exceptions import ToolError
from mcp_sdk_server import caller, require, server

import mcp_auth_contract_lab

VIEW = "ui://invoices/invoice.html"


@server.tool(meta={"ui": {"resourceUri": VIEW}})
def show_invoice(invoice_id: str) -> Invoice:
    """Show one of your invoices."""
    require("invoices:read")
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise ToolError("There is no such invoice.")
    return invoice


@server.tool(meta={"ui": {"visibility": ["app"]}})
def refresh_invoice(invoice_id: str) -> Invoice:
    """Read the invoice of the View again."""
    return show_invoice(invoice_id)


@server.resource(
    VIEW,
    mime_type="text/html;profile=mcp-app",
    meta={"ui": {"csp": {"resourceDomains": ["https://assets.example.com"]}}},
)
def view() -> str:
    """The View of an invoice."""
    return (Path(mcp_auth_contract_lab.__file__).parent / "view.html").read_text("utf-8")
