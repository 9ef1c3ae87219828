"""Is a View what the extension and the contract say, and the same in every place that tells of it (MCP Apps)?"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Refusal, Refused, describe
from mcp_auth_contract.answers.answer import JsonObject
from mcp_auth_contract.checks.apps.observation import (
    FLAT,
    NESTED,
    OPENAI,
    PLAIN,
    SHOWING,
    AppToolsObserved,
    ToolAnswer,
    ViewObserved,
    meta_of,
    ui_of,
)
from mcp_auth_contract.checks.apps.schemas import Unevaluated, faults, metadata_schema
from mcp_auth_contract.checks.facts import AppsFacts, Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on, proves_nothing, verdict_of
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

MIME_TYPE = "text/html;profile=mcp-app"
_RESOLVES = "app-resource-resolves"
_BOTH = frozenset({"model", "app"})
_START = re.compile(r"(?is)\A\ufeff?(?:\s|<!--.{0,4000}?-->)*+(?:<!doctype\s+html|<html[\s>])")
_DOCTYPE = re.compile(r"(?i)<!doctype\s+html")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_CSP_KEYS = {
    "connectDomains": "connect_domains",
    "resourceDomains": "resource_domains",
    "frameDomains": "frame_domains",
    "baseUriDomains": "base_uri_domains",
}
"""The keys of a View's CSP, and how they are spelt elsewhere, where no host of MCP Apps reads them."""


def _pointed(observed: ViewObserved, _facts: Facts) -> ViewObserved | Verdict:
    """Take an observation whose tool leads to a View."""
    if observed.listed.entry is None and observed.listed.unread:
        return Inconclusive(f"tools/list: {observed.listed.unread}")
    return observed if observed.uri else Inconclusive.lacking(f"{observed.tool} leads to no View", _RESOLVES)


def _read(observed: ViewObserved, facts: Facts) -> ViewObserved | Verdict:
    """Take an observation whose View was read."""
    found = _pointed(observed, facts)
    if isinstance(found, ViewObserved) and found.content.item is None:
        return Inconclusive.lacking(f"{found.uri} could not be read", _RESOLVES)
    return found


def _document(observed: ViewObserved, facts: Facts) -> str | Verdict:
    found = _read(observed, facts)
    if not isinstance(found, ViewObserved):
        return found
    if found.content.document is None:
        return Inconclusive.lacking(f"{found.uri} has no document ({found.content.fault})", "app-resource-one-body")
    return found.content.document


@judge
def app_resource_resolves(observed: ViewObserved, facts: Facts) -> Verdict:
    """The tool leads to a resource that whoever may call the tool can read (MCP Apps, Resource Discovery)."""
    if observed.listed.entry is None:
        if observed.listed.unread:
            return Inconclusive(f"tools/list: {observed.listed.unread}")
        return Fail(f"{observed.tool} in tools/list, leading to its View", "the tool is not listed for its caller")
    if observed.read is None:
        return Fail(
            f"a URI in {NESTED}", "none" if not observed.pointers else f"no text in {next(iter(observed.pointers))}"
        )
    answer, content = observed.read.answer, observed.content
    if proves_nothing(answer):
        return Inconclusive(f"resources/read: {describe(answer)}")
    match observed.read.reading:
        case Refused(how=Refusal.UNAUTHORIZED | Refusal.FORBIDDEN):
            return Inconclusive(f"{observed.uri} is refused to the caller of {observed.tool} ({describe(answer)})")
        case _ if not observed.read.accepted:
            return Fail(f"the View at {observed.uri}", describe(answer))
        case _:
            pass
    if content.item is None:
        return Fail(f"the View at {observed.uri}", content.fault)
    if content.item.get("uri") != observed.uri:
        return Fail(f"contents with the uri {observed.uri}", str(content.item.get("uri"))[:200])
    return Pass(f"{content.items} items in contents; some hosts take one alone" if content.items > 1 else None)


@judge_on(_pointed, "a URI that begins with ui://")
def app_resource_uri_scheme(observed: ViewObserved, facts: Facts) -> Finding:
    """The resource of a View has a ui:// URI (MCP Apps, Content Requirements)."""
    wrong = [uri for uri in observed.pointers.values() if isinstance(uri, str) and not uri.startswith("ui://")]
    return wrong[0][:200] if wrong else None


