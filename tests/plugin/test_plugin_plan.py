"""What is collected before anything is sent holds whatever a run can ask later."""

import itertools
from pathlib import Path

import pytest
from tests.plugin.contracts import CONTRACT

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import Selection, make_plan
from mcp_auth_contract.pytest_plugin.items import collected

CHECKS = load_builtin()
SAMPLE = (data_folder("scenarios") / "contracts" / "sample.toml").read_text("utf-8")
OPAQUE = SAMPLE.replace("[issuer]", '[issuer]\ntokens = "opaque"').replace("[policy]", "[policy]\nrevocation = 60")


@pytest.mark.parametrize("text", [SAMPLE, OPAQUE, CONTRACT], ids=["sample", "opaque", "small"])
def test_every_case_of_every_run_has_a_test(tmp_path: Path, text: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(text.replace('revisions = ["2026-07-28"]\n', ""), "utf-8")
    session = collected(file, name="c.toml", fail_on="must", wait=0, waivers=None)
    contract = read_contract(file.read_text("utf-8"), file)
    newest_first = sorted(Revision, reverse=True)
    for many in (1, 2, 4):
        for revisions in itertools.combinations(newest_first, many):
            for case in make_plan(CHECKS, contract, revisions).cases:
                whole_check = case.id == case.check.id and case.inapplicable is not None
                assert case.id in session.cases or whole_check, case.id


def test_a_selection_of_ids_admits_them_and_no_other() -> None:
    contract = read_contract(SAMPLE, Path("sample.toml"))
    wanted = frozenset({"token-expired-refused[get_invoice]", "prm-served"})
    plan = make_plan(CHECKS, contract, (Revision.R2025_11_25,), selection=Selection(ids=wanted))
    assert {case.id for case in plan.cases} == wanted
    assert not wanted & {case.id for case in plan.left_out}
    nothing = make_plan(CHECKS, contract, (Revision.R2025_11_25,), selection=Selection(ids=frozenset()))
    assert nothing.cases == ()
