"""Running a plan: questions are asked once, cases are bracketed by their controls, judges decide, nothing is lost."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from mcp_auth_contract.answers import Accepted, AmbiguityReason, Ambiguous, Refused, describe
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.checks.questions import AccessQuestion, Question
from mcp_auth_contract.checks.registry import JUDGES
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.execution.bracket import Bracket, Held
from mcp_auth_contract.execution.ordering import batches, is_alone, is_last, is_lesser
from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Outcome, Pass
from mcp_auth_contract.plan import Base, Case
from mcp_auth_contract.reports.model import About, ControlSeen, Result

O = TypeVar("O", bound=Observation)  # noqa: E741  the observation looked for


_SILENCE = 5
"""After so many requests in a row without an answer a control call is made, and none after that if it gets none."""

_PAUSES = (0.2, 1.0, 3.0)
"""Seconds to wait before a failed control is tried again: lock-outs and rate limits are told from breakage."""


@dataclass(slots=True)
class Run:
    """One run of a plan's cases. `ask` sends a question, `facts` gives a judge its ground truth.

    `fault` turns an unexpected exception into one redacted line. `outcomes` grows while the run goes on, so that an
    interrupted run still has everything it had settled. `unanswered` counts the last requests in a row without an
    answer, `try_again` makes a control call; `stopped` is why the run ended before its time.
    """

    ask: Callable[[Question], Awaitable[Observation]]
    facts: Callable[[Case], Facts]
    fault: Callable[[Exception], str]
    reproduce: Callable[[Observation], str | None]
    jobs: int = 8
    settled: Callable[[Case, Outcome], None] = lambda _case, _outcome: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    unanswered: Callable[[], int] = lambda: 0
    try_again: Callable[[], Awaitable[object]] | None = None
    stopped: str | None = None
    outcomes: dict[Case, Result] = field(default_factory=dict)
    controls: dict[Base, ControlSeen] = field(default_factory=dict)
    _held: Counter[Base] = field(default_factory=Counter)
    _asked: dict[Question, "asyncio.Task[Observation]"] = field(default_factory=dict)
    _free: set[Question] = field(default_factory=set)
    _gate: asyncio.Semaphore = field(init=False)
    _doubting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _work: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        self._gate = asyncio.Semaphore(self.jobs)

    async def over(self, cases: Sequence[Case], *, seconds: float | None = None, limit: str = "") -> None:
        """Run all cases. After `seconds` what has no outcome yet is inconclusive, for the reason `limit`.

        So is the rest where the server has stopped answering.
        """
        self._work = work = asyncio.ensure_future(self._over(cases))
        timer = None
        if seconds is not None:
            timer = asyncio.get_running_loop().call_later(max(seconds, 0.0), self.stop, limit)
        try:
            await work
        except asyncio.CancelledError:
            outer = asyncio.current_task()
            if self.stopped is None or (outer is not None and outer.cancelling()):
                raise
            self.close(cases, self.stopped)
        finally:
            if timer is not None:
                timer.cancel()

    def stop(self, reason: str) -> None:
        """End the run before its time."""
        if self.stopped is None and self._work is not None and not self._work.done():
            self.stopped = reason
            self._work.cancel()

    async def _over(self, cases: Sequence[Case]) -> None:
        """Run all cases; those that change the server's state run alone, after the others."""
        for case in cases:
            if case.question is None or case.inapplicable:
                self._settle(case, NotApplicable(case.inapplicable or "nothing to ask"))
            elif case.unasked:
                self._settle(case, Inconclusive(case.unasked))
        pending = [case for case in cases if case not in self.outcomes]
        pending.sort(key=is_lesser)  # so that a run which ends before its time has asked what matters most
        together = [case for case in pending if not is_alone(case) and not is_last(case)]
        try:
            for _, same in groupby(together, key=is_lesser):
                await self._together(list(same))
            for base, batch in batches((case for case in pending if is_alone(case) and case.base is not None), size=1):
                await self._bracketed(base, batch)
            for case in pending:
                if is_alone(case) and case.base is None:
                    await self._freely([case])
            # What looks back on the whole run comes after everything else.
            for base, batch in batches((case for case in pending if is_last(case) and case.base is not None), size=1):
                await self._bracketed(base, batch)
            await self._freely([case for case in pending if is_last(case) and case.base is None])
        finally:
            for task in self._asked.values():
                task.cancel()

    async def _together(self, cases: Sequence[Case]) -> None:
        """Run cases that do not disturb each other, at most `jobs` brackets open at once."""
        few = asyncio.Semaphore(self.jobs)

        async def bracketed(base: Base, batch: Sequence[Case]) -> None:
            async with few:
                await self._bracketed(base, batch)

        async with asyncio.TaskGroup() as group:
            for base, batch in batches(case for case in cases if case.base is not None):
                group.create_task(bracketed(base, batch))
        await self._freely([case for case in cases if case.base is None])

    def observed(self, kind: type[O]) -> O | None:
        """Return what a question of this kind brought, the first one; None where none was asked, or answered."""
        for task in self._asked.values():
            if task.done() and not task.cancelled() and task.exception() is None:
                result = task.result()
                if isinstance(result, kind):
                    return result
        return None

    def lost(self) -> str:
        """Say how often a good token was accepted that was refused in the end; empty where none was."""
        for base, seen in self.controls.items():
            if not seen.accepted and (held := self._held[base]):
                times = "once" if held == 1 else f"{held} times"
                return (
                    f"the good token of {seen.principal} was accepted {times} and then refused ({seen.observed}): "
                    "a limiter, or a lock-out that bad tokens bring about"
                )
        return ""

    def close(self, cases: Iterable[Case], reason: str) -> None:
        """Mark every case that has no outcome yet as inconclusive: an interrupted run hides nothing."""
        for case in cases:
            if case not in self.outcomes:
                self._settle(case, Inconclusive(reason))

    async def _freely(self, cases: Sequence[Case]) -> None:
        before = set(self._asked)
        await self._observe(cases)
        self._free |= set(self._asked) - before
        for case in cases:
            self._judge(case)

    async def _bracketed(self, base: Base, cases: Sequence[Case]) -> None:
        unbelieved: set[Question] = set()

        async def run(batch: Sequence[Case]) -> None:
            for case in batch:  # a batch that was not believed is asked again, never read from memory
                if case.question in unbelieved:
                    self._asked.pop(case.question, None)
                # No bracketed case rests on an answer from before its opening control.
                for question in self._free.intersection((case.question, case.tokenless, case.baseline)):
                    self._asked.pop(question, None)
                    self._free.discard(question)
            await self._observe(batch)
            unbelieved.update(case.question for case in batch if case.question is not None)

        bracket = Bracket(
            control=lambda: self._control(base),
            run=run,
            believe=self._judge,
            doubt=lambda case, reason: self._settle(case, Inconclusive(reason)),
            recover=lambda: self._recover(base),
        )
        try:
            await bracket.over(cases)
        except Exception as fault:  # noqa: BLE001  a fault of the kit in a control ends as error, which shuts the gate
            for case in cases:
                if case not in self.outcomes:
                    self._settle(case, Error(self.fault(fault)))

    async def _control(self, base: Base) -> Held:
        async with self._gate:
            observed = await self.ask(base.question)
        held = _held(observed)
        self._held[base] += held.accepted
        question = base.question
        known = self.controls.get(base)
        if question.principal is not None and (known is None or known.accepted):
            self.controls[base] = ControlSeen(
                question.operation.name, question.principal, question.revision, held.accepted, held.observed
            )
        return held

    async def _recover(self, base: Base) -> Held:
        held = Held(accepted=False, observed="not asked again")
        for pause in _PAUSES:
            await self.sleep(pause)
            held = await self._control(base)
            if held.accepted:
                self._regained(base, held)
                break
        return held

    def _regained(self, base: Base, held: Held) -> None:
        """A control that was lost and is accepted again was not refused: what it cost, the doubted cases say."""
        known = self.controls.get(base)
        if known is not None and not known.accepted:
            observed = f"{held.observed}, once in between: {known.observed}"
            self.controls[base] = replace(known, accepted=True, observed=observed)

    async def _observe(self, cases: Sequence[Case]) -> None:
        """Ask what the cases ask, each question once, at most `jobs` at a time."""
        asked = (question for case in cases for question in (case.question, case.tokenless, case.baseline))
        questions = [question for question in asked if question is not None]
        tasks = [self._task(question) for question in questions]
        if tasks:
            await asyncio.wait(set(tasks))

    def _task(self, question: Question) -> "asyncio.Task[Observation]":
        task = self._asked.get(question)
        if task is None:
            task = asyncio.create_task(self._gated(question))
            self._asked[question] = task
        return task

    async def _gated(self, question: Question) -> Observation:
        async with self._gate:
            observed = await self.ask(question)
        if self.unanswered() >= _SILENCE:
            await self._doubt()
        return observed

    async def _doubt(self) -> None:
        """The server may be gone: one more call, with a good token, decides."""
        async with self._doubting:
            silent = self.unanswered()
            if silent < _SILENCE or self.try_again is None:
                return
            await self.try_again()
            if self.unanswered() > silent:
                told = f"{silent} requests in a row, and a control call after them, got no answer"
                self.stop(f"the server stopped answering: {told}")

    def _judge(self, case: Case) -> None:
        if case.question is None:
            return
        task = self._asked[case.question]
        if task.cancelled():
            raise asyncio.CancelledError
        fault = task.exception()
        if isinstance(fault, Exception):
            self._settle(case, Error(self.fault(fault)))
            return
        observation = task.result()
        try:
            outcome: Outcome = self._ungated(case) or JUDGES[case.check.judge].decide(observation, self.facts(case))
            if isinstance(outcome, Pass):
                outcome = self._vacuous(case) or outcome
        except Exception as error:  # noqa: BLE001  a judge that breaks is a fault of the kit, told as error
            outcome = Error(self.fault(error))
        evidence = tuple(dict.fromkeys(answer.exchange for answer in observation.answers))
        if isinstance(outcome, Fail) and outcome.evidence:
            evidence = outcome.evidence
        self._settle(case, outcome, evidence, self.reproduce(observation))

    def _ungated(self, case: Case) -> Inconclusive | None:
        """A case that needs a closed operation, on an open one: its own answer would name a fault it is not."""
        if case.tokenless is None:
            return None
        observed = self._asked[case.tokenless].result()
        if not isinstance(observed, CallObserved):
            return None
        if observed.accepted is not None:
            return Inconclusive("the operation is open without any token; challenge-missing-token-401 reports it")
        if not all(isinstance(attempt.reading, Refused) for attempt in observed.attempts):
            return Inconclusive("a call without a token is not plainly refused; challenge-missing-token-401 reports it")
        return None

    def _vacuous(self, case: Case) -> NotApplicable | None:
        """A refusal that proves nothing: the server refuses the honest token with the same feature too."""
        if case.baseline is None:
            return None
        observed = self._asked[case.baseline].result()
        if not isinstance(observed, CallObserved):
            return None
        if observed.attempts and all(isinstance(one.reading, Accepted) for one in observed.attempts):
            return None
        feature = observed.token.change if observed.token else "the same feature"
        return NotApplicable(f"the server does not accept the honest token either ({feature})")

    def _settle(
        self, case: Case, outcome: Outcome, evidence: tuple[str, ...] = (), reproduce: str | None = None
    ) -> None:
        self.outcomes[case] = Result(
            case.id, case.check, case.revision, outcome, evidence, reproduce, about=_about(case)
        )
        self.settled(case, outcome)


def _about(case: Case) -> About:
    operation, question = case.operation, case.question
    owner, record = (question.owner, question.record) if isinstance(question, AccessQuestion) else ("", "")
    return About(
        kind="" if operation is None else operation.kind.value,
        operation="" if operation is None else operation.name,
        principal=case.principal or "",
        owner=owner,
        record=record,
        scope=case.missing or "",
    )


def _held(observed: Observation) -> Held:
    if not isinstance(observed, CallObserved) or not observed.attempts:
        return Held(accepted=False, observed="the control could not be sent")
    for attempt in observed.attempts:
        if not isinstance(attempt.reading, Accepted):
            said = describe(attempt.answer)
            limited = isinstance(attempt.reading, Ambiguous) and attempt.reading.why is AmbiguityReason.RATE_LIMITED
            return Held(accepted=False, observed=f"{said}, the server limits the rate" if limited else said)
    return Held(accepted=True, observed=describe(observed.attempts[-1].answer))
