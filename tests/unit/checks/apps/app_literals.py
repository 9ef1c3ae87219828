"""A View as the kit observes it, and with one thing changed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.unit.checks.literals import answer, facts, result

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.apps.observation import (
    BARE,
    PLAIN,
    SHOWING,
    AppTool,
    AppToolsObserved,
    Content,
    Listed,
    Reader,
    ToolAnswer,
    ViewObserved,
    ViewReadersObserved,
)
from mcp_auth_contract.checks.facts import AppsFacts, Facts

URI = "ui://invoices/view.html"
MIME_TYPE = "text/html;profile=mcp-app"
DOCUMENT = "<!doctype html>\n<html><head><title>Invoice</title></head><body></body></html>"
UI: Mapping[str, Any] = {"csp": {"connectDomains": ["https://api.example.com"]}}
TOLD = {"amount": 120}
SCHEMA = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
APPS = AppsFacts(
    csp={"connectDomains": frozenset({"https://api.example.com"}), "resourceDomains": frozenset()},
    permissions=frozenset(),
    visibility={"show": frozenset({"model", "app"}), "refresh": frozenset({"app"})},
    private=("/_meta/opened",),
)


def here(**changes: Any) -> Facts:
    """The ground truth of a contract with a View."""
    return facts(apps=replace(APPS, **changes))


def attempt(said: Answer, way: str = "") -> Attempt:
    """An answer as the attempt that brought it."""
    return Attempt(way, "call", said, read(said))


def called(way: str = SHOWING, said: Answer | None = None, leaked: tuple[str, ...] = (), **members: Any) -> ToolAnswer:
    """A call of the View's tool; members of its result replaced."""
    sound = {"content": [{"type": "text", "text": "120"}], "structuredContent": TOLD, "_meta": {"opened": "t1/INV-1"}}
    return ToolAnswer("show", way, attempt(result(**{**sound, **members}) if said is None else said, way), leaked)


def meta(ui: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A member `_meta`, with `_meta.ui`."""
    return {"_meta": {**({} if ui is None else {"ui": dict(ui)}), **more}}


SHOWS = meta({"resourceUri": URI, "visibility": ["model", "app"]})


def tool(**changes: Any) -> Listed:
    """The entry of the View's tool."""
    return Listed({"name": "show", "outputSchema": SCHEMA, **SHOWS, **changes})


def content(document: str | None = DOCUMENT, items: int = 1, fault: str = "", **changes: Any) -> Content:
    """The item of the View in the contents."""
    return Content({"uri": URI, "mimeType": MIME_TYPE, **meta(UI), **changes}, items, document, fault)


def view(**changes: Any) -> ViewObserved:
    """A sound View."""
    sound: dict[str, Any] = {
        "tool": "show",
        "listed": tool(),
        "uri": URI,
        "resource": Listed({"uri": URI, "mimeType": MIME_TYPE, **meta(UI)}),
        "read": attempt(result(contents=[])),
        "content": content(),
        "called": (called(), called(PLAIN), called(BARE, said=refused())),
    }
    return ViewObserved(**{**sound, **changes})


def refused(text: str = "the invoice is missing") -> Answer:
    """A result that says what went wrong."""
    return result(isError=True, content=[{"type": "text", "text": text}])


OWN = (("alice", frozenset({"alice", "alice-canary"})), ("bob", frozenset({"bob", "bob-canary"})))


def reader(name: str, said: Answer | None = None, **changes: Any) -> Reader:
    """What a caller got."""
    answered = attempt(result(contents=[]) if said is None else said, f"as {name}")
    return replace(Reader(name, answered, DOCUMENT), **changes)


def readers(*seen: Reader, **changes: Any) -> ViewReadersObserved:
    """A View as two users and nobody get it."""
    sound = (reader("alice"), reader("bob"), reader("", answer(401)))
    return replace(ViewReadersObserved("show", URI, seen or sound, OWN), **changes)


def app_tool(plain: Answer | None = None, apps: Answer | None = None, **changes: Any) -> AppTool:
    """A tool for Views alone, refused without a token."""
    tried = [attempt(answer(401) if one is None else one, "without a token") for one in (plain, apps)]
    return replace(AppTool("refresh", True, True, (tried[0],), (tried[1],), called()), **changes)


VISIBLE = (("show", ["model", "app"]), ("refresh", ["app"]))


def app_tools(*tools: AppTool, **changes: Any) -> AppToolsObserved:
    """The tools of Views."""
    return replace(AppToolsObserved(tools or (app_tool(),), VISIBLE), **changes)


_SNAKE = {"csp": {"connect_domains": ["https://api.example.com"]}}

FAILING_VIEWS: Mapping[str, tuple[Any, Facts]] = {
    "app_resource_resolves": (view(uri="", read=None, listed=Listed({"name": "show"})), here()),
    "app_resource_uri_scheme": (view(listed=tool(**meta({"resourceUri": "https://x.example"}))), here()),
    "app_resource_mime_type": (view(content=content(mimeType="text/html")), here()),
    "app_resource_one_body": (view(content=content(None, fault="both text and blob")), here()),
    "app_resource_html_document": (view(content=content("<div>Invoice</div>")), here()),
    "app_metadata_form": (view(content=content(**meta({"prefersBorder": "yes"}))), here()),
    "app_csp_origins_form": (view(content=content(**meta(_SNAKE))), here()),
    "app_csp_as_declared": (view(content=content(**meta({"csp": {}, "domain": "x"}))), here()),
    "app_permissions_as_declared": (view(content=content(**meta({"permissions": {"camera": {}}}))), here()),
    "app_visibility_as_declared": (app_tools(visible=(("show", None), ("refresh", None))), here()),
    "app_listing_agrees": (view(content=content(**meta({"csp": {}}))), here()),
    "app_pointer_nested": (view(listed=tool(**meta(None, **{"ui/resourceUri": URI}))), here()),
    "app_aliases_agree": (view(listed=tool(**meta(SHOWS["_meta"]["ui"], **{"openai/visibility": "private"}))), here()),
    "app_fallback_text": (view(called=(called(content=[]),)), here()),
    "app_plain_client_served": (view(called=(called(), called(PLAIN, content=[]))), here()),
    "app_output_schema_kept": (view(called=(called(structuredContent={"amount": "120"}),)), here()),
    "app_only_tool_gated": (app_tools(app_tool(plain=result())), here()),
    "app_capability_lends_nothing": (app_tools(app_tool(apps=result())), here()),
    "app_resource_public_static": (
        readers(reader("alice"), reader("", canaries=(("INV-1", "the body", False),))),
        here(),
    ),
    "app_resource_no_canary": (
        readers(reader("alice"), reader("bob", canaries=(("INV-1", "the body", False),))),
        here(),
    ),
    "app_resource_same_for_all": (
        readers(reader("alice", names=frozenset({"alice"}), document="alice"), reader("bob")),
        here(),
    ),
    "app_resource_no_token": (view(leaked=("token-good#12345678",)), here()),
    "app_result_no_token": (app_tools(app_tool(good=called(leaked=("token-good#12345678",)))), here()),
    "app_result_private_apart": (view(called=(called(content=[{"type": "text", "text": "t1/INV-1"}]),)), here()),
}