@judge_on(_read, f"mimeType {MIME_TYPE}")
def app_resource_mime_type(observed: ViewObserved, facts: Facts) -> Finding:
    """The media type of a View is exactly that of the extension (MCP Apps, Content Requirements)."""
    said = (observed.content.item or {}).get("mimeType")
    if said != MIME_TYPE:
        loose = re.sub(r'[\s"]', "", said).lower() if isinstance(said, str) else None
        if loose != MIME_TYPE:
            return "no mimeType" if said is None else f"{said!r}"[:200]
        return Pass(f"the mimeType is spelt {said!r}; hosts that compare it as text show no View"[:200])
    listed = (observed.resource.entry or {}).get("mimeType")
    return Pass(f"resources/list says {listed!r}"[:200]) if listed not in (None, MIME_TYPE) else None


@judge_on(_read, "exactly one of text and blob, and a blob that is Base64 of UTF-8 text")
def app_resource_one_body(observed: ViewObserved, facts: Facts) -> Finding:
    """The item of a View has one body, which can be decoded (MCP Apps, Content Requirements)."""
    return observed.content.fault or None


@judge_on(_document, "an HTML5 document")
def app_resource_html_document(document: str, facts: Facts) -> Finding:
    """The body is a whole HTML5 document and no fragment (MCP Apps, Content Requirements)."""
    if not _START.match(document):
        begin = " ".join(document[:60].split())
        return f'it begins with "{begin}"' if begin else "an empty document"
    if not _DOCTYPE.search(document[:5000]):
        return Pass("the document has no <!doctype html>, so that browsers show it in quirks mode")
    return None


def _metadata(observed: ViewObserved) -> Iterator[tuple[str, str, object]]:
    """Yield every `_meta.ui` that there is: its place, its definition in the schema, what it is."""
    places = (
        (f"tools/list, {observed.tool}", "McpUiToolMeta", observed.listed.entry),
        ("resources/list", "McpUiResourceMeta", observed.resource.entry),
        ("resources/read", "McpUiResourceMeta", observed.content.item),
    )
    for place, name, entry in places:
        said = meta_of(entry).get("ui")
        if said is not None:
            yield place, name, said


@judge_on(_pointed, "_meta.ui in the form of the extension's schema")
def app_metadata_form(observed: ViewObserved, facts: Facts) -> Finding:
    """The metadata has the form that the extension's schema describes (MCP Apps, Resource Discovery).

    A key that the schema does not know is none of the extension's, and is ignored.
    """
    unknown: list[str] = []
    for place, name, said in _metadata(observed):
        for keyword, at, wrong in faults(said, metadata_schema(name)):
            if keyword in ("additionalProperties", "not"):
                unknown.append(f"{place}: {at or wrong}")
            else:
                return f"{place}, _meta.ui{'/' if at else ''}{at}: {wrong}"
    return Pass(f"no host reads what the schema does not know ({'; '.join(unknown)})"[:300]) if unknown else None


def _effective(observed: ViewObserved) -> JsonObject:
    """Return the metadata that counts: that of the contents, else that of the list."""
    return ui_of(observed.content.item) or ui_of(observed.resource.entry)


def _csp(ui: JsonObject) -> JsonObject:
    csp = ui.get("csp")
    return csp if isinstance(csp, dict) else {}


def _origins(csp: JsonObject, key: str) -> frozenset[str]:
    value = csp.get(key)
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()


@judge_on(_read, "origins such as https://api.example.com under connectDomains and its like")
def app_csp_origins_form(observed: ViewObserved, facts: Facts) -> Finding:
    """The entries of the CSP are origins, in keys that hosts read (MCP Apps, Content Requirements)."""
    remarks: list[str] = []
    for ui in (ui_of(observed.content.item), ui_of(observed.resource.entry)):
        csp = _csp(ui)
        for key, spelt in _CSP_KEYS.items():
            if spelt in csp:
                return f"{spelt}, which hosts of MCP Apps do not read; they read {key}"
            for origin in sorted(_origins(csp, key)):
                fault, remark = _origin_fault(origin)
                if fault:
                    return f"{key}: {origin!r}: {fault}"[:200]
                remarks += [f"{key}: {origin!r}: {remark}"[:200]] if remark else []
    return Pass(remarks[0]) if remarks else None


def _origin_fault(origin: str) -> tuple[str, str]:
    """Say what is wrong with an origin, and what is odd about it."""
    if re.search(r"[\s;,'\"]", origin):
        return "a space, a quote, a comma or a semicolon, which changes the policy", ""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return "no origin", ""
    host = parts.netloc.rpartition("@")[2].removesuffix(f":{port}")
    if parts.scheme not in ("https", "wss", "http", "ws") or not host:
        return "no origin with a scheme and a host", ""
    if not _HOST.fullmatch(host) or "@" in parts.netloc:
        return "no host, or one with a * that is not its first label", ""
    if parts.path.strip("/") or parts.query or parts.fragment:
        return "more than an origin", ""
    if parts.scheme in ("http", "ws") and parts.hostname not in _LOOPBACK:
        return f"{parts.scheme} for a host that is not this machine", ""
    return "", "an origin has no slash at its end" if parts.path else ""


