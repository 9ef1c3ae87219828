"""Faults of a server whose tools show a View: what it says of the View, what reaches it, and what opens through it."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing
from mcp_auth_contract_lab.incoming import Incoming, parse_json
from mcp_auth_contract_lab.principal import ANONYMOUS, Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.protocol import META_CAPABILITIES, meta_of
from mcp_auth_contract_lab.records import first_invoices
from mcp_auth_contract_lab.scopes import Operation, required_scopes
from mcp_auth_contract_lab.steps import DEFAULT_USER, intercepting, vouched
from mcp_auth_contract_lab.tools import VIEW, Tool
from mcp_auth_contract_lab.views import DOCUMENT, shows_views

FAULTS = Faults(Profile.VIEWS)

_Entry = dict[str, Any]
_OTHER = "ui://invoices/other.html"
_SHOWS, _REFRESHES = "show_invoice", "refresh_invoice"


def _described(edit: Callable[[_Entry], _Entry], name: str = _SHOWS) -> Change:
    """Say something else in the `_meta` of a tool."""

    def described(tool: Tool) -> _Entry:
        entry = tool.describe()
        return {**entry, "_meta": edit(entry["_meta"])} if tool.name == name else entry

    return changing("views", described=described)


def _pointing(nested: str | None = VIEW, flat: str = VIEW, alias: str = VIEW) -> Change:
    def edit(meta: _Entry) -> _Entry:
        ui = {key: value for key, value in meta["ui"].items() if key != "resourceUri"}
        own = ui if nested is None else {**ui, "resourceUri": nested}
        return {**meta, "ui": own, "ui/resourceUri": flat, "openai/outputTemplate": alias}

    return _described(edit)


def _said(edit: Callable[[_Entry], _Entry]) -> Change:
    """Say something else of the resource, in the list and in the contents."""

    def listed(entry: _Entry) -> _Entry:
        return {**entry, "_meta": edit(dict(entry["_meta"]))}

    return changing("views", listed=listed, read=lambda item: [listed(item)])


def _ui(**members: object) -> Change:
    return _said(lambda meta: {**meta, "ui": {**meta["ui"], **members}})


def _csp(**members: list[str]) -> Change:
    return _said(lambda meta: {**meta, "ui": {**meta["ui"], "csp": {**meta["ui"]["csp"], **members}}})


def _item(edit: Callable[[_Entry], _Entry]) -> Change:
    return changing("views", read=lambda item: [edit(item)])


def _answered(when: Callable[[_Entry, bool], bool], edit: Callable[[_Entry], _Entry]) -> Change:
    """Give another result where the condition on it, and on whether the client shows Views, holds."""

    def answered(_by: Principal, _tool: str, result: _Entry, apps: bool) -> _Entry:
        return edit(result) if when(result, apps) else result

    return changing("views", answered=answered)


def _without_text(result: _Entry) -> _Entry:
    return {**result, "content": []}


def _structured(**members: object) -> Callable[[_Entry], _Entry]:
    return lambda result: {**result, "structuredContent": {**result["structuredContent"], **members}}


def _ran(result: _Entry, _apps: bool) -> bool:
    return not result.get("isError")


def _private_told(result: _Entry) -> _Entry:
    return _structured(opened=result["_meta"]["opened"])(result)


FAULTS.rows(
    ("view-pointer-stale", "The tool leads to a View that was there once.", _pointing(_OTHER, _OTHER, _OTHER)),
    ("view-of-another-scheme", "The View has a URI of a scheme of its own.",
     all_of(changing("views", uri="app://invoices/invoice.html"), _pointing(*3 * ("app://invoices/invoice.html",)))),
    ("view-as-plain-html", "The View is plain text/html.", _item(lambda item: {**item, "mimeType": "text/html"})),
    ("view-as-skybridge", "The View has the media type of an earlier SDK.",
     _item(lambda item: {**item, "mimeType": "text/html+skybridge"})),
    ("view-as-text-and-blob", "The View is sent as text and as a blob.",
     _item(lambda item: {**item, "blob": base64.b64encode(DOCUMENT.encode()).decode()})),
    ("view-as-fragment", "The View is a piece of HTML.",
     changing("views", document=lambda _principal: DOCUMENT.partition("<body>")[2])),
    ("view-metadata-malformed", "The border of the View is a word.", _ui(prefersBorder="yes")),
    ("view-csp-in-snake-case", "An origin of the View stands under connect_domains.",
     _csp(connect_domains=["https://api.example.com"])),
    ("view-csp-wildcard", "The View may be framed by everybody.", _csp(frameDomains=["*"])),
    ("view-csp-injects", "An entry of the View's origins ends the directive.",
     _csp(frameDomains=["https://maps.example.com; script-src *"])),
    ("view-csp-undeclared", "The View asks for an origin that nobody has reviewed.",
     _csp(frameDomains=["https://ads.example.com"])),
    ("view-permission-undeclared", "The View asks for the clipboard.", _ui(permissions={"clipboardWrite": {}})),
    ("view-helper-for-the-model", "The helper of the View is offered to the model.",
     _described(lambda meta: {**meta, "ui": {"visibility": ["model", "app"]}, "openai/visibility": "public"},
                _REFRESHES)),
    ("view-metadata-in-list-alone", "The contents of the View have no metadata.",
     _item(lambda item: {key: value for key, value in item.items() if key != "_meta"})),
    ("view-pointer-flat-alone", "The tool leads to its View by the deprecated key alone.", _pointing(nested=None)),
    ("view-pointer-flat-differs", "The deprecated key leads to another View.", _pointing(flat=_OTHER)),
    ("view-alias-template-drifts", "openai/outputTemplate leads to another View.", _pointing(alias=_OTHER)),
    ("view-alias-accessible-drifts", "openai/widgetAccessible denies what visibility allows.",
     _described(lambda meta: {**meta, "openai/widgetAccessible": False})),
    ("view-alias-visibility-drifts", "openai/visibility is private, while the model is offered the tool.",
     _described(lambda meta: {**meta, "openai/visibility": "private"})),
    ("view-alias-csp-drifts", "openai/widgetCSP has an origin more.",
     _said(lambda meta: {**meta, "openai/widgetCSP":
                         {**meta["openai/widgetCSP"], "connect_domains": ["https://api.example.com"]}})),
    ("view-alias-border-drifts", "openai/widgetPrefersBorder says the contrary.",
     _said(lambda meta: {**meta, "openai/widgetPrefersBorder": False})),
    ("view-result-without-text", "Clients that show Views get no text.",
     _answered(lambda result, apps: apps and not result.get("isError"), _without_text)),
    ("view-refusal-without-text", "A refused call of the View's tool has no text.",
     _answered(lambda result, _apps: bool(result.get("isError")), _without_text)),
    ("view-plain-client-without-text", "Clients that show no Views get no text.",
     _answered(lambda result, apps: not apps and not result.get("isError"), _without_text)),
    ("view-schema-broken", "The amount is a text, where the schema promises a number.",
     _answered(_ran, lambda result: _structured(amount=str(result["structuredContent"]["amount"]))(result))),
    ("view-private-told", "What is for the View alone is in structuredContent too.", _answered(_ran, _private_told)),
)  # fmt: skip


def _opened(when: Callable[[Lab, Incoming, Mapping[str, Any]], bool]) -> Change:
    """Let a caller without a token call the View's helper where the condition on the message holds."""

    async def vouching(lab: Lab, incoming: Incoming) -> Principal | None:
        message = await incoming.posted()
        named = rpc.params_of(message).get("name") if message.get("method") == "tools/call" else None
        open_to = named == _REFRESHES and incoming.header("authorization") is None
        return DEFAULT_USER if open_to and when(lab, incoming, message) else None

    return vouched(vouching)


