"""Checks of challenges in tool results are planned where the contract declares them, and for tools alone."""

import re

import pytest

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import Contract, read_contract
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.plan import Case, make_anonymous_plan, make_plan

SAMPLE = data_folder("scenarios") / "contracts" / "sample.toml"
OURS = [check for check in load_builtin() if check.family == "tool-challenge"]


def contract(challenge: str, text: str | None = None) -> Contract:
    text = SAMPLE.read_text("utf-8") if text is None else text
    return read_contract(text.replace("[policy]", f'[policy]\nchallenge = "{challenge}"'), SAMPLE)


def cases(of: Contract) -> tuple[Case, ...]:
    return make_plan(OURS, of, [Revision.R2026_07_28]).cases


def test_a_contract_of_http_statuses_asks_nothing_of_them() -> None:
    planned = cases(contract("http"))
    assert {case.check.id for case in planned} == {check.id for check in OURS}
    assert {case.inapplicable for case in planned} == {'refusals are HTTP statuses here (policy.challenge = "http")'}


@pytest.mark.parametrize("challenge", ["tool", "either"])
def test_only_tools_are_asked_for_a_challenge_in_their_result(challenge: str) -> None:
    planned = cases(contract(challenge))
    assert {case.operation.kind for case in planned if case.operation} == {OperationKind.TOOL}
    assert not any(case.inapplicable for case in planned)


def test_a_contract_without_tools_has_nobody_to_ask() -> None:
    text = SAMPLE.read_text("utf-8")
    text = re.sub(r"(?s)\[\[tools\]\].*?(?=\n\[\[resources\]\])", "", text)
    text = re.sub(r"(?s)\n\[\[(records|cursors)\]\].*", "", text)
    planned = cases(contract("tool", text))
    assert {case.inapplicable for case in planned} == {"the contract declares no protected tool"}


def test_a_control_that_is_no_tool_settles_its_cases() -> None:
    text = SAMPLE.read_text("utf-8").replace("control = true\n", "")
    text = re.sub(r"(?s)\n\[\[(records|cursors)\]\].*", "", text)
    text = re.sub(r"(?s)\[\[tools\]\].*?(?=\n\[\[resources\]\])", '[[tools]]\nname = "whoami"\n', text)
    planned = {case.id: case.inapplicable for case in cases(contract("tool", text))}
    reasons = {reason for name, reason in planned.items() if "invoice://" in name and reason}
    assert reasons == {"a challenge in a tool result is no answer to a resource request"}
    assert planned["tool-challenge-on-missing-token[whoami]"] is None


def test_a_look_at_a_url_knows_nothing_of_the_policy() -> None:
    assert make_anonymous_plan(OURS, [Revision.R2026_07_28]).cases == ()