def _declared(facts: Facts) -> AppsFacts:
    return facts.apps or AppsFacts()


@judge_on(_read)
def app_csp_as_declared(observed: ViewObserved, facts: Facts) -> Verdict:
    """The View asks for the origins that the contract declares, and no others (MCP Apps, Host Behavior)."""
    declared = _declared(facts).csp
    if declared is None:
        return NotApplicable("the contract declares no origins (apps.csp)")
    csp = _csp(_effective(observed))
    for key, wanted in declared.items():
        found = _origins(csp, key)
        if found != wanted:
            return Fail(f"{key}: {_list(wanted)}", _list(found))
    return Pass()


@judge_on(_read)
def app_permissions_as_declared(observed: ViewObserved, facts: Facts) -> Verdict:
    """The View asks for the permissions that the contract declares, and no others (MCP Apps, Host Behavior)."""
    declared = _declared(facts).permissions
    if declared is None:
        return NotApplicable("the contract declares no permissions (apps.permissions)")
    said = _effective(observed).get("permissions")
    found = frozenset(map(str, said)) if isinstance(said, dict) else frozenset[str]()
    return Pass() if found == declared else Fail(f"permissions: {_list(declared)}", _list(found))


def _list(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))[:200] or "none"


def _visible(said: object) -> frozenset[str]:
    return frozenset(map(str, said)) if isinstance(said, list) else _BOTH


@judge
def app_visibility_as_declared(observed: AppToolsObserved, facts: Facts) -> Verdict:
    """Each tool is for whom the contract says (MCP Apps, Visibility).

    A tool for Views alone may be left out of the list.
    """
    declared = _declared(facts).visibility
    if not declared:
        return NotApplicable("the contract declares the visibility of no tool")
    listed = dict(observed.visible)
    for name, wanted in declared.items():
        if name in listed and _visible(listed[name]) != wanted:
            return Fail(f"{name}: visibility {_list(wanted)}", _list(_visible(listed[name])))
    missing = [name for name, wanted in declared.items() if name not in listed and "model" in wanted]
    if missing:
        why = observed.unread or "the tool is not listed"
        return Inconclusive(f"{missing[0]}: {why}")
    return Pass()


@judge_on(_read, "the same metadata in resources/list and in the contents")
def app_listing_agrees(observed: ViewObserved, facts: Facts) -> Finding:
    """Where both say what a View may do, they say the same; hosts read one of them, or both (MCP Apps draft)."""
    listed, read = ui_of(observed.resource.entry), ui_of(observed.content.item)
    if not listed:
        return NotApplicable("resources/list says nothing of this View")
    if not read:
        return f"the contents say nothing, while resources/list has {_list(frozenset(listed))}"
    for key in ("csp", "permissions", "domain", "prefersBorder"):
        if key in listed and listed[key] != read.get(key):
            return f"another {key} in resources/list" if key in read else f"{key} in resources/list alone"
    return None


@judge
def app_pointer_nested(observed: ViewObserved, facts: Facts) -> Verdict:
    """The tool leads to its View in the place that hosts read, and in no other to another one (MCP Apps)."""
    if (found := _pointed(observed, facts)) is not observed and isinstance(found, Verdict):
        return found
    pointers = observed.pointers
    if NESTED not in pointers:
        return Fail(f"the URI in {NESTED}", f"only in {' and '.join(pointers)}")
    if pointers.get(FLAT, pointers[NESTED]) != pointers[NESTED]:
        return Fail(f"the same URI in {FLAT}", str(pointers[FLAT])[:200])
    return Pass()


