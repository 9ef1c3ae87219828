"""What the server lacks is said once, by the check that failed for it."""

from dataclasses import replace

from tests.unit.reports.examples import EXPIRED, NEWEST, OLDER

from mcp_auth_contract.execution.lacking import reported_once
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Outcome, Pass, Revision
from mcp_auth_contract.reports.model import Result

NO_SERVER = Inconclusive.lacking("no server is listed", "prm-listed")
NO_DOCUMENT = Inconclusive.lacking("no document", "prm-served")
MISSING = Fail("a document", "none")


def result(check: str, outcome: Outcome, revision: Revision | None = None) -> Result:
    return Result(check, replace(EXPIRED, id=check), revision, outcome)


def told(*results: Result) -> list[Outcome]:
    return [one.outcome for one in reported_once(results)]


def test_what_is_missing_fails_once_and_the_others_do_not_apply() -> None:
    others = (result("as-json", NO_SERVER), result("prm-listed", NO_DOCUMENT))
    assert told(*others, result("prm-served", MISSING)) == [
        NotApplicable("no server is listed; prm-served reports it"),
        NotApplicable("no document; prm-served reports it"),
        MISSING,
    ]


def test_what_nobody_reports_stays_inconclusive() -> None:
    assert told(result("as-json", NO_SERVER)) == [NO_SERVER]
    assert told(result("as-json", NO_SERVER), result("prm-listed", NO_DOCUMENT)) == [NO_SERVER, NO_DOCUMENT]
    assert told(result("as-json", NO_SERVER), result("prm-listed", Pass())) == [NO_SERVER, Pass()]
    silent = Inconclusive("no answer in time")
    assert told(result("prm-listed", NO_DOCUMENT), result("prm-served", silent)) == [NO_DOCUMENT, silent]


def test_what_fails_in_another_revision_reports_nothing() -> None:
    there = result("prm-listed", MISSING, OLDER)
    assert told(result("as-json", NO_SERVER, NEWEST), there) == [NO_SERVER, MISSING]
    assert told(result("as-json", NO_SERVER, OLDER), there)[0] == NotApplicable(
        "no server is listed; prm-listed reports it"
    )


def test_two_checks_that_name_each_other_end() -> None:
    one, other = Inconclusive.lacking("this", "as-b"), Inconclusive.lacking("that", "as-a")
    assert told(result("as-a", one), result("as-b", other)) == [one, other]
