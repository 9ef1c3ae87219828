"""Tasks in which one principal reads a record, in the hands of another (MCP 2025-11-25 tasks, SEP-2663)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.checks.client import LISTS, PrincipalSession, call_of
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.handles.observation import TaskObserved, result_in, task_status
from mcp_auth_contract.checks.isolation.observation import Asked
from mcp_auth_contract.checks.isolation.probe import canary_of, owner_and_other, pointed, step
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import AccessQuestion
from mcp_auth_contract.contract import Operation, Ways
from mcp_auth_contract.contract.pointers import pointed_at
from mcp_auth_contract.wire import Call
from mcp_auth_contract.wire.conversation import Received

_EXTENSION = "io.modelcontextprotocol/tasks"
_CLIENT: Mapping[str, Any] = {"extensions": {_EXTENSION: {}}}
_TTL_MS = 60_000
_MOST_LOOKS = 40
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
_MOST_PAGES = 20
_RUNNING = frozenset({"working", "input_required"})


@dataclass(slots=True)
class _Scene:
    """The steps so far. `core` tasks are those of 2025-11-25; the extension has no `tasks/result` and no list."""

    operation: Operation
    core: bool
    capabilities: Mapping[str, Any]
    calls: list[Asked] = field(default_factory=list)
    listing: set[str] = field(default_factory=set)

    def offers(self, method: str) -> bool:
        """Whether the server announces a method for tasks besides get and result; the extension has cancel alone."""
        return method in self.capabilities if self.core else method == "cancel"

    async def start(self, name: str, caller: PrincipalSession) -> str | None:
        """Start a task, and return its id; None where no task came of it."""
        plain = call_of(self.operation)
        more = {"task": {"ttl": _TTL_MS}} if self.core else {}
        note = f"isolation, task, {name}: {caller.principal}"
        received = await caller.say(Call(plain.method, {**plain.params, **more}), note=note, capabilities=_CLIENT)
        self.calls.append(step(name, caller, received))
        return pointed(received, "/task/taskId" if self.core else "/taskId")

    async def ask(self, name: str, caller: PrincipalSession, method: str, task: str) -> None:
        """Call a method for one task."""
        self.calls.append(await _said(name, caller, method, task))

    async def get(self, caller: PrincipalSession, task: str, when: str = "") -> None:
        """Let another principal ask for a task, and for its result where there is a method for that."""
        for method in ("get", "result") if self.core else ("get",):
            await self.ask(f"foreign {method}{when}", caller, f"tasks/{method}", task)

    async def finish(self, name: str, caller: PrincipalSession, task: str) -> None:
        """Wait until the task has ended, as its owner sees it, and get its result."""
        looked = await _said(name, caller, "tasks/get", task)
        for _ in range(_MOST_LOOKS):
            if task_status(looked) not in _RUNNING:
                break
            await asyncio.sleep(_pause(looked))
            looked = await _said(name, caller, "tasks/get", task)
        if self.core and looked.accepted:
            looked = await _said(name, caller, "tasks/result", task)
        self.calls.append(looked)

    async def list(self, name: str, caller: PrincipalSession, task: str) -> None:
        """List the tasks to the last page, and look for one among them."""
        params: dict[str, Any] = {}
        pages: list[Received] = []
        while len(pages) < _MOST_PAGES:
            received = await caller.say(Call("tasks/list", params), note=f"isolation, {name}: {caller.principal}")
            pages.append(received)
            listed = pointed_at(received.raw_reply, "/result/tasks")
            if isinstance(listed, list) and any(pointed_at(one, "/taskId") == task for one in listed):
                self.listing.add(name)
            cursor = pointed(received, "/nextCursor")
            if cursor is None or cursor == params.get("cursor"):
                break
            params = {"cursor": cursor}
        self.calls.append(step(name, caller, *pages))


async def _said(name: str, caller: PrincipalSession, method: str, task: str) -> Asked:
    note = f"isolation, {name}: {caller.principal}"
    call = Call(method, {"taskId": task})
    return step(name, caller, await caller.say(call, note=note, capabilities=_CLIENT))


def _pause(looked: Asked) -> float:
    """Return how long the server wants to be left alone, in seconds, within bounds."""
    result = result_in(looked)
    wanted = result.get("pollInterval", result.get("pollIntervalMs"))
    seconds = wanted / 1000 if isinstance(wanted, int | float) and not isinstance(wanted, bool) else _SHORTEST_PAUSE_S
    return min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, seconds))


@probe("Whom does a task serve, and who ends it?", ways=Ways.TASKS)
async def ask_task(question: AccessQuestion, context: Context) -> TaskObserved:
    """Let another principal cancel, look at and list the tasks of the owner, where the server has tasks."""
    owner, other = owner_and_other(question, context)
    scene, unasked = await _scene(question.operation, owner)
    unasked = unasked or await _play(scene, owner, other)
    return TaskObserved(
        question.owner,
        question.principal,
        (canary_of(context.contract, question.record),),
        tuple(scene.calls),
        unasked,
        listing=frozenset(scene.listing),
        core=scene.core,
    )


async def _scene(operation: Operation, owner: PrincipalSession) -> tuple[_Scene, str]:
    """Return the scene, and why there is none to play.

    What does not announce itself as a task of 2025-11-25 may not be called as one.
    """
    core = not owner.revision.stateless
    tasks = pointed_at(await _announced(owner), "/tasks" if core else f"/extensions/{_EXTENSION.replace('/', '~1')}")
    if not isinstance(tasks, dict):
        return _Scene(operation, core, {}), "the server announces no tasks"
    scene = _Scene(operation, core, tasks)
    if not core:
        return scene, ""
    tools = pointed_at(tasks, "/requests/tools")
    if not isinstance(tools, dict) or "call" not in tools:
        return scene, "the server announces no tasks for tools"
    listed = await owner.list(LISTS["tools"])
    tool = next((one for one in listed.entries if one.get("name") == operation.name), {})
    support = pointed_at(tool, "/execution/taskSupport")
    return scene, "" if support in ("optional", "required") else f"{operation.name} does not run as a task"


async def _announced(owner: PrincipalSession) -> object:
    """Return the server's capabilities: those of the live session, or of `server/discover` in the stateless era."""
    if owner.revision.stateless:
        found = await owner.say(Call("server/discover", {}), note=f"isolation, capabilities: {owner.principal}")
        return pointed_at(found.raw_reply, "/result/capabilities")
    live = await owner.session()
    return None if live is None or live.revision is not owner.revision else live.capabilities


async def _play(scene: _Scene, owner: PrincipalSession, other: PrincipalSession) -> str:
    """Play the scene; return why there was nothing to it, where the call did not become a task."""
    if scene.offers("cancel"):
        first = await scene.start("made first", owner)
        if first is not None:
            await scene.ask("foreign cancel", other, "tasks/cancel", first)
            await scene.ask("state", owner, "tasks/get", first)
            await scene.ask("own cancel", owner, "tasks/cancel", first)
    task = await scene.start("made", owner)
    if task is None:
        return f"{scene.operation.name} does not run as a task" if scene.calls[-1].accepted else ""
    await scene.get(other, task)
    await scene.finish("own", owner, task)
    await scene.get(other, task, " after")
    if scene.offers("list"):
        await scene.list("foreign list", other, task)
        await scene.list("own list", owner, task)
    return ""
