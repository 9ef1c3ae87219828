"""Faults of what carries over from one request to the next: exports, tasks, and states of requests."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import RpcRefused
from mcp_auth_contract_lab.tasks import Task, Use, its_owner

__all__ = ["FAULTS"]

_Bound = Callable[[Principal, Principal], bool]


def _exports(**steps: Any) -> Change:
    return lambda b: replace(b, isolation=replace(b.isolation, exports=replace(b.isolation.exports, **steps)))


def _tasks(**steps: Any) -> Change:
    return lambda b: replace(b, tasks=replace(b.tasks, **steps))


def _states(**steps: Any) -> Change:
    return lambda b: replace(b, states=replace(b.states, **steps))


def _anybody(_caller: Principal, _owner: Principal) -> bool:
    return True


def _tenant(caller: Principal, owner: Principal) -> bool:
    return caller.tenant == owner.tenant


def _subject(caller: Principal, owner: Principal) -> bool:
    return caller.subject == owner.subject


def _client(caller: Principal, owner: Principal) -> bool:
    return caller.client == owner.client


_BINDINGS: tuple[tuple[str, str, _Bound], ...] = (
    ("unbound", "anybody", _anybody),
    ("bound-to-tenant", "the whole tenant", _tenant),
    ("bound-to-subject", "whoever has the same name", _subject),
    ("bound-to-client", "all users of its OAuth client", _client),
)


def _serving(bound: _Bound, *uses: Use) -> Change:
    """Let a task serve others in some uses."""

    def serves(caller: Principal, task: Task, use: Use) -> bool:
        return its_owner(caller, task, use) or (use in uses and bound(caller, task.owner))

    return _tasks(serves=serves)


def _telling(task: Task | None) -> Exception:
    """Refuse a foreign task, with its result in the refusal."""
    return RpcRefused(rpc.INVALID_PARAMS, "task not found", None if task is None else dict(task.result or task.run()))


def _numbered(number: int) -> str:
    return f"export-{number:06}"


def _given_to(_caller: Principal, owner: Principal) -> Principal:
    return owner


def _whom(payload: Mapping[str, Any]) -> object:
    return payload["for"]


def _if_there(given: str | None, right: str) -> bool:
    return given is None or given == right


def _any_seal(_given: str | None, _right: str) -> bool:
    return True


_HANDLE = ("isolation-handle-bound",)
_CORE_TASK = ("isolation-task-bound",)
_TASK = (*_CORE_TASK, "isolation-task-extension-bound")
_CANCEL = ("isolation-task-cancel-bound", "isolation-task-extension-cancel-bound")
_LIST, _INTACT = ("isolation-task-list-filtered",), ("isolation-request-state-intact",)
_OTHERS = ("isolation-request-state-bound",)
_RECORDS = ("isolation-request-state-keeps-records", *_OTHERS)
_ONE_REQUEST = ("isolation-request-state-for-one-request",)

_EXPORTS = (
    *(
        Fault(f"isolation-handle-{name}", f"An export serves {whom}.", _exports(serves=bound))
        for name, whom, bound in _BINDINGS
    ),
    Fault("isolation-handle-spent-by-strangers", "A foreign use of an export is refused, and ends the export.",
          _exports(ended_by_strangers=True)),
    Fault("isolation-handle-numbered", "Exports are numbered one by one.",
          _exports(named=_numbered)),
)  # fmt: skip

_TASKS = (
    *(
        Fault(f"isolation-task-{name}", f"A task, its result and its end are for {whom}.",
          _serving(bound, *Use))
        for name, whom, bound in _BINDINGS
    ),
    Fault("isolation-task-status-open", "tasks/get asks for no owner.", _serving(_anybody, Use.GET)),
    Fault("isolation-task-result-open", "tasks/result asks for no owner.", _serving(_anybody, Use.RESULT)),
    Fault("isolation-task-refusal-tells", "A foreign task is refused with its result beside the refusal.",
          _tasks(refuse=_telling)),
    Fault("isolation-task-list-unfiltered", "tasks/list shows the tasks of everybody.",
          _serving(_anybody, Use.LIST)),
    Fault("isolation-task-list-by-tenant", "tasks/list shows the tasks of the tenant.",
          _serving(_tenant, Use.LIST)),
    Fault("isolation-task-cancel-open", "tasks/cancel asks for no owner.",
          _serving(_anybody, Use.CANCEL)),
    Fault("isolation-task-cancelled-before-check", "A foreign task is cancelled before the request is refused.",
          _tasks(cancelled_first=True)),
)  # fmt: skip

_STATES = (
    *(
        Fault(f"isolation-request-state-{name}-and-acting",
              f"A state serves {whom}, in the name of whoever it was given to.",
          _states(serves=bound, acting=_given_to))
        for name, whom, bound in _BINDINGS
    ),
    Fault("isolation-request-state-unbound", "A state serves anybody, each for themselves.",
          _states(serves=_anybody)),
    Fault("isolation-request-state-unsealed", "The seal of a state is not verified.",
          _states(verified=_any_seal)),
    Fault("isolation-request-state-seal-optional", "A state without a seal is as good as one with it.",
          _states(verified=_if_there)),
    Fault("isolation-request-state-seal-partial", "The seal of a state covers its user alone.",
          _states(sealed=_whom)),
    Fault("isolation-request-state-for-any-request", "A state is good with any request of its user.",
          _states(names=lambda _tool, _arguments: "")),
    Fault("isolation-request-state-for-any-arguments", "A state is good with any arguments of its tool.",
          _states(names=lambda tool, _arguments: tool)),
)  # fmt: skip

FAULTS = (*_EXPORTS, *_TASKS, *_STATES)
