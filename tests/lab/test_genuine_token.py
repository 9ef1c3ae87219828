"""With one genuine token, of an issuer that the kit does not control, the sound server is green and faults are found."""

import json
import re
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from tests.lab.lab_runs import CHECKS, INSIDE, run_lab, sample_contract

from mcp_auth_contract.checks.minting import Minter, profile_of
from mcp_auth_contract.clock import system_clock
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution import Given, Options
from mcp_auth_contract.execution.issuer_control import Powers
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.junit import render_junit
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.text import print_report
from mcp_auth_contract.wire import Redactor
from mcp_auth_contract_lab.breaks import read_breaks
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.sample import OPAQUE


def genuine(issuer: EmbeddedIssuer, principal: str = "alice") -> str:
    resource = f"{INSIDE}/mcp"
    contract = sample_contract(resource)
    profile = replace(profile_of(contract, issuer.url, resource), extra={"email": "somebody@private.test"})
    keys = issuer.signing_key(), issuer.key_of
    return Minter(contract, profile, *keys, system_clock, Redactor()).mint(principal, "good").token


def run(issuer: EmbeddedIssuer, token: str, fault: Fault | None = None, principal: str | None = None) -> Report:
    given = Given("ACCESS_TOKEN", token, principal)
    options = Options(checks=CHECKS, environ={}, name="sample.toml", genuine=given)
    return run_lab(issuer, fault=fault, options=options)


def outputs(report: Report) -> dict[str, str]:
    text = StringIO()
    print_report(report, Console(file=text, width=4000), verbose=True)
    return {"text": text.getvalue(), "JSON": render_json(report), "JUnit": render_junit(report)}


def failed(report: Report, level: str = "MUST") -> set[str]:
    return {one.check.id for one in report.results if isinstance(one.outcome, Fail) and one.check.level == level}


@pytest.mark.parametrize("principal", ["alice", "bob", "carol"])
def test_the_sound_server_is_green_with_a_genuine_token(principal: str, issuer: EmbeddedIssuer) -> None:
    report = run(issuer, genuine(issuer, principal))
    assert report.gate.exit_code == 0
    assert failed(report) == set()
    assert not [one.sentence for one in report.results if isinstance(one.outcome, Inconclusive | Error)]
    assert report.counts["pass"] > 300
    assert {control.principal for control in report.controls} == {principal}


def test_what_needs_the_issuers_key_is_told_as_not_applicable(issuer: EmbeddedIssuer) -> None:
    report = run(issuer, genuine(issuer))
    reasons = {one.check.id: one.outcome.reason for one in report.results if isinstance(one.outcome, NotApplicable)}
    assert reasons["token-expired-refused"] == "a changed claim would be refused for its signature"
    assert reasons["scope-missing-denied"] == "needs a token with other scopes"
    assert reasons["keys-withdrawn-refused"] == "needs the kit's own issuer"
    assert re.fullmatch(
        r"run with a genuine token from \$ACCESS_TOKEN: \d{3,4} cases that need the issuer's key were not run",
        report.notes[0],
    )


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("alg-none-accepted", "token-alg-none-refused"),
        ("signature-not-verified", "token-signature-bit-flipped-refused"),
        ("query-token-accepted", "token-in-query-refused"),
        ("any-scheme-accepted", "token-other-scheme-refused"),
    ],
)
def test_a_fault_that_needs_no_key_is_found(fault: str, check: str, issuer: EmbeddedIssuer) -> None:
    report = run(issuer, genuine(issuer), FAULTS[fault])
    assert report.gate.exit_code == 1
    assert check in failed(report)
    assert failed(report) <= set(read_breaks()[fault])


@pytest.mark.parametrize("fault", [None, "signature-not-verified", "query-token-accepted"])
def test_no_output_holds_the_token_or_what_it_says_of_a_person(fault: str | None, issuer: EmbeddedIssuer) -> None:
    token = genuine(issuer)
    report = run(issuer, token, None if fault is None else FAULTS[fault])
    _, payload, signature = token.split(".")
    for name, text in outputs(report).items():
        for secret in (token, payload, signature, payload[-40:], signature[-40:], "somebody@private.test"):
            assert secret not in text, name


def test_a_failure_is_repeated_with_the_variable_and_no_mint_command(issuer: EmbeddedIssuer) -> None:
    report = run(issuer, genuine(issuer), FAULTS["any-scheme-accepted"])
    assert all(one.reproduce is None for one in report.results)  # nobody else reaches a server in this process
    text = outputs(report)["text"]
    assert "mcp-auth-contract mint" not in text
    assert "sample.toml --token-env ACCESS_TOKEN" in text


def test_no_command_pretends_to_make_a_tampered_token(issuer: EmbeddedIssuer) -> None:
    report = run(issuer, genuine(issuer), FAULTS["alg-none-accepted"])
    broken = [
        one for one in report.results if one.check.id == "token-alg-none-refused" and isinstance(one.outcome, Fail)
    ]
    assert broken
    assert all(one.reproduce is None for one in broken)
    assert json.loads(outputs(report)["JSON"])


def test_a_token_of_another_principal_is_told_before_anything_is_asked(issuer: EmbeddedIssuer) -> None:
    with pytest.raises(UsageError, match="--principal alice: the token in ACCESS_TOKEN speaks for carol"):
        run(issuer, genuine(issuer, "carol"), principal="alice")


def test_the_sound_server_is_green_with_a_genuine_opaque_token(issuer: EmbeddedIssuer) -> None:
    resource = f"{INSIDE}/mcp"
    contract = sample_contract(resource, edits=OPAQUE)
    told = Powers(issuer).register
    keys = issuer.signing_key(), issuer.key_of
    minter = Minter(
        contract, profile_of(contract, issuer.url, resource), *keys, system_clock, Redactor(), register=told
    )
    token = minter.mint("alice", "good").token
    options = Options(checks=CHECKS, environ={}, name="sample.toml", genuine=Given("ACCESS_TOKEN", token))
    report = run_lab(issuer, profiles=[Profile.OPAQUE], options=options)
    assert failed(report) == set()
    assert report.gate.exit_code == 0
    reasons = {one.check.id: one.outcome.reason for one in report.results if isinstance(one.outcome, NotApplicable)}
    assert reasons["introspection-inactive-refused"] == "needs the kit's own issuer"
    assert all(token not in text for text in outputs(report).values())
