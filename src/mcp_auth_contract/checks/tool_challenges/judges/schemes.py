"""Is what tools/list says of sign-in true, and where do challenges in results lead? (OpenAI Apps SDK, reference)"""

from collections.abc import Iterable, Sequence

from mcp_auth_contract.answers import describe
from mcp_auth_contract.checks.discovery.members import called_by_clients
from mcp_auth_contract.checks.discovery.observation import Document
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_each, judge_on, narrowing, proves_nothing
from mcp_auth_contract.checks.tool_challenges.observation import (
    ToolDeclared,
    ToolPointersObserved,
    ToolSchemesObserved,
    challenged_in_result,
)
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.metadata import Difference, difference

_TYPES = ("noauth", "oauth2")
_SAME = (Difference.NONE, Difference.TRAILING_SLASH, Difference.CASE, Difference.DEFAULT_PORT)


def _listed(observed: ToolSchemesObserved, facts: Facts) -> Sequence[ToolDeclared] | Verdict:
    listed = [tool for tool in observed.tools if tool.entry is not None]
    if listed:
        return listed
    said = describe(observed.pages[-1]) if observed.pages else "nothing was sent"
    return Inconclusive(f"tools/list names no tool of the contract: {said}")


@narrowing(_listed)
def _declaring(listed: Sequence[ToolDeclared], facts: Facts) -> Sequence[ToolDeclared] | Verdict:
    return [tool for tool in listed if _says(tool)] or NotApplicable("tools/list states no securitySchemes")


def _says(tool: ToolDeclared) -> bool:
    return tool.stated is not None or tool.mirrored is not None


def _names(tools: Iterable[ToolDeclared]) -> str:
    return ", ".join(tool.name for tool in tools)


@judge
def schemes_declared(observed: ToolSchemesObserved, facts: Facts) -> Verdict:
    """Each protected tool states `securitySchemes`; ChatGPT offers its sign-in only with both signals."""
    if facts.challenge == "either":
        return NotApplicable('a server whose statuses challenge too need not state them (policy.challenge = "either")')
    listed = _listed(observed, facts)
    if isinstance(listed, Verdict):
        return listed
    if silent := [tool for tool in listed if not tool.public and not _says(tool)]:
        return Fail("securitySchemes for every protected tool", f"none for {_names(silent)}")
    if hidden := [tool for tool in listed if tool.stated is None and tool.mirrored is not None]:
        return Pass(f"securitySchemes only in _meta, for {_names(hidden)}: the mirror is there for old hosts")
    if silent := [tool for tool in listed if not _says(tool)]:
        return Pass(f"no securitySchemes for {_names(silent)}, open to everybody: say noauth")
    return Pass()


@judge_each(_declaring, "a list of noauth and oauth2 entries")
def schemes_well_formed(tool: ToolDeclared, facts: Facts) -> str | None:
    """`securitySchemes` is a list of noauth and oauth2 entries; `scopes` is a list of strings."""
    faults = (_malformed(value) for value in (tool.stated, tool.mirrored) if value is not None)
    return next((f"{tool.name}: {what}" for what in faults if what), None)


def _malformed(value: object) -> str | None:
    if not isinstance(value, list) or not value:
        return "no list" if not isinstance(value, list) else "an empty list"
    for one in value:
        kind = one.get("type") if isinstance(one, dict) else None
        if kind not in _TYPES:
            return f"an entry of type {kind!r}"
        scopes = one.get("scopes", [])
        if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
            return "scopes that are no list of strings"
    return None


def _states(tool: ToolDeclared, kind: str) -> bool:
    return any(scheme.get("type") == kind for scheme in tool.schemes)


@judge_each(_declaring, "noauth only where a call without a token works")
def schemes_truthful(tool: ToolDeclared, facts: Facts) -> Finding:
    """A tool with noauth works without a token, and one with oauth2 alone does not."""
    if not _states(tool, "noauth"):
        closed = not _states(tool, "oauth2") or not tool.open
        seen = f"oauth2 alone for {tool.name}, which is open"
        return None if closed else Fail("noauth where a call without a token works", seen)
    if tool.called and not tool.open:
        return _unproven(tool) or f"noauth for {tool.name}, which got {describe(tool.called[0].answer)}"
    return None if tool.called or tool.public else f"noauth for {tool.name}, a protected write"


