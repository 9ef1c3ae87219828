"""What crosses the boundary to a View, and whether the boundary opens anything (MCP Apps)."""

import json
import re
from collections.abc import Iterator

from mcp_auth_contract.answers import describe
from mcp_auth_contract.checks.apps.observation import (
    SHOWING,
    AppTool,
    AppToolsObserved,
    Reader,
    ToolAnswer,
    ViewObserved,
    ViewReadersObserved,
)
from mcp_auth_contract.checks.facts import AppsFacts, Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on, proves_nothing
from mcp_auth_contract.contract.pointers import pointed_at
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict

_RESOLVES = "app-resource-resolves"
_SHAPED = (
    ("a JWT", re.compile(r"<redacted JWT>")),
    ("a URL with a credential in its query", re.compile(
        r"(?i)https?://[^\s\"'<>]{1,500}[?&](?:access_token|api_?key|token|sig|signature|x-amz-signature)=[^&\s\"'<>]{8}"
    )),
)  # fmt: skip
_SHORTEST_PRIVATE = 4


def _tools(observed: AppToolsObserved, _facts: Facts) -> tuple[AppTool, ...] | Verdict:
    """Take the tools of Views that were tried."""
    if observed.tools:
        return observed.tools
    if observed.unread:
        return Inconclusive(f"tools/list: {observed.unread}")
    return NotApplicable("no tool of a View could be tried")


@judge_on(_tools, "a refusal, as of any tool")
def app_only_tool_gated(tools: tuple[AppTool, ...], facts: Facts) -> Finding:
    """A tool for Views alone asks for a token and its scopes like any tool: whom a host offers it protects nothing."""
    alone = [tool for tool in tools if tool.only]
    if not alone:
        return NotApplicable("no tool is for Views alone")
    for tool in alone:
        for attempt in tool.plain:
            if attempt.accepted:
                return f"{tool.name}, {attempt.way}: {describe(attempt.answer)}"
        silent = next((one for one in tool.plain if proves_nothing(one.answer)), None)
        if silent is not None:
            return Inconclusive(f"{tool.name}, {silent.way}: {describe(silent.answer)}")
    unshown = [tool.name for tool in alone if tool.good is None or not tool.good.attempt.accepted]
    if len(unshown) == len(alone):
        return Inconclusive(f"{unshown[0]} refuses the good token too")
    return None


@judge_on(_tools, "the same refusal, whoever seems to call")
def app_capability_lends_nothing(tools: tuple[AppTool, ...], facts: Facts) -> Finding:
    """To declare the extension, or to look like a View, takes the place of no token and no scope (MCP Apps)."""
    for tool in tools:
        if any(one.accepted for one in tool.plain):
            continue  # open to everybody, which others report
        for attempt in tool.apps:
            if attempt.accepted:
                return f"{tool.name}, {attempt.way}: {describe(attempt.answer)}"
    silent = [(tool, one) for tool in tools for one in tool.apps if proves_nothing(one.answer)]
    if silent:
        tool, one = silent[0]
        return Inconclusive(f"{tool.name}, {one.way}: {describe(one.answer)}")
    return None


def _readers(observed: ViewReadersObserved, _facts: Facts) -> ViewReadersObserved | Verdict:
    """Take an observation of a View that somebody could read."""
    if not observed.uri and observed.unread:
        return Inconclusive(f"tools/list: {observed.unread}")
    if not observed.uri:
        return Inconclusive.lacking(f"{observed.tool} leads to no View", _RESOLVES)
    if not any(one.attempt.accepted for one in observed.readers):
        return Inconclusive.lacking(f"{observed.uri} could not be read", _RESOLVES)
    return observed


@judge_on(_readers, "a View without a user's data, or a refusal")
def app_resource_public_static(observed: ViewReadersObserved, facts: Facts) -> Finding:
    """What can be read without a token is nobody's (MCP authorization, Access Token Privilege Restriction)."""
    for one in observed.readers:
        if not one.name and one.canaries:
            record, place, _ = one.canaries[0]
            return f"{record} in {place}, read without a token"
        if not one.name and proves_nothing(one.attempt.answer):
            return Inconclusive(f"without a token: {describe(one.attempt.answer)}")
    return None


@judge_on(_readers, "a View without records that its reader may not read")
def app_resource_no_canary(observed: ViewReadersObserved, facts: Facts) -> Finding:
    """A View holds nothing of another user's record (MCP authorization, Access Token Privilege Restriction)."""
    for one in observed.readers:
        foreign = next((seen for seen in one.canaries if one.name and not seen[2]), None)
        if foreign is not None:
            return f"{foreign[0]} in {foreign[1]}, read by {one.name}"
    return _two_readers(observed)


