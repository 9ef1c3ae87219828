"""The sound sample server is green in each revision, and so is every legal variant."""

import pytest

from lab.lab_runs import CHECKS, OPAQUE, run_lab
from mcp_auth_contract.execute import Options
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.lab.variants import Variant
from mcp_auth_contract.model import Error, Fail, Inconclusive, Revision
from mcp_auth_contract.runner import Report
from mcp_auth_contract.tokens.keys import Algorithm


def blemishes(report: Report) -> list[str]:
    bad = (Fail, Error, Inconclusive)
    return [result.sentence for result in report.results if isinstance(result.outcome, bad)]


@pytest.mark.parametrize("way", [{}, {"freeze": True}, {"sockets": True}], ids=["inside", "moved clock", "sockets"])
def test_the_sound_server_passes_everything(way: dict[str, bool], issuer: EmbeddedIssuer) -> None:
    report = run_lab(issuer, **way)
    assert blemishes(report) == []
    assert report.gate.exit_code == 0
    assert len(report.target.revisions) == 4


@pytest.mark.parametrize("revision", Revision)
@pytest.mark.parametrize("sockets", [False, True], ids=["inside", "sockets"])
def test_the_sound_server_passes_everything_in_each_revision(
    revision: Revision, sockets: bool, issuer: EmbeddedIssuer
) -> None:
    report = run_lab(issuer, sockets=sockets, edits=[("[target]", f'[target]\nrevisions = ["{revision}"]')])
    assert blemishes(report) == []


def test_the_sound_server_passes_everything_on_every_revision_at_once(issuer: EmbeddedIssuer) -> None:
    report = run_lab(issuer, options=Options(checks=CHECKS, environ={}, every_revision=True))
    assert blemishes(report) == []


_DISCOVERY = ("initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list")
_PUBLIC = [*_DISCOVERY, "server/discover"]
_SINCE_2025_11_25 = ("[target]", '[target]\nrevisions = ["2026-07-28", "2025-11-25"]')

EDITS: dict[Variant, list[tuple[str, str]]] = {
    # Revision 2025-06-18 knows the path-inserted location only, so these are legal in newer revisions alone.
    Variant.ROOT_METADATA: [_SINCE_2025_11_25],
    Variant.HEADER_ONLY_METADATA: [_SINCE_2025_11_25],
    Variant.SCP_LIST: [("[claims]", '[claims]\nscope = "scp"\nscope_format = "list"')],
    Variant.PUBLIC_DISCOVERY: [("public = []", f"public = {_PUBLIC}")],
    Variant.TOOL_CHALLENGE: [("public = []", f'challenge = "tool"\npublic = {_PUBLIC}')],
    Variant.OPAQUE: [*OPAQUE],
    Variant.ANY_TYP: [("[claims]", '[claims]\ntyp = "JWT"')],
}
"""What a contract has to say about a variant; a contract tells the truth about its server."""


@pytest.mark.parametrize("variant", Variant)
def test_a_legal_variant_stays_green(variant: Variant, issuer: EmbeddedIssuer) -> None:
    report = run_lab(issuer, variants=[variant], edits=EDITS.get(variant, []), freeze=True)
    assert blemishes(report) == []
    assert report.gate.exit_code == 0


def test_a_server_that_insists_on_an_https_issuer_is_green() -> None:
    with EmbeddedIssuer(IssuerSettings(tls=True)) as issuer:
        report = run_lab(issuer, ca_file=issuer.ca_file)
    assert issuer.settings.tls
    assert blemishes(report) == []


@pytest.mark.parametrize("algorithm", [Algorithm.PS256, Algorithm.ES256, Algorithm.EDDSA])
def test_the_sound_server_is_green_with_each_algorithm(algorithm: Algorithm) -> None:
    with EmbeddedIssuer(IssuerSettings(algorithms=(algorithm,))) as issuer:
        report = run_lab(issuer, freeze=True)
    assert blemishes(report) == []
