"""The methods of MCP that this server answers, before an era dresses the results."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.records import Ledger, Way
from mcp_auth_contract_lab.states import States
from mcp_auth_contract_lab.tasks import TASK_TOOLS, Tasks, Use
from mcp_auth_contract_lab.tools import EXPORT_SCHEME, TOOLS, VIEW_TOOLS, Tool, call_tool, invoice_json
from mcp_auth_contract_lab.views import ViewRules

SERVER = {"name": "mcp-auth-contract lab", "version": "1"}
CAPABILITIES: Mapping[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}

DISCOVERY = frozenset({
    "initialize", "notifications/initialized", "ping", "tools/list", "resources/list",
    "resources/templates/list", "prompts/list", "server/discover",
})  # fmt: skip
"""The methods that tell nothing secret and use no primitive."""

_SCHEME = "invoice://"
_PROMPT = "summarise_invoice"
_ASKS, _QUESTION = "approve_invoice", "approval"
"""The tool that asks before it runs, where the client can be asked, and what it calls its question."""


def shown_if_allowed(principal: Principal, tool: Tool) -> bool:
    """A caller sees the tools that the token's scopes open."""
    return tool.scopes <= principal.scopes


@dataclass(frozen=True, slots=True)
class Client:
    """What may be asked of a client and told it besides results: input, and tasks (`core`: those of 2025-11-25).

    `must_answer` refuses to run what asks where the client cannot be asked; `apps` is a client that shows Views.
    """

    states: States | None = None
    must_answer: bool = False
    tasks: Tasks | None = None
    core: bool = False
    apps: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Steps: which tools a caller is shown and how they are described, and how many on a page (None: all)."""

    shown: Callable[[Principal, Tool], bool] = lambda _principal, _tool: True
    described: Callable[[Tool], dict[str, Any]] = Tool.describe
    page: int | None = None
    besides: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What a method works with. `not_found` is the error code for a resource that does not exist."""

    principal: Principal
    ledger: Ledger
    listing: Listing
    not_found: int
    client: Client
    views: ViewRules


def _tools_list(context: Context, params: Mapping[str, Any]) -> dict[str, Any]:
    listing = context.listing
    offered = (*TOOLS.values(), *(VIEW_TOOLS.values() if context.views.offered else ()), *listing.besides)
    tools = [_described(context, tool) for tool in offered if listing.shown(context.principal, tool)]
    start = context.ledger.page_offset(context.principal, "tools/list", params.get("cursor"))
    if start is None:
        raise rpc.Refused(rpc.INVALID_PARAMS, "the cursor is not valid")
    size = listing.page or len(tools)
    page: dict[str, Any] = {"tools": tools[start : start + size]}
    if start + size < len(tools):
        page["nextCursor"] = context.ledger.page_token(context.principal, "tools/list", start + size)
    return page


def _described(context: Context, tool: Tool) -> dict[str, Any]:
    of_view = tool.name in VIEW_TOOLS
    described = (context.views if of_view else context.listing).described(tool)
    taskable = context.client.core and tool.name in TASK_TOOLS
    return {**described, "execution": {"taskSupport": "optional"}} if taskable else described


def _tools_call(context: Context, params: Mapping[str, Any]) -> dict[str, Any]:
    name = params.get("name")
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None and context.views.offered and name in VIEW_TOOLS:
        result = call_tool(VIEW_TOOLS[name], context.ledger, context.principal, params.get("arguments"))
        return context.views.answered(context.principal, name, result, context.client.apps)
    if tool is None:
        raise rpc.Refused(rpc.INVALID_PARAMS, "no such tool")
    client, arguments, caller = context.client, params.get("arguments"), context.principal
    if client.must_answer and client.states is None and tool.name == _ASKS:
        needed: Mapping[str, Any] = {"requiredCapabilities": {"elicitation": {}}}
        raise rpc.Refused(rpc.MISSING_CAPABILITY, "the client has to answer a question", needed, 400)
    if client.states is not None and tool.name == _ASKS and tool.accepts(arguments):
        acting = _approved(client.states, caller, tool, params)
        if acting is None:
            return _asking(client.states, caller, tool, params)
        return call_tool(tool, context.ledger, acting, arguments)
    if client.tasks is not None and tool.name in TASK_TOOLS and (not client.core or "task" in params):
        work = partial(call_tool, tool, context.ledger, caller, arguments)
        return client.tasks.start(caller, work, core=client.core)
    return call_tool(tool, context.ledger, caller, arguments)


def _approved(states: States, caller: Principal, tool: Tool, params: Mapping[str, Any]) -> Principal | None:
    """Return who acts, where the client has answered; None where it has to be asked. Raises Refused for the rest."""
    if "requestState" not in params and "inputResponses" not in params:
        return None
    acting = states.take(caller, tool.name, params["arguments"], params.get("requestState"))
    if acting is None:
        raise rpc.Refused(rpc.INVALID_PARAMS, "the requestState is not valid here")
    answer = rpc.members_of(rpc.members_of(params.get("inputResponses")).get(_QUESTION))
    return acting if answer.get("action") == "accept" else None


