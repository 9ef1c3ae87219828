"""With one genuine token a plan asks what that token can ask, and says of the rest why not."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.checks.genuine import NO_DIFFERENCE
from mcp_auth_contract.checks.questions import CallQuestion, FormQuestion
from mcp_auth_contract.contract import Contract, control_operation, operations, read_contract
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution import Given
from mcp_auth_contract.execution.credentials import GivenToken, given_token
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import Case, make_plan
from mcp_auth_contract.tokens import Algorithm, CannotSign, Role, published_key
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.wire import Redactor

NOW = 1_800_000_000.0
REVISION = Revision.R2026_07_28
CONTRACT = """
[target]
url = "http://127.0.0.1:9/mcp"
[principals.alice]
subject = "alice"
scopes = ["read", "write"]
[principals.bob]
subject = "bob"
scopes = ["read"]
[[tools]]
name = "read_note"
scopes = ["read"]
arguments = { note = "A" }
[[tools]]
name = "whoami"
[[tools]]
name = "write_note"
scopes = ["write"]
effect = "write"
[[records]]
name = "A"
owner = "alice"
canary = "alice-canary-7f3a"
reads = [{ tool = "read_note" }]
"""


def contract() -> Contract:
    return read_contract(CONTRACT, Path("mcp-auth-contract.toml"))


CALL = CallQuestion(probe="call", revision=REVISION, operation=operations(contract())[0], principal="alice")


def token(**claims: object) -> str:
    held: Mapping[str, object] = {
        "sub": "alice",
        "exp": NOW + 300,
        "scope": "read write",
        "email": "a@b.test",
        **claims,
    }
    header, payload = (b64url(json.dumps(one, indent=1).encode()) for one in ({"alg": "RS256", "kid": "k1"}, held))
    signature = published_key(Role.ISSUER, Algorithm.RS256).sign(f"{header}.{payload}".encode())
    return f"{header}.{payload}.{b64url(signature)}"


def given(text: str, principal: str | None = None, redactor: Redactor | None = None) -> GivenToken:
    return given_token(contract(), Given("TOKEN", text, principal), lambda: NOW, redactor or Redactor())


def planned(credentials: GivenToken) -> tuple[dict[str, Case], tuple[str, ...]]:
    plan, notes = credentials.limited(make_plan(load_builtin(), credentials.made.contract, [REVISION]))
    return {case.id: case for case in plan.cases}, notes


def test_what_tampering_can_make_is_asked_between_control_calls_with_the_token_as_it_is() -> None:
    cases, _ = planned(given(token()))
    case = cases["token-alg-none-refused[read_note:none]"]
    assert case.inapplicable is None
    assert case.base is not None
    assert case.base.question.token == "good"
    assert case.base.question.scopes is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"token": "expired"}, "a changed claim would be refused for its signature"),
        ({"token": "hmac_with_public_key", "variant": "pem"}, "needs a key of the token's issuer"),
        ({"token": "jku_of_stranger", "variant": "own_kid"}, "needs the kit's own issuer"),
        ({"token": "good", "scopes": frozenset({"read"})}, "needs a token with other scopes"),
        ({"token": "good", "principal": "bob"}, "needs a token of another principal"),
        ({"token": "signed_with_es256"}, NO_DIFFERENCE),
    ],
)
def test_a_call_that_cannot_be_made_says_why(changes: Mapping[str, Any], reason: str) -> None:
    assert given(token()).made.askable(replace(CALL, **changes)) == reason


@pytest.mark.parametrize(
    ("probe", "form", "reason"),
    [
        ("timeline", "rotate_in", "needs the kit's own issuer"),
        ("leeway", "exp", "a changed claim would be refused for its signature"),
        ("identity", "meta_override", "needs a token of another principal"),
    ],
)
def test_a_scene_that_needs_the_issuer_says_why(probe: str, form: str, reason: str) -> None:
    question = FormQuestion(probe=probe, revision=REVISION, operation=CALL.operation, principal="alice", form=form)
    assert given(token()).made.askable(question) == reason


def test_a_question_for_the_very_scopes_of_the_token_is_asked() -> None:
    made = given(token()).made
    question = replace(CALL, token="good", scopes=frozenset({"read", "write"}))
    assert made.askable(question) == replace(question, scopes=None)


def test_a_question_without_a_token_is_asked_whoever_would_ask_it() -> None:
    made = given(token()).made
    question = replace(CALL, principal="bob", scopes=frozenset({"read"}))
    assert made.askable(question) == replace(question, principal="alice", scopes=None)


def test_an_operation_of_somebody_else_has_the_holders_control_call() -> None:
    cases, _ = planned(given(token(sub="bob", scope="read")))
    case = cases["challenge-missing-token-401[read_note]"]
    assert case.inapplicable is None
    assert case.base is not None
    assert (case.base.question.operation.name, case.base.question.principal) == ("whoami", "bob")


def test_the_note_counts_what_was_not_asked() -> None:
    cases, notes = planned(given(token()))
    plan = make_plan(load_builtin(), contract(), [REVISION])
    open_before = sum(case.inapplicable is None for case in plan.cases)
    open_after = sum(case.inapplicable in (None, NO_DIFFERENCE) for case in cases.values())
    expected = f"{open_before - open_after} cases that need the issuer's key were not run"
    assert notes == (f"run with a genuine token from $TOKEN: {expected}",)
    assert open_before > open_after > 100


def test_a_token_that_expires_soon_gets_a_note_and_an_expired_one_is_refused() -> None:
    _, notes = planned(given(token(exp=NOW + 42)))
    assert "the token had 42 s left" in notes[1]
    with pytest.raises(UsageError, match="--token-env TOKEN: the token expired 7 s ago"):
        given(token(exp=NOW - 7))


def test_the_holder_is_named_or_known_by_the_subject_or_makes_the_control_call() -> None:
    assert given(token(sub="bob")).made.holder == "bob"
    assert given(token(sub="9f3c")).made.holder == "alice"
    assert given(token(sub="9f3c"), "bob").made.holder == "bob"
    assert control_operation(given(token(sub="bob"), "bob").made.contract).name == "whoami"
    with pytest.raises(UsageError, match="--principal bob: the token in TOKEN speaks for alice, by its claim sub"):
        given(token(), "bob")
    with pytest.raises(UsageError, match='--principal: the contract has no principal "alicia"; did you mean "alice"'):
        given(token(), "alicia")


def test_nothing_of_the_token_passes_the_redactor() -> None:
    redactor, text = Redactor(), token()
    made = given(text, redactor=redactor).made
    twin = made.mint("alice", "json_serialization", "general")
    for said in (text, *text.split(".")[1:], twin.token):
        hidden = redactor.redact(f'the server said "{said}" to it')
        assert not any(part in hidden for part in text.split(".")[1:])
        assert "token-" in hidden


def test_only_members_that_name_nobody_are_shown() -> None:
    minted = given(token()).made.mint("alice", "alg_none", "none")
    assert minted.claims == {"sub": "…", "exp": NOW + 300, "scope": "read write", "email": "…"}
    assert minted.header == {"alg": "none", "kid": "…"}


def test_no_other_token_can_be_had() -> None:
    made = given(token()).made
    with pytest.raises(CannotSign, match="another principal"):
        made.mint("bob", "good")
    with pytest.raises(CannotSign, match="other scopes"):
        made.mint("alice", "good", scopes=frozenset({"read"}))
    with pytest.raises(CannotSign):
        made.fresh("alice")


def test_an_opaque_token_is_forged_as_an_opaque_one() -> None:
    made = given("2YotnFZFEjr1zCsicMWpAA").made
    assert made.contract.issuer.tokens == "opaque"
    assert made.forged("alice").defect == "malformed"
    assert given(token()).made.forged("alice").defect == "signed_by_stranger"
