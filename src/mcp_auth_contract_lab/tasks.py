"""Tool calls as tasks: the core feature of 2025-11-25, and the extension of 2026-07-28 (SEP-2663)."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.principal import Principal

EXTENSION = "io.modelcontextprotocol/tasks"
CORE_TASKS: Mapping[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
TASK_TOOLS = frozenset({"get_invoice"})
"""The tools that can run as a task."""

_RELATED = "io.modelcontextprotocol/related-task"
_TTL_MS = 60_000
_POLL_MS = 20


class Use(StrEnum):
    """What is done with a task."""

    GET = "tasks/get"
    RESULT = "tasks/result"
    CANCEL = "tasks/cancel"
    LIST = "tasks/list"


@dataclass(slots=True)
class Task:
    """A call on its way. The work is done when its owner asks for the result, or looks for the second time."""

    ident: str
    owner: Principal
    run: Callable[[], Mapping[str, Any]] = field(repr=False)
    created: str
    status: str = "working"
    looks: int = 0
    result: Mapping[str, Any] = field(default_factory=dict)

    def finish(self) -> None:
        """Do the work, unless the task has ended."""
        if self.status == "working":
            self.result, self.status = self.run(), "completed"

    def describe(self, *, core: bool) -> dict[str, Any]:
        """Return the task as clients of the core feature, or of the extension, see it."""
        times = {"ttl": _TTL_MS, "pollInterval": _POLL_MS} if core else {"ttlMs": _TTL_MS, "pollIntervalMs": _POLL_MS}
        when = {"createdAt": self.created, "lastUpdatedAt": self.created}
        return {"taskId": self.ident, "status": self.status, **when, **times}


def its_owner(caller: Principal, task: Task, _use: Use) -> bool:
    """A task serves the subject, tenant and client that started it."""
    return caller.key == task.owner.key


@dataclass(frozen=True, slots=True)
class TaskRules:
    """Steps: whether there are tasks, whom one serves in each use, what it is called, and how a foreign one is refused.

    `cancelled_first` is the mistake to cancel before it is asked whose the task is.
    """

    offered: bool = True
    serves: Callable[[Principal, Task, Use], bool] = its_owner
    # A foreign task looks like none.
    refuse: Callable[[Task | None], Exception] = lambda _task: rpc.Refused(rpc.INVALID_PARAMS, "task not found")
    named: Callable[[int], str] = lambda _number: secrets.token_hex(16)
    cancelled_first: bool = False


@dataclass(slots=True)
class Tasks:
    """The tasks of one server."""

    rules: TaskRules = field(default_factory=TaskRules)
    _kept: dict[str, Task] = field(default_factory=dict)

    def start(self, owner: Principal, run: Callable[[], Mapping[str, Any]], *, core: bool) -> dict[str, Any]:
        """Start a task, and return what the call is answered by."""
        ident = self.rules.named(len(self._kept) + 1)
        task = Task(ident, owner, run, datetime.now(UTC).isoformat(timespec="seconds"))
        self._kept[ident] = task
        told = task.describe(core=core)
        return {"task": told} if core else {"resultType": "task", **told}

    def answer(self, caller: Principal, use: Use, params: Mapping[str, Any], *, core: bool) -> dict[str, Any]:
        """Return the result of a method for tasks. Raises what `refuse` makes, or Refused."""
        if use is Use.LIST:
            listed = (task for task in self._kept.values() if self.rules.serves(caller, task, use))
            return {"tasks": [task.describe(core=core) for task in listed]}
        task = self._kept.get(str(params.get("taskId")))
        if task is not None and use is Use.CANCEL and self.rules.cancelled_first and task.status == "working":
            task.status = "cancelled"
        if task is None or not self.rules.serves(caller, task, use):
            raise self.rules.refuse(task)
        match use:
            case Use.CANCEL:
                if task.status != "working" and core:
                    raise rpc.Refused(rpc.INVALID_PARAMS, "the task has ended")
                task.status = "cancelled" if task.status == "working" else task.status
                return task.describe(core=core) if core else {}
            case Use.RESULT:
                task.finish()
                if task.status == "cancelled":
                    raise rpc.Refused(rpc.INVALID_PARAMS, "the task was cancelled")
                return {**task.result, "_meta": {_RELATED: {"taskId": task.ident}}}
        task.looks += 1
        if task.looks > 1:
            task.finish()
        inlined = {"result": task.result} if not core and task.status == "completed" else {}
        return {**task.describe(core=core), **inlined}
