"""Tasks in which one principal reads a record, in the hands of another (MCP 2025-11-25 tasks, SEP-2663)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.handles.observation import TaskObserved, result_in, task_status
from mcp_auth_contract.checks.isolation.observation import Asked
from mcp_auth_contract.checks.isolation.probe import Caller, callers, canary_of, member, one_call, pointed
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.wire import Call, operation_call

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

    async def start(self, name: str, caller: Caller) -> str | None:
        """Start a task, and return its id; None where no task came of it."""
        plain = operation_call(self.operation.kind, self.operation.name, self.operation.arguments)
        more = {"task": {"ttl": _TTL_MS}} if self.core else {}
        note = f"isolation, task, {name}: {caller.principal}"
        received = await caller.say(Call(plain.method, {**plain.params, **more}), note, _CLIENT)
        self.calls.append(one_call(name, caller, received))
        return pointed(received, "/task/taskId" if self.core else "/taskId")

    async def ask(self, name: str, caller: Caller, method: str, task: str) -> Asked:
        """Call a method for one task."""
        asked = await self._said(name, caller, method, task)
        self.calls.append(asked)
        return asked

    async def finish(self, name: str, caller: Caller, task: str) -> None:
        """Wait until the task has ended, as its owner sees it, and get its result."""
        looked = await self._said(name, caller, "tasks/get", task)
        for _ in range(_MOST_LOOKS):
            if task_status(looked) not in _RUNNING:
                break
            await asyncio.sleep(_pause(looked))
            looked = await self._said(name, caller, "tasks/get", task)
        if not self.core or not looked.accepted:
            self.calls.append(looked)
        else:
            await self.ask(name, caller, "tasks/result", task)

    async def list(self, name: str, caller: Caller, task: str) -> None:
        """List the tasks to the last page, and look for one among them."""
        params: dict[str, Any] = {}
        pages: list[Asked] = []
        while len(pages) < _MOST_PAGES:
            note = f"isolation, {name}: {caller.principal}"
            received = await caller.say(Call("tasks/list", params), note)
            pages.append(one_call(name, caller, received))
            listed = member(received, "tasks")
            entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
            if any(entry.get("taskId") == task for entry in entries):
                self.listing.add(name)
            cursor = pointed(received, "/nextCursor")
            if cursor is None or cursor == params.get("cursor"):
                break
            params = {"cursor": cursor}
        answers = tuple(answer for page in pages for answer in page.answers)
        self.calls.append(Asked(name, caller.principal, answers, pages[-1].reading))

    async def _said(self, name: str, caller: Caller, method: str, task: str) -> Asked:
        note = f"isolation, {name}: {caller.principal}"
        return one_call(name, caller, await caller.say(Call(method, {"taskId": task}), note, _CLIENT))


def _pause(looked: Asked) -> float:
    """Return how long the server wants to be left alone, in seconds, within bounds."""
    result = result_in(looked)
    wanted = result.get("pollInterval", result.get("pollIntervalMs"))
    seconds = wanted / 1000 if isinstance(wanted, int | float) and not isinstance(wanted, bool) else _SHORTEST_PAUSE_S
    return min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, seconds))


async def ask_task(question: Question, context: Context) -> TaskObserved:
    """Let somebody else cancel, look at and list the tasks of the owner, where the server has tasks."""
    operation, owner, other = callers(question, context)
    scene, unasked = await _scene(operation, owner)
    canaries = (canary_of(owner.contract, question.record),)
    if not unasked:
        unasked = await _play(scene, owner, other)
    return TaskObserved(
        operation.name,
        owner.principal,
        other.principal,
        canaries,
        tuple(scene.calls),
        unasked,
        listing=frozenset(scene.listing),
        core=scene.core,
    )


async def _scene(operation: Operation, owner: Caller) -> tuple[_Scene, str]:
    """Return the scene, and why there is none to play.

    What does not announce itself as a task of 2025-11-25 may not be called as one.
    """
    core = not owner.revision.stateless
    announced = await owner.announced()
    extensions = announced.get("extensions")
    tasks = announced.get("tasks") if core else extensions.get(_EXTENSION) if isinstance(extensions, dict) else None
    scene = _Scene(operation, core, tasks if isinstance(tasks, dict) else {})
    if not isinstance(tasks, dict):
        return scene, "the server announces no tasks"
    if not core:
        return scene, ""
    requests = tasks.get("requests")
    tools = requests.get("tools") if isinstance(requests, dict) else None
    if not isinstance(tools, dict) or "call" not in tools:
        return scene, "the server announces no tasks for tools"
    listed = await owner.listed_tools()
    tool = next((one for one in listed.entries if one.get("name") == operation.name), {})
    execution = tool.get("execution")
    support = execution.get("taskSupport") if isinstance(execution, dict) else None
    return scene, "" if support in ("optional", "required") else f"{operation.name} does not run as a task"


async def _play(scene: _Scene, owner: Caller, other: Caller) -> str:
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
    for name in ("foreign get", "foreign result"):
        if scene.core or name == "foreign get":
            await scene.ask(name, other, f"tasks/{name.split()[1]}", task)
    await scene.finish("own", owner, task)
    for name in ("foreign get after", "foreign result after"):
        if scene.core or name == "foreign get after":
            await scene.ask(name, other, f"tasks/{name.split()[1]}", task)
    if scene.offers("list"):
        await scene.list("foreign list", other, task)
        await scene.list("own list", owner, task)
    return ""