def _two_readers(observed: ViewReadersObserved) -> Verdict | None:
    served = [one for one in observed.readers if one.name and one.attempt.accepted]
    if len({one.name for one in observed.readers if one.name}) < 2:
        return NotApplicable("needs a second user, who could read the View too")
    silent = next((one for one in observed.readers if one.name and proves_nothing(one.attempt.answer)), None)
    if silent is not None:
        return Inconclusive(f"{silent.attempt.way}: {describe(silent.attempt.answer)}")
    return None if len(served) > 1 else NotApplicable("only one of the users may read the View")


@judge_on(_readers, "the same View for all, into which a call's result brings the data")
def app_resource_same_for_all(observed: ViewReadersObserved, facts: Facts) -> Finding:
    """A View is a template: what differs between its readers does not tell who they are (MCP Apps, Resource Discovery).

    Nonces, builds and languages may differ.
    """
    own, served = dict(observed.own), [one for one in observed.readers if one.name and one.attempt.accepted]
    for one in served:
        for other in served:
            mine = one.names & own.get(one.name, frozenset()) - other.names - own.get(other.name, frozenset())
            if mine and one.document != other.document:
                return _telling(one, mine)
    return _two_readers(observed)


def _telling(reader: Reader, names: frozenset[str]) -> str:
    kept = {record for record, _, _ in reader.canaries}
    what = f"{min(kept)}" if kept else "the name or tenant"
    return f"{what} of {reader.name} in the View that {reader.name} reads"


@judge
def app_resource_no_token(observed: ViewObserved, facts: Facts) -> Verdict:
    """No token and no declared secret is in a View or its metadata (MCP authorization, Token Theft)."""
    if observed.leaked:
        return Fail("a View without tokens and secrets", f"{_kind(observed.leaked[0])} in {observed.uri}")
    if not observed.uri or observed.read is None or observed.content.item is None:
        return Inconclusive.lacking(f"the View of {observed.tool} could not be read", _RESOLVES)
    return Pass()


def _kind(label: str) -> str:
    return label.rsplit("#", 1)[0]


@judge
def app_result_no_token(observed: AppToolsObserved, facts: Facts) -> Verdict:
    """No token and no declared secret is in what a View gets of its tools (MCP authorization, Token Theft).

    What looks like another credential is a remark: a server may mean it for the View.
    """
    answers = [tool.good for tool in observed.tools if tool.good is not None]
    for one in answers:
        if one.leaked:
            return Fail("results without tokens and secrets", f"{_kind(one.leaked[0])} in {_where(one)}")
    served = [one for one in answers if one.attempt.accepted]
    if not served:
        found = _tools(observed, facts)
        return found if not isinstance(found, tuple) else Inconclusive("no tool of a View answered the good token")
    shaped = (f"{one.tool}: {kind}" for one in served for kind in _credentials(one))
    return Pass(next((f"{said}, which the View and perhaps the model can read" for said in shaped), None))


def _where(one: ToolAnswer) -> str:
    """Name the member of a result that has a label in it."""
    result = one.attempt.answer.result
    for member in ("content", "structuredContent", "_meta"):
        if any(label in json.dumps(result.get(member), ensure_ascii=False) for label in one.leaked):
            return f"{member} of {one.tool}"
    return f"the answer of {one.tool}"


def _credentials(one: ToolAnswer) -> Iterator[str]:
    text = json.dumps(one.attempt.answer.result, ensure_ascii=False)
    return (kind for kind, shape in _SHAPED if shape.search(text))


@judge
def app_result_private_apart(observed: ViewObserved, facts: Facts) -> Verdict:
    """What is for the View alone is in no part of a result that goes to the model (MCP Apps, Data Passing)."""
    private = (facts.apps or AppsFacts()).private
    if not private:
        return NotApplicable("the contract names nothing as private (views.private)")
    called = observed.answered(SHOWING)
    if called is None or not called.attempt.accepted:
        said = "no call was made" if called is None else describe(called.attempt.answer)
        return Inconclusive(f"the tool gave no result: {said}")
    result = called.attempt.answer.result
    seen = json.dumps([result.get("content"), result.get("structuredContent")], ensure_ascii=False)
    missing = []
    for pointer in private:
        if pointer.startswith(("/content/", "/structuredContent/")) or pointer in ("/content", "/structuredContent"):
            return Fail("a place that the model does not read", f"{pointer} is such a place")
        value = pointed_at(result, pointer)
        if value is None:
            missing.append(pointer)
        for text in _texts(value):
            if json.dumps(text, ensure_ascii=False)[1:-1] in seen:
                return Fail(f"{pointer} in _meta alone", "it is in content or structuredContent too")
    return Inconclusive(f"the result has no {missing[0]}") if missing else Pass()


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value that are long enough to be told from others."""
    match value:
        case str() if len(value) >= _SHORTEST_PRIVATE:
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)
        case _:
            return
