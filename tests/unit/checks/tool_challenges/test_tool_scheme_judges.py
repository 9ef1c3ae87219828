"""securitySchemes of tools, open tools, and where challenges in results lead."""

import pytest
from tests.unit.checks.literals import PATH_URL as HERE
from tests.unit.checks.literals import (
    RESOURCE,
    altered,
    answer,
    at_pointer,
    facts,
    html,
    judged,
    nothing_at,
    result,
)
from tests.unit.checks.tool_challenges.tool_literals import challenged, listed, pointed, tool

from mcp_auth_contract.checks.discovery.observation import Location
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass

IN_TOOL, EITHER = facts(challenge="tool"), facts(challenge="either")
OAUTH = {"type": "oauth2", "scopes": ["invoices:read"]}
NOAUTH = {"type": "noauth"}
SCHEMES = (
    "schemes_declared",
    "schemes_well_formed",
    "schemes_truthful",
    "schemes_name_scopes",
    "schemes_mirrored",
)


@pytest.mark.parametrize("name", SCHEMES)
def test_a_list_that_was_not_given_proves_nothing(name: str) -> None:
    assert isinstance(judged(name, listed(tool(entry=None), page=answer(503)), IN_TOOL), Inconclusive)


@pytest.mark.parametrize("name", SCHEMES[1:])
def test_tools_that_state_nothing_have_nothing_to_judge(name: str) -> None:
    assert isinstance(judged(name, listed(tool()), IN_TOOL), NotApplicable)


def test_only_a_contract_of_in_band_challenges_demands_schemes() -> None:
    assert isinstance(judged("schemes_declared", listed(tool()), EITHER), NotApplicable)
    assert isinstance(judged("schemes_declared", listed(tool(OAUTH), tool()), IN_TOOL), Fail)
    assert judged("schemes_declared", listed(tool(OAUTH), tool(entry=None)), IN_TOOL) == Pass()


def test_the_mirror_alone_and_silent_open_tools_are_advice() -> None:
    mirror = tool(entry={"name": "get_invoice", "_meta": {"securitySchemes": [OAUTH]}})
    for tools in ([mirror], [tool(OAUTH), tool(public=True)]):
        verdict = judged("schemes_declared", listed(*tools), IN_TOOL)
        assert isinstance(verdict, Pass)
        assert verdict.advice is not None
    assert judged("schemes_name_scopes", listed(mirror), IN_TOOL) == Pass()


@pytest.mark.parametrize(
    "value",
    [{}, "oauth2", [], ["oauth2"], [{}], [{"type": "http"}], [{"type": "oauth2", "scopes": "a b"}],
     [{"type": "oauth2", "scopes": [1]}]],
)  # fmt: skip
def test_schemes_of_another_form_fail(value: object) -> None:
    for entry in ({"securitySchemes": value}, {"_meta": {"securitySchemes": value}}):
        assert isinstance(judged("schemes_well_formed", listed(tool(entry=entry)), IN_TOOL), Fail)


def test_schemes_of_the_known_form_pass() -> None:
    observed = listed(tool(NOAUTH, OAUTH), tool({"type": "oauth2"}))
    assert judged("schemes_well_formed", observed, IN_TOOL) == Pass()


def test_noauth_is_true_where_a_call_without_a_token_works() -> None:
    assert judged("schemes_truthful", listed(tool(NOAUTH, OAUTH, called=(result(),))), IN_TOOL) == Pass()
    for refusal in (challenged(), answer(401)):
        assert isinstance(judged("schemes_truthful", listed(tool(NOAUTH, called=(refusal,))), IN_TOOL), Fail)
    assert isinstance(judged("schemes_truthful", listed(tool(NOAUTH, called=(answer(429),))), IN_TOOL), Inconclusive)
    assert isinstance(judged("schemes_truthful", listed(tool(NOAUTH)), IN_TOOL), Fail)