def _says_apps(lab: Lab, incoming: Incoming, message: Mapping[str, Any]) -> bool:
    session = lab.sessions.peek(incoming.header("mcp-session-id"))
    return shows_views(meta_of(message).get(META_CAPABILITIES)) or (session is not None and session.apps)


def _unscoped(operation: Operation) -> frozenset[str]:
    return frozenset() if operation.name == _REFRESHES else required_scopes(operation)


FAULTS.rows(
    ("view-helper-open", "The helper of the View needs no token.", _opened(lambda _lab, _incoming, _message: True)),
    ("view-helper-unscoped", "The helper of the View needs no scope.", changing("scopes", required=_unscoped)),
    ("view-extension-opens", "Whoever declares the extension may call the helper of the View.", _opened(_says_apps)),
    ("view-mark-opens", "Whoever marks a call as the View's may call its helper.",
     _opened(lambda _lab, _incoming, message: "ui" in meta_of(message))),
    ("view-per-user", "The View is rendered for each user by name.",
     changing("views", document=lambda principal: DOCUMENT.replace("Loading", f"Invoices of {principal.subject}"))),
)  # fmt: skip


def _canary_of(principal: Principal) -> str:
    return next((one.note for one in first_invoices() if one.owner == principal.subject), "")


def _of_the_first_caller(behaviour: Behaviour) -> Behaviour:
    kept: list[str] = []

    def document(principal: Principal) -> str:
        if not kept:
            kept.append(DOCUMENT.replace("Loading", _canary_of(principal)))
        return kept[0]

    return replace(behaviour, views=replace(behaviour.views, document=document))


