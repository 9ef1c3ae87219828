"""The questions of `init` on a terminal: what Enter leaves, what an answer changes, what is asked again."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.init import Draft, ServerSettings, draft_contract, interview, questions_in, render
from mcp_auth_contract.init.inspection import Inspection, Listed
from mcp_auth_contract.model import Effect

URL = "http://127.0.0.1:8000/mcp"
TOOLS = (
    {"name": "list_all", "annotations": {"readOnlyHint": True}},
    {"name": "get_one", "annotations": {"readOnlyHint": True}},
    {"name": "change", "annotations": {"readOnlyHint": False}},
)


def draft(url: str = URL) -> Draft:
    lists = {kind: Listed(complete=True) for kind in ("resources", "templates", "prompts")}
    return draft_contract(
        Inspection(
            ServerSettings(url=url), url, lists={"tools": Listed(TOOLS, complete=True), **lists}, scopes=("r", "w")
        )
    )


def answering(*answers: str) -> tuple[Callable[[str], str], list[str]]:
    """Whoever answers so, and the questions that they were asked; they must all be asked."""
    left, asked = list(answers), []

    def ask(question: str) -> str:
        asked.append(question)
        return left.pop(0)

    return ask, asked


def test_enter_leaves_everything_but_the_questions_about_people() -> None:
    before = draft()
    ask, asked = answering(*[""] * 8)
    after = interview(before, ask)
    assert len(asked) == 8
    assert after.tools == tuple(replace(tool, control_answered=tool.control) for tool in before.tools)
    assert [(one.subject, one.tenant) for one in after.principals] == [("alice", "t1"), ("bob", "t1")]
    assert questions_in(render(after)) == questions_in(render(before)) - 2


def test_answers_are_filled_in() -> None:
    ask, _ = answering("u-1", "acme", "u-2", "-", "r w", "-", "any", "list_all")
    after = interview(draft(), ask)
    contract = read_contract(render(after), Path("c.toml"))
    assert [tool.scopes for tool in contract.tools] == [("r", "w"), (), None]
    assert [tool.control for tool in contract.tools] == [True, False, False]
    assert (contract.principals["alice"].subject, contract.principals["alice"].tenant) == ("u-1", "acme")
    assert contract.principals["bob"].tenant is None
    assert "does this call always work" not in render(after)


def test_new_scopes_become_scopes_of_the_principals() -> None:
    ask, _ = answering("", "", "", "", "extra", "", "", "")
    assert interview(draft(), ask).scopes == ("r", "w", "extra")


def test_a_tool_that_was_said_to_change_nothing_reads() -> None:
    ask, _ = answering("", "", "", "", "", "", "", "change")
    after = interview(draft(), ask)
    assert [(tool.effect, tool.control) for tool in after.tools] == [
        (Effect.READ, False),
        (Effect.READ, False),
        (Effect.READ, True),
    ]


@pytest.mark.parametrize(
    ("answers", "again"),
    [
        (("alice", "", "alice", "", "", "bob", "", "", "", "", ""), "That is the same user once more"),
        (("", "", "", "", 'say "r"', "r", "", "", ""), "scopes have no quotes"),
        (("", "", "", "", "", "", "", "nope", "get_one"), "write a tool's name"),
    ],
)
def test_what_cannot_be_is_asked_again(answers: tuple[str, ...], again: str) -> None:
    ask, asked = answering(*answers)
    interview(draft(), ask)
    assert len(asked) == len(answers)
    assert any(again in question for question in asked)


@pytest.mark.parametrize(("answer", "authorized"), [("", False), ("n", False), ("y", True), ("YES", True)])
def test_only_a_yes_authorizes(answer: str, authorized: bool) -> None:
    ask, _ = answering(answer, *[""] * 8)
    after = interview(draft("https://mcp.example.com/mcp"), ask)
    assert after.authorized is authorized
    assert f"authorized = {str(authorized).lower()}" in render(after)


def test_a_terminal_is_not_shown_what_a_server_hides_in_names() -> None:
    evil = replace(draft().tools[0], name="\x1b[2Jevil\n")
    ask, asked = answering(*[""] * 6)
    interview(replace(draft(), tools=(evil,)), ask)
    assert all(question.isprintable() for question in asked)
