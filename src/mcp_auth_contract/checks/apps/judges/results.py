"""What the tool of a View answers to clients that show no View (MCP Apps, Graceful Degradation)."""

from collections.abc import Mapping
from typing import Any

from mcp_auth_contract.answers import describe
from mcp_auth_contract.checks.apps.observation import (
    PLAIN,
    SHOWING,
    ToolAnswer,
    ViewObserved,
)
from mcp_auth_contract.checks.apps.schemas import Unevaluated, faults
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import judge, proves_nothing, verdict_of
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict


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
