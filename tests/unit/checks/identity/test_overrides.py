"""Names in a request that are not the token's: what they name, where, and what stays beside them."""

import pytest

from mcp_auth_contract.checks.identity.overrides import OVERRIDES
from mcp_auth_contract.checks.presentation import Presentation

MESSAGE: dict[str, object] = {
    "id": 1,
    "params": {"name": "x", "arguments": {"a": 1, "user_id": "alice"}, "_meta": {"v": 1}},
}


def sent(override: Presentation) -> str:
    """What the override makes of a request, as text."""
    return repr((override.headers, override.url("https://mcp.test/mcp"), override.body(MESSAGE)))


@pytest.mark.parametrize("place", OVERRIDES)
def test_an_override_names_subject_and_tenant_and_a_principal_without_tenant_the_subject_alone(place: str) -> None:
    for override in OVERRIDES[place]("bob", "t1"):
        assert override.offered
        assert "bob" in sent(override)
        assert "t1" in sent(override)
    assert all("None" not in sent(override) for override in OVERRIDES[place]("bob", None))


def test_each_override_of_a_place_says_which_names_it_uses() -> None:
    said = [one.offered for make in OVERRIDES.values() for one in make("bob", "t1")]
    assert len(said) == len(set(said)) == 18
    assert {"arguments user_id and tenant_id", "query user and tenant", "a clientInfo"} <= set(said)
    assert "arguments user_id" in [one.offered for one in OVERRIDES["argument_override"]("bob", None)]


def test_an_override_changes_its_own_members_and_leaves_the_others() -> None:
    first, *_ = OVERRIDES["argument_override"]("bob", None)
    arguments = {"a": 1, "user_id": "bob"}
    assert first.body(MESSAGE) == {"id": 1, "params": {"name": "x", "arguments": arguments, "_meta": {"v": 1}}}
    (info,) = OVERRIDES["client_info_override"]("bob", "t1")
    told = {"name": "bob", "title": "bob", "version": "1", "tenant": "t1"}
    meta = {"v": 1, "io.modelcontextprotocol/clientInfo": told}
    assert info.body(MESSAGE) == {"id": 1, "params": {**MESSAGE["params"], "_meta": meta}}  # type: ignore[dict-item]
    assert MESSAGE["params"]["arguments"]["user_id"] == "alice"  # type: ignore[index]


def test_a_query_goes_behind_one_that_is_there() -> None:
    first, *_ = OVERRIDES["query_override"]("b/b", "t 1")
    assert first.url("https://mcp.test/mcp") == "https://mcp.test/mcp?user_id=b%2Fb&tenant_id=t%201"
    assert first.url("https://mcp.test/mcp?a=1").endswith("?a=1&user_id=b%2Fb&tenant_id=t%201")
