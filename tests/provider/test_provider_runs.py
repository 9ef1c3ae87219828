"""The sample authorization server: sound it passes, and each fault is found by its own checks and by no others."""

import asyncio
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.provider.provider_runs import (
    CHECKS,
    ENVIRON,
    failed_checks,
    options,
    provider_contract,
    run_sample,
    sample_provider,
)

from mcp_auth_contract.errors import ContractError, Unreachable, UsageError
from mcp_auth_contract.execution import run_provider
from mcp_auth_contract.model import Error, Fail, Inconclusive, Pass
from mcp_auth_contract.reports.formats import FORMATS
from mcp_auth_contract.reports.markdown import render_markdown
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract_lab.breaks import PROVIDER_FILE, read_breaks
from mcp_auth_contract_lab.provider.faults import FAULTS, ProviderFault
from mcp_auth_contract_lab.provider.profiles import PROFILES
from mcp_auth_contract_lab.provider.rules import CLIENT_SECRET, PASSWORD

BREAKS = read_breaks(PROVIDER_FILE)


def outcome(report: Report, check: str) -> object:
    return next(one.outcome for one in report.results if one.check.id == check)


@pytest.mark.parametrize("secret", [False, True], ids=["public", "confidential"])
def test_a_sound_authorization_server_passes(secret: bool) -> None:
    report = run_sample(secret=secret)
    bad = [one.sentence for one in report.results if isinstance(one.outcome, Fail | Inconclusive | Error)]
    assert bad == []
    assert report.gate.exit_code == 0


def test_every_check_passes_with_one_of_the_clients() -> None:
    passed = {
        one.check.id
        for secret in (False, True)
        for one in run_sample(secret=secret).results
        if isinstance(one.outcome, Pass)
    }
    # There is no code without a challenge to downgrade, on a sound server.
    assert {check.id for check in CHECKS} - passed == {"grant-no-pkce-downgrade"}