def _unproven(tool: ToolDeclared) -> Inconclusive | None:
    if any(proves_nothing(attempt.answer) for attempt in tool.called):
        return Inconclusive(f"{tool.name} without a token: {describe(tool.called[0].answer)}")
    return None


@judge_on(_declaring)
def schemes_name_scopes(declaring: Sequence[ToolDeclared], facts: Facts) -> Verdict:
    """The scopes of an oauth2 entry are those that the contract names for the tool."""
    linked = [tool for tool in declaring if _states(tool, "oauth2") and not tool.public]
    if not linked:
        return NotApplicable("no protected tool states an oauth2 scheme")
    for tool in linked:
        stated = [_scopes(scheme.get("scopes")) for scheme in tool.schemes if scheme.get("type") == "oauth2"]
        if tool.scopes not in stated:
            return Fail(f"{tool.name} with scopes {_words(tool.scopes)}", f"scopes {_words(stated[0])}")
    return Pass()


def _scopes(value: object) -> frozenset[str]:
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()


def _words(scopes: frozenset[str]) -> str:
    return " ".join(sorted(scopes)) or "none"


@judge_on(_declaring)
def schemes_mirrored(declaring: Sequence[ToolDeclared], facts: Facts) -> Verdict:
    """Where `_meta.securitySchemes` repeats the tool's own `securitySchemes`, both say the same."""
    twice = [tool for tool in declaring if tool.stated is not None and tool.mirrored is not None]
    if not twice:
        return NotApplicable("no tool states its schemes twice")
    if differing := [tool for tool in twice if tool.stated != tool.mirrored]:
        return Fail("the same securitySchemes in the tool and in its _meta", f"different ones for {_names(differing)}")
    return Pass()


@judge
def public_tools_open(observed: ToolSchemesObserved, facts: Facts) -> Verdict:
    """A tool that the contract declares open works without a token, and brings no challenge."""
    public = [tool for tool in observed.tools if tool.public and tool.called]
    if not public:
        return NotApplicable("the contract declares no tool that anybody may call (scopes = [])")
    for tool in public:
        if not tool.open:
            return _unproven(tool) or Fail(f"a result of {tool.name} without a token", describe(tool.called[0].answer))
        if any(challenged_in_result(attempt.answer) for attempt in tool.called if attempt.accepted):
            return Fail(f"a result of {tool.name} without a challenge", "a result with one")
    return Pass()


def _found(observed: ToolPointersObserved, facts: Facts) -> Sequence[Document] | Verdict:
    if not observed.asked:
        return NotApplicable("the control operation is no tool, so its refusal is no result")
    if observed.documents:
        return observed.documents
    if any(map(proves_nothing, observed.asked)):
        return Inconclusive(f"a call without a token: {describe(observed.asked[0])}")
    if facts.challenge == "either" and all(answer.status in (401, 403) for answer in observed.asked):
        return NotApplicable('refused by the HTTP status, as policy.challenge = "either" allows')
    return Inconclusive.lacking("no challenge in a result names its resource_metadata", "tool-challenge-metadata")


@judge_each(_found, "200 with a JSON object")
def result_pointer_resolves(document: Document, facts: Facts) -> str | None:
    """`resource_metadata` of a challenge in a result leads to a JSON object (RFC 9728 §3.2, §5.1)."""
    return None if document.found else f"{document.said} at {document.url}"


@narrowing(_found)
def _leading(documents: Sequence[Document], facts: Facts) -> Sequence[Document] | Verdict:
    found = [document for document in documents if document.found]
    return found or Inconclusive.lacking("the pointer leads to no document", "tool-challenge-metadata-resolves")


@judge_each(_leading)
def result_pointer_of_this_resource(document: Document, facts: Facts) -> Fail | None:
    """The document that a challenge in a result leads to is about this resource (RFC 9728 §3.3)."""
    called, resource = called_by_clients(facts), document.member("resource")
    if isinstance(resource, str) and difference(called, resource) in _SAME:
        return None
    return Fail(f'resource "{called}"', f'"{resource}"' if isinstance(resource, str) else "none")
