"""The eight tools, and the two of the View: what they are called with, which scopes they need, what they answer."""

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.records import Invoice, Ledger, Way

READ = "invoices:read"
WRITE = "invoices:write"
EXPORT = "invoices:export"

_PAGE = 1


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `arguments` maps each argument to its JSON type; those not in `optional` are required.

    `results` does so for the members of its structured result, where it promises any; `meta` is its `_meta`.
    """

    name: str
    description: str
    scopes: frozenset[str]
    run: Callable[[Ledger, Principal, Mapping[str, Any]], dict[str, Any]]
    arguments: Mapping[str, str]
    optional: Set[str] = frozenset()
    read_only: bool = True
    results: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Return the tool's entry in tools/list."""
        hints = (("readOnlyHint", self.read_only), ("destructiveHint", not self.read_only), ("openWorldHint", False))
        properties = {name: {"type": kind} for name, kind in self.arguments.items()}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required := sorted(self.arguments.keys() - self.optional):
            schema["required"] = required
        entry = {"name": self.name, "description": self.description, "inputSchema": schema, "annotations": dict(hints)}
        if self.results:
            told = {name: {"type": kind} for name, kind in self.results.items()}
            entry["outputSchema"] = {"type": "object", "properties": told, "required": sorted(told)}
        return {**entry, "_meta": dict(self.meta)} if self.meta else entry

    def accepts(self, arguments: object) -> bool:
        """Whether the arguments have the types that the schema names."""
        if not isinstance(arguments, dict) or not self.arguments.keys() - self.optional <= arguments.keys():
            return False
        return all(_has_type(arguments[name], kind) for name, kind in self.arguments.items() if name in arguments)


def _has_type(value: object, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool)


def invoice_json(invoice: Invoice) -> dict[str, Any]:
    """Return an invoice as clients see it."""
    return {name: getattr(invoice, name) for name in ("invoice_id", "owner", "tenant", "amount", "note")}


def _result(structured: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": json.dumps(structured) if text is None else text}],
        "structuredContent": structured,
        "isError": False,
    }


def tool_error(text: str) -> dict[str, Any]:
    """Return a tool result that says what went wrong."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


TOOLS: dict[str, Tool] = {}
"""The tools by name."""

VIEW_TOOLS: dict[str, Tool] = {}
"""The tools of the View by name, on a server that has one."""

_ID = {"invoice_id": "string"}
_Run: TypeAlias = Callable[[Ledger, Principal, Mapping[str, Any]], dict[str, Any]]


def _tool(
    scopes: set[str], arguments: Mapping[str, str], *, among: dict[str, Tool] = TOOLS, **more: Any
) -> Callable[[_Run], _Run]:
    """Make a tool of the decorated function, by its name and docstring."""

    def register(run: _Run) -> _Run:
        summary = (run.__doc__ or "").rstrip(".")
        among[run.__name__] = Tool(run.__name__, summary, frozenset(scopes), run, arguments, **more)
        return run

    return register


@_tool({READ}, {"cursor": "string"}, optional={"cursor"})
def list_invoices(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """List your invoices."""
    start = ledger.page_offset(principal, Way.LIST, arguments.get("cursor"))
    if start is None:
        return tool_error("the cursor is not valid")
    invoices = list(ledger.page_of(principal, arguments.get("cursor")))
    page = invoices[start : start + _PAGE]
    listed: dict[str, Any] = {"invoices": [invoice_json(one) for one in page]}
    if start + _PAGE < len(invoices):
        listed["nextCursor"] = ledger.page_token(principal, Way.LIST, start + _PAGE)
    return _result(listed)


@_tool({READ}, _ID)
def get_invoice(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read one of your invoices."""
    found = ledger.find(principal, arguments["invoice_id"], Way.GET)
    return _result(invoice_json(found)) if found else tool_error("not found")


