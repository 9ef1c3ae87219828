"""Control, cases, control: a refusal counts only if the unbroken call was accepted before and after it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Held:
    """How a control call ended: accepted or not, and what was seen."""

    accepted: bool
    observed: str


@dataclass(frozen=True, slots=True)
class Bracket(Generic[T]):
    """Runs batches of cases between two controls.

    `control` makes the control call; `run` runs one case and stores its outcome only when `believe` is called for it;
    `doubt` marks a case inconclusive with a reason. When the closing control fails, the batch is not believed: it
    is halved and run again, until the case that spoils the control stands alone.
    """

    control: Callable[[], Awaitable[Held]]
    run: Callable[[Sequence[T]], Awaitable[None]]
    believe: Callable[[T], None]
    doubt: Callable[[T, str], None]
    recover: Callable[[], Awaitable[Held]]

    async def over(self, cases: Sequence[T]) -> None:
        """Run the cases between an opening and a closing control."""
        before = await self.control()
        if not before.accepted:
            for case in cases:
                self.doubt(case, f"the control was not accepted: {before.observed}")
            return
        await self._between(cases)

    async def _between(self, cases: Sequence[T]) -> None:
        await self.run(cases)
        after = await self.control()
        if after.accepted:
            for case in cases:
                self.believe(case)
            return
        again = await self.recover()
        if len(cases) == 1 or not again.accepted:
            for case in cases:
                self.doubt(case, f"the control was no longer accepted afterwards: {after.observed}")
            return
        middle = len(cases) // 2
        await self._between(cases[:middle])
        held = await self.recover()
        if held.accepted:
            await self._between(cases[middle:])
        else:
            for case in cases[middle:]:
                self.doubt(case, f"the control was no longer accepted: {held.observed}")
