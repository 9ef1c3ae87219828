"""Faults of what carries over from one request to the next: exports, tasks, and states of requests."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.fault import Change, Faults, changing
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import RpcRefused
from mcp_auth_contract_lab.steps import always
from mcp_auth_contract_lab.tasks import Task, Use, its_owner

FAULTS = Faults()

_Bound = Callable[[Principal, Principal], bool]

_tasks, _states = partial(changing, "tasks"), partial(changing, "states")


def _exports(**steps: Any) -> Change:
    return lambda b: replace(b, isolation=replace(b.isolation, exports=replace(b.isolation.exports, **steps)))


def _tenant(caller: Principal, owner: Principal) -> bool:
    return caller.tenant == owner.tenant


_BINDINGS: tuple[tuple[str, str, _Bound], ...] = (
    ("unbound", "anybody", always),
    ("bound-to-tenant", "the whole tenant", _tenant),
    ("bound-to-subject", "whoever has the same name", lambda caller, owner: caller.subject == owner.subject),
    ("bound-to-client", "all users of its OAuth client", lambda caller, owner: caller.client == owner.client),
)


def _serving(bound: _Bound, *uses: Use) -> Change:
    """Let a task serve others in some uses."""
    return _tasks(serves=lambda caller, task, use: (
        its_owner(caller, task, use) or (use in uses and bound(caller, task.owner))))  # fmt: skip


@FAULTS.step("tasks", "refuse")
def isolation_task_refusal_tells(task: Task | None) -> Exception:
    """A foreign task is refused with its result beside the refusal."""
    return RpcRefused(rpc.INVALID_PARAMS, "task not found", None if task is None else dict(task.result or task.run()))


FAULTS.rows(
    *(
        (f"isolation-handle-{name}", f"An export serves {whom}.", _exports(serves=bound))
        for name, whom, bound in _BINDINGS
    ),
    ("isolation-handle-spent-by-strangers", "A foreign use of an export is refused, and ends the export.",
     _exports(ended_by_strangers=True)),
    ("isolation-handle-numbered", "Exports are numbered one by one.",
     _exports(named=lambda number: f"export-{number:06}")),
    *(
        (f"isolation-task-{name}", f"A task, its result and its end are for {whom}.", _serving(bound, *Use))
        for name, whom, bound in _BINDINGS
    ),
    ("isolation-task-status-open", "tasks/get asks for no owner.", _serving(always, Use.GET)),
    ("isolation-task-result-open", "tasks/result asks for no owner.", _serving(always, Use.RESULT)),
    ("isolation-task-list-unfiltered", "tasks/list shows the tasks of everybody.", _serving(always, Use.LIST)),
    ("isolation-task-list-by-tenant", "tasks/list shows the tasks of the tenant.", _serving(_tenant, Use.LIST)),
    ("isolation-task-cancel-open", "tasks/cancel asks for no owner.", _serving(always, Use.CANCEL)),
    ("isolation-task-cancelled-before-check", "A foreign task is cancelled before the request is refused.",
     _tasks(cancelled_first=True)),
    *(
        (f"isolation-request-state-{name}-and-acting",
         f"A state serves {whom}, in the name of whoever it was given to.",
         _states(serves=bound, acting=lambda _caller, given_to: given_to))
        for name, whom, bound in _BINDINGS
    ),
    ("isolation-request-state-unbound", "A state serves anybody, each for themselves.", _states(serves=always)),
    ("isolation-request-state-unsealed", "The seal of a state is not verified.", _states(verified=always)),
    ("isolation-request-state-seal-optional", "A state without a seal is as good as one with it.",
     _states(verified=lambda given, right: given is None or given == right)),
    ("isolation-request-state-seal-partial", "The seal of a state covers its user alone.",
     _states(sealed=lambda payload: payload["for"])),
    ("isolation-request-state-for-any-request", "A state is good with any request of its user.",
     _states(names=lambda _tool, _arguments: "")),
    ("isolation-request-state-for-any-arguments", "A state is good with any arguments of its tool.",
     _states(names=lambda tool, _arguments: tool)),
)  # fmt: skip