@_tool({READ}, {"query": "string"})
def search_invoices(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Search your invoices."""
    return _result({"invoices": [invoice_json(one) for one in ledger.search(principal, arguments["query"])]})


@_tool({READ}, {})
def whoami(_ledger: Ledger, principal: Principal, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Say whom the token stands for."""
    return _result({"subject": principal.subject, "tenant": principal.tenant, "scopes": sorted(principal.scopes)})


EXPORT_SCHEME = "export://"


@_tool({EXPORT}, {"export_id": "string", "format": "string"}, optional={"export_id", "format"})
def export_invoices(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Export your invoices as CSV, or as a link, or read an export again by its id."""
    if "export_id" in arguments:
        found = ledger.exports.find(principal, arguments["export_id"])
        return tool_error("not found") if found is None else _result({"csv": found}, found)
    rows = [f"{one.invoice_id},{one.amount},{one.note}" for one in ledger.visible(principal, Way.EXPORT)]
    text = "\n".join(("invoice_id,amount,note", *rows))
    kept = ledger.exports.keep(principal, text)
    if arguments.get("format") == "link":
        uri = f"{EXPORT_SCHEME}{kept}"
        link = {"type": "resource_link", "uri": uri, "name": "export", "mimeType": "text/csv"}
        return {"content": [link], "structuredContent": {"uri": uri}, "isError": False}
    return _result({"csv": text, "export_id": kept}, text)


@_tool(
    {WRITE}, {**_ID, "amount": "integer", "idempotency_key": "string"}, optional={"idempotency_key"}, read_only=False
)
def update_invoice(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Change the amount of one of your invoices."""
    changed = ledger.update(principal, arguments["invoice_id"], arguments["amount"], arguments.get("idempotency_key"))
    return _result(invoice_json(changed)) if changed else tool_error("not found")


@_tool({READ, WRITE}, _ID, read_only=False)
def approve_invoice(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read one of your invoices and approve it."""
    found = ledger.find(principal, arguments["invoice_id"], Way.UPDATE)
    return _result({**invoice_json(found), "approved": True}) if found else tool_error("not found")


@_tool(set(), {})
def list_currencies(_ledger: Ledger, _principal: Principal, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    """List the currencies of invoices."""
    return _result({"currencies": ["CHF", "EUR", "USD"]})


VIEW = "ui://invoices/invoice.html"
"""The resource of the View."""

_INVOICE = {"invoice_id": "string", "owner": "string", "tenant": "string", "amount": "integer", "note": "string"}
_SHOWS = {
    "ui": {"resourceUri": VIEW, "visibility": ["model", "app"]},
    "ui/resourceUri": VIEW,
    "openai/outputTemplate": VIEW,
    "openai/widgetAccessible": True,
    "openai/visibility": "public",
}
_OF_VIEW = {"ui": {"visibility": ["app"]}, "openai/widgetAccessible": True, "openai/visibility": "private"}


def _shown(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    found = ledger.find(principal, arguments["invoice_id"], Way.GET)
    if found is None:
        return tool_error("not found")
    text = f"Invoice {found.invoice_id} of {found.owner} over {found.amount}: {found.note}"
    return {**_result(invoice_json(found), text), "_meta": {"opened": f"{found.tenant}/{found.invoice_id}"}}


@_tool({READ}, _ID, among=VIEW_TOOLS, results=_INVOICE, meta=_SHOWS)
def show_invoice(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Show one of your invoices."""
    return _shown(ledger, principal, arguments)


@_tool({READ}, _ID, among=VIEW_TOOLS, results=_INVOICE, meta=_OF_VIEW)
def refresh_invoice(ledger: Ledger, principal: Principal, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read the invoice again that the View shows."""
    return _shown(ledger, principal, arguments)


def call_tool(tool: Tool, ledger: Ledger, principal: Principal, arguments: object) -> dict[str, Any]:
    """Run a tool for a caller who may; wrong arguments are a tool execution error."""
    given = {} if arguments is None else arguments
    if not isinstance(given, dict) or not tool.accepts(given):
        return tool_error(f"wrong arguments for {tool.name}")
    return tool.run(ledger, principal, given)