def test_oauth2_alone_is_false_for_an_open_tool() -> None:
    assert isinstance(judged("schemes_truthful", listed(tool(OAUTH, called=(result(),))), IN_TOOL), Fail)
    assert judged("schemes_truthful", listed(tool(OAUTH)), IN_TOOL) == Pass()


def test_scopes_are_compared_as_a_set() -> None:
    both = {"type": "oauth2", "scopes": ["b", "a"]}
    assert judged("schemes_name_scopes", listed(tool(both, scopes=frozenset({"a", "b"}))), IN_TOOL) == Pass()
    assert isinstance(judged("schemes_name_scopes", listed(tool(both)), IN_TOOL), Fail)
    assert isinstance(judged("schemes_name_scopes", listed(tool({"type": "oauth2"})), IN_TOOL), Fail)
    assert isinstance(judged("schemes_name_scopes", listed(tool(both, public=True)), IN_TOOL), NotApplicable)


def test_a_mirror_says_the_same_or_is_not_there() -> None:
    same = tool(entry={"securitySchemes": [OAUTH], "_meta": {"securitySchemes": [OAUTH]}})
    other = tool(entry={"securitySchemes": [OAUTH], "_meta": {"securitySchemes": [NOAUTH]}})
    assert judged("schemes_mirrored", listed(same), IN_TOOL) == Pass()
    assert isinstance(judged("schemes_mirrored", listed(same, other), IN_TOOL), Fail)
    assert isinstance(judged("schemes_mirrored", listed(tool(OAUTH)), IN_TOOL), NotApplicable)


def test_an_open_tool_works_in_one_way_at_least_and_brings_no_challenge() -> None:
    hidden = tool(public=True, called=(result(), answer(404)))
    assert judged("public_tools_open", listed(hidden), IN_TOOL) == Pass()
    for answers in ((challenged(),), (answer(401),), (html(),), (challenged(isError=False),)):
        assert isinstance(judged("public_tools_open", listed(tool(public=True, called=answers)), IN_TOOL), Fail)
    silent = tool(public=True, called=(answer(None),))
    assert isinstance(judged("public_tools_open", listed(silent), IN_TOOL), Inconclusive)
    assert isinstance(judged("public_tools_open", listed(tool(OAUTH)), IN_TOOL), NotApplicable)


@pytest.mark.parametrize("name", ["result_pointer_resolves", "result_pointer_of_this_resource"])
def test_no_pointer_is_the_finding_of_another_check(name: str) -> None:
    assert isinstance(judged(name, pointed(), IN_TOOL), Inconclusive)
    assert isinstance(judged(name, pointed(asked=()), IN_TOOL), NotApplicable)
    assert isinstance(judged(name, pointed(asked=(answer(401),)), EITHER), NotApplicable)
    assert isinstance(judged(name, pointed(asked=(answer(None),)), EITHER), Inconclusive)


def test_a_pointer_leads_to_the_document_of_this_resource() -> None:
    other = at_pointer(altered(RESOURCE, resource="https://other.example.com/mcp"))
    gone = nothing_at(Location.POINTER, HERE)
    assert judged("result_pointer_resolves", pointed(at_pointer()), IN_TOOL) == Pass()
    assert judged("result_pointer_of_this_resource", pointed(at_pointer()), IN_TOOL) == Pass()
    assert judged("result_pointer_resolves", pointed(other), IN_TOOL) == Pass()
    assert isinstance(judged("result_pointer_of_this_resource", pointed(other), IN_TOOL), Fail)
    assert isinstance(judged("result_pointer_resolves", pointed(at_pointer(), gone), IN_TOOL), Fail)
    assert isinstance(judged("result_pointer_of_this_resource", pointed(gone), IN_TOOL), Inconclusive)


def test_a_bare_name_as_audience_is_compared_by_the_url_that_clients_call() -> None:
    known = facts(challenge="tool", resource="invoices-api")
    assert judged("result_pointer_of_this_resource", pointed(at_pointer()), known) == Pass()
