"""The sound sample server is green in each revision, and so is every legal profile.

Profiles are run against a third of all checks, another third for each; `MCP_AUTH_CONTRACT_WHOLE_MATRIX=1` runs them all.
"""

import pytest
from tests.lab.lab_runs import CHECKS, CONCERNED, EDITS, run_lab, sampled

from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.model import Error, Fail, Inconclusive, Revision
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.tokens.keys import Algorithm
from mcp_auth_contract_lab.profile import Profile


def blemishes(report: Report) -> list[str]:
    bad = (Fail, Error, Inconclusive)
    return [result.sentence for result in report.results if isinstance(result.outcome, bad)]


@pytest.mark.parametrize("way", [{}, {"freeze": True}, {"sockets": True}], ids=["inside", "moved clock", "sockets"])
def test_the_sound_server_passes_everything(way: dict[str, bool], issuer: EmbeddedIssuer) -> None:
    report = run_lab(issuer, **way)
    assert blemishes(report) == []
    assert report.gate.exit_code == 0
    assert len(report.server.revisions) == 4


@pytest.mark.parametrize("revision", Revision)
def test_the_sound_server_passes_everything_in_each_revision(revision: Revision, issuer: EmbeddedIssuer) -> None:
    report = run_lab(issuer, edits=[("[target]", f'[target]\nrevisions = ["{revision}"]')])
    assert blemishes(report) == []


def test_the_sound_server_passes_everything_on_every_revision_at_once(issuer: EmbeddedIssuer) -> None:
    report = run_lab(issuer, options=Options(checks=CHECKS, environ={}, every_revision=True))
    assert blemishes(report) == []


@pytest.mark.parametrize("profile", Profile)
def test_a_legal_profile_stays_green(profile: Profile, issuer: EmbeddedIssuer) -> None:
    core = [check.id for check in CHECKS if check.core]
    options = Options(
        checks=CHECKS, environ={}, selection=Selection(sampled(profile, 5, [*core, *CONCERNED.get(profile, [])]))
    )
    report = run_lab(issuer, profiles=[profile], edits=EDITS.get(profile, []), options=options, freeze=True)
    assert blemishes(report) == []
    assert report.gate.exit_code == 0


def test_a_server_that_insists_on_an_https_issuer_is_green() -> None:
    with EmbeddedIssuer(IssuerSettings(tls=True)) as issuer:
        report = run_lab(issuer, ca_file=issuer.ca_file)
    assert issuer.settings.tls
    assert blemishes(report) == []


@pytest.mark.parametrize("algorithm", [Algorithm.PS256, Algorithm.ES256, Algorithm.EDDSA])
def test_the_sound_server_is_green_with_each_algorithm(algorithm: Algorithm) -> None:
    # What a principal may do does not depend on how the token was signed.
    signed = Selection(("token-", "time-", "keys-", "introspection-", "scope-", "session-"))
    options = Options(checks=CHECKS, environ={}, selection=signed)
    with EmbeddedIssuer(IssuerSettings(algorithms=(algorithm,))) as issuer:
        report = run_lab(issuer, options=options, freeze=True)
    assert blemishes(report) == []