def _asking(states: States, caller: Principal, tool: Tool, params: Mapping[str, Any]) -> dict[str, Any]:
    """Ask whether the call is meant (MCP 2026-07-28, multi round-trip requests)."""
    schema = {"type": "object", "properties": {"approve": {"type": "boolean"}}, "required": ["approve"]}
    asked = {"mode": "form", "message": "Approve the invoice?", "requestedSchema": schema}
    return {
        "resultType": "input_required",
        "inputRequests": {_QUESTION: {"method": "elicitation/create", "params": asked}},
        "requestState": states.give(caller, tool.name, params["arguments"]),
    }


def _resources_list(context: Context, _params: Mapping[str, Any]) -> dict[str, Any]:
    names = [one.invoice_id for one in context.ledger.visible(context.principal, Way.RESOURCES)]
    listed = [{"uri": _SCHEME + one, "name": one, "mimeType": "application/json"} for one in names]
    return {"resources": [*listed, context.views.entry()] if context.views.offered else listed}


def _resources_read(context: Context, params: Mapping[str, Any]) -> dict[str, Any]:
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise rpc.Refused(rpc.INVALID_PARAMS, "uri is missing")
    if context.views.offered and uri == context.views.uri:
        return {"contents": context.views.contents(context.principal)}
    if uri.startswith(EXPORT_SCHEME):
        kept = context.ledger.exports.find(context.principal, uri.removeprefix(EXPORT_SCHEME), by_uri=True)
        if kept is None:
            raise rpc.Refused(context.not_found, "resource not found")
        return {"contents": [{"uri": uri, "mimeType": "text/csv", "text": kept}]}
    invoice_id = uri.removeprefix(_SCHEME) if uri.startswith(_SCHEME) else ""
    found = context.ledger.find(context.principal, invoice_id, Way.RESOURCE)
    if found is None:
        raise rpc.Refused(context.not_found, "resource not found")
    text = json.dumps(invoice_json(found))
    return {"contents": [{"uri": uri, "mimeType": "application/json", "text": text}]}


def _prompts_get(context: Context, params: Mapping[str, Any]) -> dict[str, Any]:
    if params.get("name") != _PROMPT:
        raise rpc.Refused(rpc.INVALID_PARAMS, "no such prompt")
    invoice_id = rpc.members_of(params.get("arguments")).get("invoice_id")
    if not isinstance(invoice_id, str):
        raise rpc.Refused(rpc.INVALID_PARAMS, "invoice_id is missing")
    found = context.ledger.find(context.principal, invoice_id, Way.PROMPT)
    if found is None:
        raise rpc.Refused(rpc.INVALID_PARAMS, "invoice not found")
    text = f"Summarise this invoice: {json.dumps(invoice_json(found))}"
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": "Summarise an invoice", "messages": [message]}


def _complete(context: Context, params: Mapping[str, Any]) -> dict[str, Any]:
    reference, argument = params.get("ref"), params.get("argument")
    if not isinstance(reference, dict) or not isinstance(argument, dict):
        raise rpc.Refused(rpc.INVALID_PARAMS, "ref and argument are needed")
    if reference not in ({"type": "ref/prompt", "name": _PROMPT}, _TEMPLATE_REFERENCE):
        raise rpc.Refused(rpc.INVALID_PARAMS, "no such reference")
    begun = argument.get("value")
    begun = begun if isinstance(begun, str) else ""
    invoices = context.ledger.visible(context.principal, Way.COMPLETION)
    values = [one.invoice_id for one in invoices if one.invoice_id.startswith(begun)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


_TEMPLATE_REFERENCE = {"type": "ref/resource", "uri": _SCHEME + "{invoice_id}"}
_TEMPLATE = {"uriTemplate": _SCHEME + "{invoice_id}", "name": "invoice", "mimeType": "application/json"}
_PROMPT_DESCRIBED = {
    "name": _PROMPT,
    "description": "Summarise an invoice",
    "arguments": [{"name": "invoice_id", "description": "one of your invoices", "required": True}],
}
_METHODS: Mapping[str, Callable[[Context, Mapping[str, Any]], dict[str, Any]]] = {
    "tools/list": _tools_list,
    "tools/call": _tools_call,
    "resources/list": _resources_list,
    "resources/templates/list": lambda _context, _params: {"resourceTemplates": [_TEMPLATE]},
    "resources/read": _resources_read,
    "prompts/list": lambda _context, _params: {"prompts": [_PROMPT_DESCRIBED]},
    "prompts/get": _prompts_get,
    "completion/complete": _complete,
}


def perform(context: Context, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a method. Raises Refused, METHOD_NOT_FOUND for one that does not exist here."""
    client = context.client
    if client.tasks is not None and method in (tuple(Use) if client.core else (Use.GET, Use.CANCEL)):
        return client.tasks.answer(context.principal, Use(method), params, core=client.core)
    run = _METHODS.get(method)
    if run is None:
        raise rpc.Refused(rpc.METHOD_NOT_FOUND, "method not found")
    return run(context, params)
