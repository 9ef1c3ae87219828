"""One part of a plan: several machines share its cases out, and each knows its own without asking the others."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.registry import PROBES
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.model import Revision
from mcp_auth_contract.plan import Case, Plan
from mcp_auth_contract.reports.model import ShardSeen

_ALONE = 8
"""What a timeline costs, in calls: it runs alone, with controls of its own, and lets time pass."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` of `of`, counted from 1."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read `2/4`. Raises UsageError for anything else."""
        index, slash, of = text.partition("/")
        if not (slash and index.isdecimal() and of.isdecimal() and 1 <= int(index) <= int(of) <= _MOST):
            raise UsageError(f'--shard: "{text}": write it like 2/4, the second of four parts (at most {_MOST})')
        return cls(int(index), int(of))


_MOST = 256


def plan_digest(cases: Iterable[tuple[str, Revision | None]]) -> str:
    """Return a digest of the ids and revisions of cases, whatever their order."""
    lines = sorted(f"{name} {revision or ''}" for name, revision in cases)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16]


def sharded(plan: Plan, shard: Shard) -> tuple[Plan, ShardSeen]:
    """Return the part of a plan, and what a report tells of it.

    Cases with one id, and cases that ask one question, stay together. Of each base, every part gets about as much as
    the others; a part brackets its own cases by controls as a whole run does. The same plan is always cut alike.

    Raises UsageError when the plan has too few cases to give each part one.
    """
    seen = ShardSeen(shard.index, shard.of, plan_digest((case.id, case.revision) for case in plan.cases))
    groups = _groups(plan.cases)
    running = sum(1 for group in groups if _weight(group))
    if running < shard.of:
        most = max(running, 1)
        raise UsageError(f"--shard {shard.index}/{shard.of}: the plan can be cut into {most} at most")
    loads = [0.0] * shard.of
    own: set[Case] = set()
    by_base: dict[str, list[float]] = {}
    for group in sorted(groups, key=_order):
        weight = _weight(group)
        parts = by_base.setdefault(_base(group), [0.0] * shard.of)
        # The lightest part so far; among equals the one with the least of this base, so that no base piles up.
        chosen = min(range(shard.of), key=lambda number: (loads[number], parts[number], number))
        loads[chosen] += weight
        parts[chosen] += weight
        if chosen == shard.index - 1:
            own.update(group)
    return replace(plan, cases=tuple(case for case in plan.cases if case in own)), seen


def _order(group: Sequence[Case]) -> tuple[int, str, str]:
    """The heaviest first, as a late heavy one would tip the balance; then by base and id."""
    return -_weight(group), _base(group), min(case.id for case in group)


def _base(group: Sequence[Case]) -> str:
    bases = [case.base.question for case in group if case.base is not None]
    if not bases:
        return ""
    first = bases[0]
    name = first.operation.name if first.operation is not None else ""
    return f"{first.revision} {name} {first.principal} {sorted(first.scopes) if first.scopes is not None else ''}"


def _weight(group: Sequence[Case]) -> int:
    questions = {case.question for case in group if case.question is not None and not case.inapplicable}
    return sum(_ALONE if PROBES[question.probe].alone else 1 for question in questions)


def _groups(cases: Sequence[Case]) -> list[list[Case]]:
    """Cases joined by an equal id or an equal question (union by the first seen)."""
    parents: dict[str | Question, str | Question] = {}

    def root(key: str | Question) -> str | Question:
        while parents.setdefault(key, key) != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for case in cases:
        if case.question is not None and not case.inapplicable:
            parents[root(case.question)] = root(case.id)
    groups: dict[str | Question, list[Case]] = {}
    for case in cases:
        groups.setdefault(root(case.id), []).append(case)
    return list(groups.values())
