"""Is a View in the form that the extension asks for (MCP Apps, Resource Discovery and Content Requirements)?"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from mcp_auth_contract.answers import Refusal, Refused, describe
from mcp_auth_contract.checks.apps.judges.reading import (
    CSP_KEYS,
    MIME_TYPE,
    csp_of,
    origins_of,
    pointed,
    was_read,
)
from mcp_auth_contract.checks.apps.observation import (
    NESTED,
    ViewObserved,
    meta_of,
    ui_of,
)
from mcp_auth_contract.checks.apps.schemas import faults, metadata_schema
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on, proves_nothing
from mcp_auth_contract.model import Fail, Inconclusive, Pass, Verdict

_START = re.compile(r"(?is)\A\ufeff?(?:\s|<!--.{0,4000}?-->)*+(?:<!doctype\s+html|<html[\s>])")
_DOCTYPE = re.compile(r"(?i)<!doctype\s+html")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")


def _document(observed: ViewObserved, facts: Facts) -> str | Verdict:
    found = was_read(observed, facts)
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


@judge_on(pointed, "a URI that begins with ui://")
def app_resource_uri_scheme(observed: ViewObserved, facts: Facts) -> Finding:
    """The resource of a View has a ui:// URI (MCP Apps, Content Requirements)."""
    wrong = [uri for uri in observed.pointers.values() if isinstance(uri, str) and not uri.startswith("ui://")]
    return wrong[0][:200] if wrong else None


@judge_on(was_read, f"mimeType {MIME_TYPE}")
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


@judge_on(was_read, "exactly one of text and blob, and a blob that is Base64 of UTF-8 text")
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


@judge_on(pointed, "_meta.ui in the form of the extension's schema")
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


@judge_on(was_read, "origins such as https://api.example.com under connectDomains and its like")
def app_csp_origins_form(observed: ViewObserved, facts: Facts) -> Finding:
    """The entries of the CSP are origins, in keys that hosts read (MCP Apps, Content Requirements)."""
    remarks: list[str] = []
    for ui in (ui_of(observed.content.item), ui_of(observed.resource.entry)):
        csp = csp_of(ui)
        for key, spelt in CSP_KEYS.items():
            if spelt in csp:
                return f"{spelt}, which hosts of MCP Apps do not read; they read {key}"
            for origin in sorted(origins_of(csp, key)):
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