def test_every_check_is_broken_by_a_fault() -> None:
    assert {check.id for check in CHECKS} <= {check for checks in BREAKS.values() for check in checks}
    assert set(BREAKS) == set(FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    assert failed_checks(FAULTS[fault]) == set(BREAKS[fault])


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_a_legal_profile_is_green(profile: str) -> None:
    report = run_sample(PROFILES[profile])
    assert [one.sentence for one in report.results if isinstance(one.outcome, Fail | Inconclusive | Error)] == []
    assert report.gate.exit_code == 0


def test_who_revokes_cannot_be_seen_where_no_refresh_token_works() -> None:
    report = run_sample(FAULTS["refresh-refused"], select=["revocation-by-owner-only", "revocation-ends-refresh"])
    said = "an untouched refresh token gets no token either; refresh-accepted reports it"
    assert [one.outcome for one in report.results] == [Inconclusive(said)] * 2


def test_a_password_grant_like_any_unknown_one_is_no_password_grant() -> None:
    report = run_sample(FAULTS["errors-all-invalid-request"], select=["grant-no-password-grant"])
    assert [type(one.outcome) for one in report.results] == [Pass]


def test_a_password_grant_that_wants_more_and_is_not_listed_is_not_decided() -> None:
    unlisted = ProviderFault("unlisted", "Served, not listed.", {"password_grant": True})
    (result,) = run_sample(unlisted, select=["grant-no-password-grant"]).results
    assert isinstance(result.outcome, Inconclusive)
    assert 'error "invalid_request", which a grant that does not exist does not get' in result.said


def test_a_password_that_stays_with_the_provider_is_advice() -> None:
    (result,) = run_sample(PROFILES["login-moves"], select=["flow-no-307-after-login"]).results
    assert result.outcome == Pass("a redirect with 307 repeats the password to the provider itself; 303 would not")


def test_the_user_signs_in_once() -> None:
    with sample_provider() as sample:
        asyncio.run(run_provider(provider_contract(sample.issuer), options()))
        assert sample.logins == 1


def test_a_wrong_password_is_not_tried_twice() -> None:
    with sample_provider() as sample:
        contract = provider_contract(sample.issuer, edits=[("TEST_PASSWORD", "CLIENT_SECRET")])
        report = asyncio.run(run_provider(contract, options()))
        assert sample.logins == 1
    assert isinstance(outcome(report, "flow-code-granted"), Inconclusive | Fail)
    assert report.gate.exit_code != 0


def test_registered_clients_are_deleted() -> None:
    with sample_provider() as sample:
        before = set(sample.clients)
        asyncio.run(run_provider(provider_contract(sample.issuer), options(["registration-"])))
        assert set(sample.clients) == before


def test_nothing_is_registered_without_writes() -> None:
    with sample_provider(FAULTS["registration-of-scripts"]) as sample:
        before = set(sample.clients)
        contract = provider_contract(sample.issuer, edits=[("writes = true", "writes = false")])
        report = asyncio.run(run_provider(contract, options(["registration-"])))
        assert set(sample.clients) == before
    assert {type(one.outcome).__name__ for one in report.results} == {"NotApplicable"}


def test_without_a_login_the_flow_is_inconclusive() -> None:
    edits = [('[provider.login]\nfields = { username = "alice", password = "${env:TEST_PASSWORD}" }\n', "")]
    report = run_sample(edits=edits)
    assert outcome(report, "flow-code-granted") == Inconclusive(
        "a page wants to be answered, and the contract has no [provider.login]"
    )
    assert not [one for one in report.results if isinstance(one.outcome, Fail)]


def test_login_fields_that_are_not_in_the_form_are_told() -> None:
    report = run_sample(select=["flow-code-granted"], edits=[("username =", "email ="), ("password =", "pass_word =")])
    (result,) = report.results
    assert "it has ticket, username, password" in result.said


def test_a_forbidden_capability_fails() -> None:
    report = run_sample(select=["capability-"], edits=[('registration = "required"', 'introspection = "forbidden"')])
    assert [one.case for one in report.results if isinstance(one.outcome, Fail)] == [
        "capability-as-wanted[introspection]"
    ]


def rendered(report: Report) -> Iterator[str]:
    """Every format as text, an archive by its files."""
    for one in FORMATS:
        content = one.render(report)
        if isinstance(content, str):
            yield content
        else:
            with ZipFile(BytesIO(content)) as archive:
                yield from (archive.read(name).decode() for name in archive.namelist())


@pytest.mark.parametrize("secret", [False, True])
def test_no_output_holds_a_secret(secret: bool) -> None:
    with sample_provider(FAULTS["errors-as-200"]) as sample:
        report = asyncio.run(run_provider(provider_contract(sample.issuer, secret=secret), options()))
        handed_out = [*sample.secrets(), PASSWORD, CLIENT_SECRET]
    texts = [render_markdown(report), json.dumps(report.exchanges), *rendered(report)]
    assert len(handed_out) > 20
    assert [secret for secret in handed_out if any(secret in text for text in texts)] == []


def test_a_provider_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="the provider cannot be reached"):
        asyncio.run(run_provider(provider_contract("http://127.0.0.1:9"), options()))


def test_a_foreign_provider_needs_permission() -> None:
    with pytest.raises(UsageError, match="authorized = true"):
        asyncio.run(run_provider(provider_contract("https://login.example.com"), options()))


def test_a_missing_variable_is_told_by_name() -> None:
    contract = provider_contract("http://127.0.0.1:9", secret=True)
    without = {name: value for name, value in ENVIRON.items() if name != "CLIENT_SECRET"}
    with pytest.raises(ContractError, match="CLIENT_SECRET is not set"):
        asyncio.run(run_provider(contract, options(environ=without)))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("${env:TEST_PASSWORD}", "hunter2hunter2", "holds a password"),
        (
            'client_id = "other-app" }',
            'client_id = "other-app", client_secret = "written-down" }',
            "written in the file",
        ),
    ],
)
def test_a_secret_in_the_file_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        provider_contract("http://127.0.0.1:9", edits=[(old, new)])


def test_the_contract_of_the_documentation_is_one(tmp_path: Path) -> None:
    from mcp_auth_contract.contract import load_contract

    page = (Path(__file__).parents[2] / "docs" / "provider.md").read_text("utf-8")
    file = tmp_path / "provider.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0], "utf-8")
    assert load_contract(file).provider is not None