def _reads_the_view(message: Mapping[str, Any]) -> bool:
    return message.get("method") == "resources/read" and rpc.params_of(message).get("uri") == VIEW


def _open_with_a_record() -> Change:
    async def open_to_all(incoming: Incoming) -> bool:
        return _reads_the_view(await incoming.posted())

    def document(principal: Principal) -> str:
        return DOCUMENT.replace("Loading", _canary_of(DEFAULT_USER)) if principal is ANONYMOUS else DOCUMENT

    def required(operation: Operation) -> frozenset[str]:
        return frozenset() if operation.name == VIEW else required_scopes(operation)

    return all_of(
        changing("endpoint", open_to_all=open_to_all),
        changing("views", document=document),
        changing("scopes", required=required),
    )


FAULTS.rows(
    ("view-of-the-first-caller", "The View is rendered with the data of whoever reads it first, and kept for all.",
     _of_the_first_caller),
    ("view-open-with-a-record", "The View needs no token, and shows strangers a record as an example.",
     _open_with_a_record()),
)  # fmt: skip


def _with_token(edit: Callable[[Mapping[str, Any], _Entry, str], _Entry]) -> Change:
    """Change the result of a request that came with a token."""

    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        message = await incoming.posted()
        token = (incoming.header("authorization") or "").removeprefix("Bearer ")
        if not token or incoming.header("origin"):
            return None
        response = await lab.guarded(incoming)
        body = parse_json(bytes(response.body)) if response.status_code == 200 and hasattr(response, "body") else None
        if not isinstance(body, dict) or not isinstance(body.get("result"), dict):
            return response
        result = edit(message, body["result"], token)
        if result is body["result"]:
            return response
        headers = {name: value for name, value in response.headers.items() if name == "mcp-session-id"}
        return rpc.rpc_response({**body, "result": result}, headers=headers)

    return intercepting(intercept=intercept)


@FAULTS.by(_with_token)
def view_with_token(message: Mapping[str, Any], result: _Entry, token: str) -> _Entry:
    """The View is rendered with the caller's token, for calls of its own."""
    if not _reads_the_view(message):
        return result
    (item,) = result["contents"]
    return {
        **result,
        "contents": [
            {**item, "text": item["text"].replace("<script>", f"<script>\nconst token = {json.dumps(token)}")}
        ],
    }


@FAULTS.by(_with_token)
def view_result_with_token(message: Mapping[str, Any], result: _Entry, token: str) -> _Entry:
    """The helper of the View hands out the caller's token."""
    helper = message.get("method") == "tools/call" and rpc.params_of(message).get("name") == _REFRESHES
    return {**result, "_meta": {"token": token}} if helper else result
