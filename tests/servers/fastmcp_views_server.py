"""The invoice server on FastMCP with a View, as its documentation shows one."""

from pathlib import Path

import invoices
from fastmcp.apps import AppConfig, ResourceCSP
from fastmcp.exceptions import ToolError
from fastmcp.server.auth import require_scopes
from fastmcp_server import caller, server
from invoices import Invoice

import mcp_auth_contract_lab

VIEW = "ui://invoices/invoice.html"


@server.tool(auth=require_scopes("invoices:read"), app=AppConfig(resource_uri=VIEW))
def show_invoice(invoice_id: str) -> Invoice:
    """Show one of your invoices."""
    invoice = invoices.find(caller(), invoice_id)
    if invoice is None:
        raise ToolError("There is no such invoice.")
    return invoice


@server.tool(auth=require_scopes("invoices:read"), app=AppConfig(visibility=["app"]))
def refresh_invoice(invoice_id: str) -> Invoice:
    """Read the invoice of the View again."""
    return show_invoice(invoice_id)


@server.resource(VIEW, app=AppConfig(csp=ResourceCSP(resource_domains=["https://assets.example.com"])))
def view() -> str:
    """The View of an invoice."""
    return (Path(mcp_auth_contract_lab.__file__).parent / "view.html").read_text("utf-8")
