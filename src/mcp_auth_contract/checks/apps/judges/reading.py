"""What the judges of Views read out of an observation (MCP Apps)."""

from mcp_auth_contract.answers.answer import JsonObject
from mcp_auth_contract.checks.apps.observation import (
    ViewObserved,
    ui_of,
)
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.model import Inconclusive, Verdict

MIME_TYPE = "text/html;profile=mcp-app"
RESOLVES = "app-resource-resolves"
BOTH = frozenset({"model", "app"})


CSP_KEYS = {
    "connectDomains": "connect_domains",
    "resourceDomains": "resource_domains",
    "frameDomains": "frame_domains",
    "baseUriDomains": "base_uri_domains",
}
"""The keys of a View's CSP, and how they are spelt elsewhere, where no host of MCP Apps reads them."""


def pointed(observed: ViewObserved, _facts: Facts) -> ViewObserved | Verdict:
    """Take an observation whose tool leads to a View."""
    if observed.listed.entry is None and observed.listed.unread:
        return Inconclusive(f"tools/list: {observed.listed.unread}")
    return observed if observed.uri else Inconclusive.lacking(f"{observed.tool} leads to no View", RESOLVES)


def was_read(observed: ViewObserved, facts: Facts) -> ViewObserved | Verdict:
    """Take an observation whose View was read."""
    found = pointed(observed, facts)
    if isinstance(found, ViewObserved) and found.content.item is None:
        return Inconclusive.lacking(f"{found.uri} could not be read", RESOLVES)
    return found


def effective(observed: ViewObserved) -> JsonObject:
    """Return the metadata that counts: that of the contents, else that of the list."""
    return ui_of(observed.content.item) or ui_of(observed.resource.entry)


def csp_of(ui: JsonObject) -> JsonObject:
    csp = ui.get("csp")
    return csp if isinstance(csp, dict) else {}


def origins_of(csp: JsonObject, key: str) -> frozenset[str]:
    value = csp.get(key)
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()


def joined(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))[:200] or "none"


def shown_to(said: object) -> frozenset[str]:
    return frozenset(map(str, said)) if isinstance(said, list) else BOTH
