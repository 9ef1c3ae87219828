"""pytest is red where the gate is shut, also by a run that proved nothing."""

import datetime
from dataclasses import replace

import pytest
from tests.unit.reports.examples import report

from mcp_auth_contract.model import Inconclusive, Level, Pass
from mcp_auth_contract.pytest_plugin.outcomes import Status, outcomes_of
from mcp_auth_contract.reports.model import Result

TODAY = datetime.date(2026, 8, 22)


def recommended() -> tuple[Result, Result]:
    one, other = report().results[:2]
    check = replace(one.check, level=Level.SHOULD)
    return (
        replace(one, case="one", check=check, outcome=Inconclusive("no answer"), waived=None),
        replace(other, case="other", check=check, outcome=Pass(), waived=None),
    )


@pytest.mark.parametrize(("alone", "status"), [(True, Status.FAILED), (False, Status.XFAILED)])
def test_an_inconclusive_recommendation_fails_where_nothing_was_observed(alone: bool, status: Status) -> None:
    results = recommended()[: 1 if alone else 2]
    assert outcomes_of(report(results, controls=()), TODAY)["one"].status is status
