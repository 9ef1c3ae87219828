"""The command line that repeats the decisive request of a failure."""

from collections.abc import Sequence

from mcp_auth_contract.answers import Accepted, Answer, Attempt
from mcp_auth_contract.checks.minting import Holder
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.reports.reproduce import reproduction
from mcp_auth_contract.wire import Evidence
from mcp_auth_contract.wire.evidence import Exchange

URL = "http://127.0.0.1:8000/mcp"


def command(
    authorization: str,
    holders: dict[str, Holder] | None = None,
    *,
    variable: str | None = None,
    contract: str = "mcp-auth-contract.toml",
    more: Sequence[tuple[str, str]] = (),
    minting: bool = True,
    body: str = '{"id":1}',
) -> str | None:
    evidence = Evidence()
    headers = (("Host", "127.0.0.1:8000"), ("Authorization", authorization), *more)
    exchange = Exchange("x1", "POST", URL, headers, body, False, 200, (), "", False, 0.0, 0.0)
    evidence.record(exchange)
    observed = CallObserved("get_invoice", (Attempt("", "call", Answer("x1", "POST", URL, 200), Accepted()),))
    return reproduction(observed, evidence, contract, holders or {}, variable, minting=minting)


def test_a_token_is_minted_for_its_own_principal_with_its_own_fault_and_scopes() -> None:
    label = "token-expired#12345678"
    holders = {label: Holder("bob", "expired", "long_ago", frozenset({"b", "a"}))}
    assert command(f"Bearer {label}", holders) == (
        'curl -i -X POST -H "Authorization: Bearer $(mcp-auth-contract mint mcp-auth-contract.toml bob --defect expired '
        '--variant long_ago --scope a --scope b)" --data-raw \'{"id":1}\' http://127.0.0.1:8000/mcp'
    )


def test_no_scope_at_all_is_said() -> None:
    said = command("Bearer token-good#12345678", {"token-good#12345678": Holder("alice", scopes=frozenset())})
    assert said is not None
    assert "mint mcp-auth-contract.toml alice --no-scope)" in said


def test_a_request_within_a_session_has_no_command() -> None:
    assert command("Basic x", more=[("Mcp-Session-Id", "session#87654321")]) is None


def test_a_token_whose_keys_are_gone_has_no_command() -> None:
    label = "token-good#12345678"
    assert command(f"Bearer {label}", {label: Holder("alice")}, minting=False) is None
    assert command("Basic x", minting=False) is not None


def test_a_token_that_mint_cannot_make_has_no_command() -> None:
    assert command("Bearer token-good#12345678") is None


def test_a_genuine_token_comes_from_its_variable_and_its_twins_from_nowhere() -> None:
    said = command("Token token-genuine#12345678", variable="ACCESS_TOKEN")
    assert said is not None
    assert '"Authorization: Token $ACCESS_TOKEN"' in said
    twin = {"token-alg_none#12345678": Holder("alice", "alg_none")}
    assert command("Bearer token-alg_none#12345678", twin, variable="ACCESS_TOKEN") is None


def test_without_a_contract_file_there_is_nothing_to_mint_from() -> None:
    label = "token-good#12345678"
    assert command(f"Bearer {label}", {label: Holder("alice")}, contract="(the built-in sample)") is None
    assert command("Basic x", contract="(none: anonymous probe)") is not None


def test_what_the_shell_would_read_is_quoted() -> None:
    said = command("Bearer x", contract="my contract.toml", body="it's $HOME `id`")
    assert said is not None
    assert """'it'"'"'s $HOME `id`'""" in said