@judge_on(_pointed, "the same in openai/* and in _meta.ui")
def app_aliases_agree(observed: ViewObserved, facts: Facts) -> Finding:
    """Metadata of the OpenAI Apps SDK says the same as that of MCP Apps (OpenAI Apps SDK, Reference)."""
    meta, ui = meta_of(observed.listed.entry), ui_of(observed.listed.entry)
    items = (("resources/list", observed.resource.entry), ("resources/read", observed.content.item))
    if not any(
        key.startswith("openai/")
        for entry in (observed.listed.entry, *(one for _, one in items))
        for key in meta_of(entry)
    ):
        return NotApplicable("no metadata of the OpenAI Apps SDK")
    if OPENAI in observed.pointers and observed.pointers[OPENAI] != observed.pointers.get(
        NESTED, observed.pointers[OPENAI]
    ):
        return f"openai/outputTemplate {observed.pointers[OPENAI]!s}"[:200]
    visible = _visible(ui.get("visibility"))
    accessible = meta.get("openai/widgetAccessible")
    if isinstance(accessible, bool) and "visibility" in ui and accessible is not ("app" in visible):
        return f"openai/widgetAccessible {str(accessible).lower()} beside visibility {_list(visible)}"
    public = {"public": True, "private": False}.get(str(meta.get("openai/visibility")))
    if public is not None and "visibility" in ui and public is not ("model" in visible):
        return f"openai/visibility {meta['openai/visibility']} beside visibility {_list(visible)}"
    for place, entry in items:
        if drift := _resource_drift(meta_of(entry), ui_of(entry)):
            return f"{place}: {drift}"
    return None


def _resource_drift(meta: JsonObject, ui: JsonObject) -> str | None:
    if not ui:
        return None
    theirs = meta.get("openai/widgetCSP")
    if isinstance(theirs, dict):
        for key, spelt in _CSP_KEYS.items():
            if spelt in theirs and _origins(theirs, spelt) != _origins(_csp(ui), key):
                alias, ours = _list(_origins(theirs, spelt)), _list(_origins(_csp(ui), key))
                return f"openai/widgetCSP {spelt}: {alias}; {key}: {ours}"
    border = meta.get("openai/widgetPrefersBorder")
    if isinstance(border, bool) and isinstance(ui.get("prefersBorder"), bool) and border is not ui["prefersBorder"]:
        return f"openai/widgetPrefersBorder {str(border).lower()}"
    return None


def _has_text(result: Mapping[str, Any]) -> bool:
    content = result.get("content")
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return any(one.get("type") == "text" and str(one.get("text") or "").strip() for one in blocks)


@judge
def app_fallback_text(observed: ViewObserved, facts: Facts) -> Verdict:
    """Every result of a View's tool has text for whoever shows no View (MCP Apps, Graceful Degradation)."""
    results = [one for one in observed.called if one.attempt.answer.result and one.way != PLAIN]
    results = [one for one in results if one.attempt.answer.result.get("resultType") != "input_required"]
    for one in results:
        if not _has_text(one.attempt.answer.result):
            return Fail("a text in content", f"none in the result of a call {one.way}")
    return Pass() if results else _unanswered(observed.answered(SHOWING))


def _unanswered(called: ToolAnswer | None) -> Verdict:
    said = "no call was made" if called is None else describe(called.attempt.answer)
    return Inconclusive(f"the tool gave no result: {said}")


@judge
def app_plain_client_served(observed: ViewObserved, facts: Facts) -> Verdict:
    """A client that shows no Views gets a useful answer too, or is not offered the tool (MCP Apps, Server Behavior)."""
    plain, showing = observed.answered(PLAIN), observed.answered(SHOWING)
    if plain is None or showing is None or not showing.attempt.accepted:
        return _unanswered(showing)
    if proves_nothing(plain.attempt.answer):
        return _unanswered(plain)
    if plain.attempt.accepted:
        return verdict_of(
            None if _has_text(plain.attempt.answer.result) else "a result without text", "a text in content"
        )
    if observed.plain is not None and observed.plain.entry is None and not observed.plain.unread:
        return Pass()
    return Fail("a result with text, as clients that show Views get one", describe(plain.attempt.answer))


@judge
def app_output_schema_kept(observed: ViewObserved, facts: Facts) -> Verdict:
    """structuredContent fits the outputSchema of the tool (MCP, tools, Output Schema)."""
    schema = (observed.listed.entry or {}).get("outputSchema")
    if schema is None:
        return NotApplicable("the tool promises no outputSchema, or is not listed")
    if not isinstance(schema, dict):
        return Fail("an outputSchema that is an object", type(schema).__name__)
    results = [
        one
        for one in observed.called
        if one.attempt.accepted and one.attempt.answer.result.get("resultType", "complete") == "complete"
    ]
    if not results:
        return _unanswered(observed.answered(SHOWING))
    for one in results:
        structured = one.attempt.answer.result.get("structuredContent")
        if structured is None:
            return Fail("structuredContent that fits the outputSchema", f"none {one.way}")
        try:
            wrong = next(iter(faults(structured, schema)), None)
        except Unevaluated as reason:
            return Inconclusive(f"outputSchema: {reason}")
        if wrong is not None:
            return Fail("structuredContent that fits the outputSchema", f"{wrong[1] or 'the whole'}: {wrong[2]}")
    return Pass()
