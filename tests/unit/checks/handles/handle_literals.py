"""Literals of what carries over: handles, tasks and states of requests, in the hands of bob."""

from typing import Any

from tests.unit.checks.isolation.isolation_literals import ALICE, OWN, asked
from tests.unit.checks.literals import result, rpc_error, tool_error

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.handles.observation import (
    HandleObserved,
    OwnStateObserved,
    RequestStateObserved,
    TaskObserved,
)

ASKED = result(resultType="input_required", requestState="s")
WORKING = result(taskId="t", status="working")
CANCELLED = result(taskId="t", status="cancelled")
RANDOM = ("q7Zr0aLk", "Vb2mXw9T", "e5HsUd1c")


def _calls(sound: dict[str, Answer], steps: dict[str, Answer | None]) -> Any:
    named = {name.replace(" ", "_"): (name, each) for name, each in sound.items()}
    for key, each in steps.items():
        named[key] = (named[key][0] if key in named else key.replace("_", " "), each)  # type: ignore[assignment]
    return tuple(
        asked("bob" if name.startswith(("other", "foreign")) else "alice", each, name=name)
        for name, each in named.values()
        if each is not None
    )


def handle(*, unasked: str = "", handles: tuple[str, ...] = RANDOM, **steps: Answer | None) -> HandleObserved:
    """Bob uses a handle of alice, refused unless told otherwise; a step that is None is left out."""
    sound = {
        "made": result(export_id="h"),
        "control": OWN,
        "made again": result(export_id="i"),
        "other": tool_error(),
        "own": OWN,
    }
    calls = _calls(sound, steps)
    return HandleObserved("alice", "bob", (ALICE,), calls, unasked, handles=handles)


def task(
    *, unasked: str = "", core: bool = True, listing: frozenset[str] = frozenset({"own list"}), **steps: Answer | None
) -> TaskObserved:
    """Bob asks for the tasks of alice, refused unless told otherwise."""
    sound = {
        "made first": result(task={"taskId": "t", "status": "working"}),
        "foreign cancel": rpc_error(),
        "state": WORKING,
        "own cancel": CANCELLED,
        "made": result(task={"taskId": "u", "status": "working"}),
        "foreign get": rpc_error(),
        "foreign result": rpc_error(),
        "own": OWN,
        "foreign get after": rpc_error(),
        "foreign result after": rpc_error(),
        "foreign list": result(tasks=[]),
        "own list": result(tasks=[{"taskId": "u"}]),
    }
    calls = _calls(sound, steps)
    return TaskObserved("alice", "bob", (ALICE,), calls, unasked, listing=listing, core=core)


def state(*, unasked: str = "", **steps: Answer | None) -> RequestStateObserved:
    """Bob goes on with a call of alice, refused unless told otherwise."""
    sound = {
        "first": ASKED,
        "other first": ASKED,
        "other own": result(approved=True),
        "other": rpc_error(),
        "first again": ASKED,
        "own": OWN,
    }
    return RequestStateObserved("alice", "bob", (ALICE,), _calls(sound, steps), unasked)


def own_state(*, unasked: str = "", **steps: Answer | None) -> OwnStateObserved:
    """Alice alters the state of her own call, and sends it with another one; refused unless told otherwise."""
    sound = {
        "first": ASKED,
        "control": OWN,
        "another": ASKED,
        "garbage": rpc_error(),
        "flipped": rpc_error(),
        "cut": rpc_error(),
        "second": OWN,
        "replayed": rpc_error(),
        "control again": OWN,
    }
    calls = _calls(sound, steps)
    altered = ("flipped", "cut")
    return OwnStateObserved("alice", "alice", (), calls, unasked, alterations=altered)
