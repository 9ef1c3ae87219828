"""A lookalike of a scope must open nothing, in whatever way it is refused; where no scope is needed, nothing shows."""

import pytest
from tests.unit.checks.literals import POINTER, answer, call, facts, judged, result, tool_error

from mcp_auth_contract.model import Fail, NotApplicable, Pass

NEEDING = facts(needed=frozenset({"invoices:read"}))


@pytest.mark.parametrize(
    "refusal",
    [
        answer(403, f'Bearer error="insufficient_scope", {POINTER}'),
        answer(401, f'Bearer error="invalid_token", {POINTER}'),
        tool_error(),
    ],
)
def test_a_lookalike_may_be_refused_in_any_way(refusal) -> None:
    assert isinstance(judged("scope_lookalike_denied", call(refusal), NEEDING), Pass)


@pytest.mark.parametrize("served", [result(), answer(500)])
def test_a_lookalike_that_opens_or_breaks_something_fails(served) -> None:
    assert isinstance(judged("scope_lookalike_denied", call(served), NEEDING), Fail)


def test_a_lookalike_shows_nothing_where_no_scope_is_needed() -> None:
    verdict = judged("scope_lookalike_denied", call(result()), facts(needed=frozenset()))
    assert verdict == NotApplicable("the control operation needs no scope")
