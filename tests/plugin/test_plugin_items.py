"""A contract as tests: what is collected, what is asked, and what is told."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.plugin.contracts import FEW, log, write_server

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.checks.registry import JUDGES
from mcp_auth_contract.model import Verdict

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]


def counted(result: pytest.RunResult) -> dict[str, int]:
    return {name: number for name, number in result.parseoutcomes().items() if name not in ("warnings", "deselected")}


def asked(pytester: pytest.Pytester) -> int:
    return log(pytester).count("asked")


def test_collecting_starts_no_server_and_names_each_case(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester)
    result = run("--collect-only", "-q", "mcp-auth-contract.toml")
    result.stdout.fnmatch_lines(["mcp-auth-contract.toml::token-expired-refused[[]get_invoice]"])
    assert log(pytester) == []
    names = [line for line in result.outlines if "::" in line]
    assert len(names) == len(set(names)) > 200


@pytest.mark.parametrize(
    ("words", "collected"),
    [
        (["mcp-auth-contract.toml"], True),
        (["--mcp-auth-contract", "mcp-auth-contract.toml"], True),
        (["--mcp-auth-contract=mcp-auth-contract.toml", "mcp-auth-contract.toml"], True),
        (["mcp-auth-contract.toml::token-expired-refused"], True),
        (["-o", "mcp_auth_contract=mcp-auth-contract.toml"], True),
        ([], False),
        (["."], False),
    ],
)
def test_a_contract_is_collected_when_it_is_asked_for(
    pytester: pytest.Pytester, run: Run, words: list[str], collected: bool
) -> None:
    write_server(pytester)
    result = run("--collect-only", "-q", "-k", "token-expired-refused", *words)
    assert sum("token-expired-refused[" in line for line in result.outlines) == int(collected)


def test_any_name_will_do_for_the_option_and_a_telling_one_for_an_argument(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester, name="other.toml")
    write_server(pytester, name="billing.mcp-auth-contract.toml")
    words = ("--collect-only", "-q", "-k", "token-expired-refused")
    assert "other.toml::" in str(run(*words, "--mcp-auth-contract", "other.toml").stdout)
    assert "billing.mcp-auth-contract.toml::" in str(run(*words, "billing.mcp-auth-contract.toml").stdout)
    assert "other.toml::" not in str(run(*words, "other.toml").stdout)


def test_own_tests_run_beside_a_contract(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester)
    pytester.makepyfile(test_own="def test_own(): pass")
    result = run("-k", "token-expired-refused or test_own", "--mcp-auth-contract", "mcp-auth-contract.toml")
    assert counted(result) == {"passed": 2}


def test_a_sound_server_passes_and_what_does_not_apply_is_skipped_with_its_reason(
    pytester: pytest.Pytester, run: Run
) -> None:
    write_server(pytester)
    result = run("-rs", "-k", f"{FEW} or introspection-inactive", "mcp-auth-contract.toml")
    outcomes = counted(result)
    assert set(outcomes) == {"passed", "skipped"}, str(result.stdout)
    result.stdout.fnmatch_lines(["SKIPPED [[]*] mcp-auth-contract.toml:*: the tokens are JWTs*"])
    assert len([line for line in log(pytester) if line.startswith("started")]) == 1


def test_only_what_is_selected_is_asked(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester)
    assert counted(run("-k", "token-expired-refused", "mcp-auth-contract.toml")) == {"passed": 1}
    few = asked(pytester)
    assert 0 < few < 20
    assert counted(run("mcp-auth-contract.toml::token-typ-other-kind-refused"))["passed"] >= 1
    deselected = ["--deselect", "mcp-auth-contract.toml"]
    before = asked(pytester)
    assert "passed" not in counted(run(*deselected, "mcp-auth-contract.toml"))
    assert asked(pytester) == before


def test_markers_select(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester)
    words = ("--collect-only", "-q", "--strict-markers", "mcp-auth-contract.toml")
    every = run(*words, "-m", "mcp_auth_contract").parseoutcomes()
    assert "deselected" not in every
    result = run(*words, "-m", "family_scope and must and impact_privilege_escalation")
    names = [line.partition("::")[2] for line in result.outlines if "::" in line]
    assert names
    assert all(name.startswith("scope-") for name in names)
    marks = run("--markers", "mcp-auth-contract.toml")
    marks.stdout.fnmatch_lines(
        ["@pytest.mark.family_token: *", "@pytest.mark.must: *", "@pytest.mark.impact_auth_bypass: *"]
    )


def test_a_failure_says_expected_observed_remedy_evidence_and_how_to_repeat_it(
    pytester: pytest.Pytester, run: Run
) -> None:
    write_server(pytester, "expiry-ignored")
    result = run("-rf", "-k", "token-expired-refused or token-typ", "mcp-auth-contract.toml")
    assert counted(result)["failed"] == 1
    result.stdout.fnmatch_lines(
        [
            "MUST: An expired token is refused (auth-bypass)",
            "  revision *MCP 2026-07-28",
            '  expected *401 with error="invalid_token"',
            "  observed *200 with a result*",
            "  why *",
            "  fix *exp*",
            "  source *RFC 7519*",
            "  evidence *POST http://127.0.0.1:8000/mcp",
            "*> Authorization: Bearer token-expired#*",
            "*< 200",
            "  again *mcp-auth-contract reproduce 'token-expired-refused[[]get_invoice]' mcp-auth-contract.toml",
        ]
    )
    said = str(result.stdout)
    assert "Traceback" not in said
    assert "items.py" not in said
    assert "curl" not in said  # nobody else reaches a server in this process
    assert not re.search(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", said), "a token in the report"
    result.stdout.fnmatch_lines(["FAILED mcp-auth-contract.toml::token-expired-refused[[]get_invoice]*expected*"])


def test_recommendations_are_expected_failures_unless_asked_for(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester, "challenge-without-scope")
    words = ("-rx", "-k", "challenge-scope-advertised", "mcp-auth-contract.toml")
    result = run(*words)
    assert counted(result) == {"xfailed": 1}
    result.stdout.fnmatch_lines(["XFAIL *challenge-scope-advertised*SHOULD: expected *observed *"])
    assert counted(run("--mcp-auth-fail-on", "should", *words)) == {"failed": 1}


def test_inconclusive_is_a_failure_with_its_reason(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester)
    contract = pytester.path / "mcp-auth-contract.toml"
    contract.write_text(contract.read_text().replace('"INV-1" }\ncontrol', '"INV-404" }\ncontrol'))
    result = run("-k", "token-expired-refused", "mcp-auth-contract.toml")
    assert counted(result) == {"failed": 1}
    result.stdout.fnmatch_lines(["MUST: An expired token is refused*", "*inconclusive: *control*"])


def test_a_server_that_cannot_be_run_is_an_error_told_in_one_line(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester)
    (pytester.path / "server.py").write_text("import no_such_module")
    result = run("-k", "token-expired", "mcp-auth-contract.toml")
    assert set(counted(result)) == {"errors"}
    result.stdout.fnmatch_lines(["*mcp-auth-contract.toml: target.app: importing server failed (server.py, line 1)*"])
    assert "Traceback" not in str(result.stdout)
    assert "run.py" not in str(result.stdout)


def test_a_fault_in_the_kit_is_an_error(pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Verdict:
        raise ZeroDivisionError("the judge broke")

    check = next(one for one in load_builtin() if one.id == "token-expired-refused")
    judge = replace(JUDGES[check.judge], decide=broken)
    monkeypatch.setattr("mcp_auth_contract.execution.cases.JUDGES", {**JUDGES, check.judge: judge})
    write_server(pytester)
    result = run("-k", "token-expired-refused", "mcp-auth-contract.toml")
    assert counted(result) == {"errors": 1}
    result.stdout.fnmatch_lines(["*a kit error: ZeroDivisionError: the judge broke"])
    assert "Traceback" not in str(result.stdout)


def test_a_faulty_contract_is_a_collection_error_in_its_own_words(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester, edit="[targett]\nurl = 'x'\n")
    result = run("mcp-auth-contract.toml")
    assert counted(result) == {"errors": 1}
    result.stdout.fnmatch_lines(["*mcp-auth-contract.toml: targett: *did you mean*"])
    assert "Traceback" not in str(result.stdout)
    missing = run("--mcp-auth-contract", "no-such.toml")
    assert missing.ret == pytest.ExitCode.USAGE_ERROR
    missing.stderr.fnmatch_lines(["ERROR: --mcp-auth-contract: *no-such.toml: no such contract file"])


def test_the_ini_key_names_contracts_outside_the_tests(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester, name="billing.toml")
    pytester.makeini("[pytest]\ntestpaths = tests\nmcp_auth_contract = billing.toml\n")
    (pytester.mkdir("tests") / "test_own.py").write_text("def test_own(): pass")
    result = run("-k", "token-expired-refused or test_own")
    assert counted(result) == {"passed": 2}


def test_x_stops_at_the_first_failure(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester, "expiry-ignored")
    assert counted(run("-x", "-k", "token-expired", "mcp-auth-contract.toml"))["failed"] == 1


def test_lf_asks_only_what_failed(pytester: pytest.Pytester) -> None:
    from tests.plugin.contracts import PLUGIN

    write_server(pytester, "expiry-ignored")
    words = (*PLUGIN, "mcp-auth-contract.toml")
    first = counted(pytester.runpytest_inprocess(*words, "-k", "token-expired-refused or token-typ"))
    assert first["failed"] == 1
    before = asked(pytester)
    again = pytester.runpytest_inprocess(*words, "--lf")
    assert counted(again) == {"failed": 1}
    assert asked(pytester) - before < 20


def test_junit_has_the_check_its_level_impact_and_citations(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester, "expiry-ignored")
    run("-k", "token-expired-refused", "--junitxml=j.xml", "mcp-auth-contract.toml")
    case = ET.parse(pytester.path / "j.xml").getroot().find(".//testcase")
    assert case is not None
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert properties["check"] == "token-expired-refused"
    assert properties["level"] == "MUST"
    assert properties["impact"] == "auth-bypass"
    assert "RFC 7519" in (properties["citations"] or "")
    failure = case.find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("expected 401")
    assert "fix" in (failure.text or "")


def test_warnings_of_the_server_are_no_errors_and_its_log_is_no_tests(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester, "expiry-ignored")
    server = pytester.path / "server.py"
    server.write_text(
        server.read_text().replace(
            'note("asked")',
            'note("asked"); import warnings, logging; warnings.warn("old"); logging.error("the server logs")',
        )
    )
    pytester.makeini("[pytest]\nfilterwarnings =\n    error\n    ignore::pytest.PytestAssertRewriteWarning\n")
    result = run("-k", "token-expired-refused", "mcp-auth-contract.toml")
    assert counted(result) == {"failed": 1}
    result.stdout.fnmatch_lines(["*observed *200 with a result*"])
    assert "the server logs" not in str(result.stdout)


WAIVER = """
[[waiver]]
check = "token-expired-refused"
reason = "the library is replaced next month"
owner = "dora"
expires = {day}
"""


def test_a_waiver_is_a_strict_expected_failure(pytester: pytest.Pytester, run: Run) -> None:
    file = pytester.path / "mcp-auth-contract-waivers.toml"
    words = ("-rxf", "-k", "token-expired-refused", "mcp-auth-contract.toml")
    file.write_text(WAIVER.format(day="2999-01-31"))
    write_server(pytester, "expiry-ignored")
    waived = run(*words)
    assert counted(waived) == {"xfailed": 1}
    waived.stdout.fnmatch_lines(["XFAIL *waived by dora until 2999-01-31: the library is replaced next month*"])
    write_server(pytester)
    stale = run(*words)
    assert counted(stale) == {"failed": 1}
    stale.stdout.fnmatch_lines(["[[]XPASS(strict)]", "*waiver 1 (check token-expired-refused): *passes; remove it"])
    write_server(pytester, "expiry-ignored")
    file.write_text(WAIVER.format(day="2020-01-31"))
    expired = run(*words)
    assert counted(expired) == {"failed": 1}
    expired.stdout.fnmatch_lines(["*expired on 2020-01-31*"])
