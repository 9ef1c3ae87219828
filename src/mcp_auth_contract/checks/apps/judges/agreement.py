"""Is a View what the contract says, and the same in every place that tells of it (MCP Apps)?"""

from mcp_auth_contract.answers.answer import JsonObject
from mcp_auth_contract.checks.apps.judges.reading import (
    CSP_KEYS,
    csp_of,
    effective,
    joined,
    origins_of,
    pointed,
    shown_to,
    was_read,
)
from mcp_auth_contract.checks.apps.observation import (
    FLAT,
    NESTED,
    OPENAI,
    AppToolsObserved,
    ViewObserved,
    meta_of,
    ui_of,
)
from mcp_auth_contract.checks.facts import AppsFacts, Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict


def _declared(facts: Facts) -> AppsFacts:
    return facts.apps or AppsFacts()


@judge_on(was_read)
def app_csp_as_declared(observed: ViewObserved, facts: Facts) -> Verdict:
    """The View asks for the origins that the contract declares, and no others (MCP Apps, Host Behavior)."""
    declared = _declared(facts).csp
    if declared is None:
        return NotApplicable("the contract declares no origins (apps.csp)")
    csp = csp_of(effective(observed))
    for key, wanted in declared.items():
        found = origins_of(csp, key)
        if found != wanted:
            return Fail(f"{key}: {joined(wanted)}", joined(found))
    return Pass()


@judge_on(was_read)
def app_permissions_as_declared(observed: ViewObserved, facts: Facts) -> Verdict:
    """The View asks for the permissions that the contract declares, and no others (MCP Apps, Host Behavior)."""
    declared = _declared(facts).permissions
    if declared is None:
        return NotApplicable("the contract declares no permissions (apps.permissions)")
    said = effective(observed).get("permissions")
    found = frozenset(map(str, said)) if isinstance(said, dict) else frozenset[str]()
    return Pass() if found == declared else Fail(f"permissions: {joined(declared)}", joined(found))


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
        if name in listed and shown_to(listed[name]) != wanted:
            return Fail(f"{name}: visibility {joined(wanted)}", joined(shown_to(listed[name])))
    missing = [name for name, wanted in declared.items() if name not in listed and "model" in wanted]
    if missing:
        why = observed.unread or "the tool is not listed"
        return Inconclusive(f"{missing[0]}: {why}")
    return Pass()


@judge_on(was_read, "the same metadata in resources/list and in the contents")
def app_listing_agrees(observed: ViewObserved, facts: Facts) -> Finding:
    """Where both say what a View may do, they say the same; hosts read one of them, or both (MCP Apps draft)."""
    listed, read = ui_of(observed.resource.entry), ui_of(observed.content.item)
    if not listed:
        return NotApplicable("resources/list says nothing of this View")
    if not read:
        return f"the contents say nothing, while resources/list has {joined(frozenset(listed))}"
    for key in ("csp", "permissions", "domain", "prefersBorder"):
        if key in listed and listed[key] != read.get(key):
            return f"another {key} in resources/list" if key in read else f"{key} in resources/list alone"
    return None


@judge
def app_pointer_nested(observed: ViewObserved, facts: Facts) -> Verdict:
    """The tool leads to its View in the place that hosts read, and in no other to another one (MCP Apps)."""
    if (found := pointed(observed, facts)) is not observed and isinstance(found, Verdict):
        return found
    pointers = observed.pointers
    if NESTED not in pointers:
        return Fail(f"the URI in {NESTED}", f"only in {' and '.join(pointers)}")
    if pointers.get(FLAT, pointers[NESTED]) != pointers[NESTED]:
        return Fail(f"the same URI in {FLAT}", str(pointers[FLAT])[:200])
    return Pass()


@judge_on(pointed, "the same in openai/* and in _meta.ui")
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
    visible = shown_to(ui.get("visibility"))
    accessible = meta.get("openai/widgetAccessible")
    if isinstance(accessible, bool) and "visibility" in ui and accessible is not ("app" in visible):
        return f"openai/widgetAccessible {str(accessible).lower()} beside visibility {joined(visible)}"
    public = {"public": True, "private": False}.get(str(meta.get("openai/visibility")))
    if public is not None and "visibility" in ui and public is not ("model" in visible):
        return f"openai/visibility {meta['openai/visibility']} beside visibility {joined(visible)}"
    for place, entry in items:
        if drift := _resource_drift(meta_of(entry), ui_of(entry)):
            return f"{place}: {drift}"
    return None


def _resource_drift(meta: JsonObject, ui: JsonObject) -> str | None:
    if not ui:
        return None
    theirs = meta.get("openai/widgetCSP")
    if isinstance(theirs, dict):
        for key, spelt in CSP_KEYS.items():
            if spelt in theirs and origins_of(theirs, spelt) != origins_of(csp_of(ui), key):
                alias, ours = joined(origins_of(theirs, spelt)), joined(origins_of(csp_of(ui), key))
                return f"openai/widgetCSP {spelt}: {alias}; {key}: {ours}"
    border = meta.get("openai/widgetPrefersBorder")
    if isinstance(border, bool) and isinstance(ui.get("prefersBorder"), bool) and border is not ui["prefersBorder"]:
        return f"openai/widgetPrefersBorder {str(border).lower()}"
    return None
