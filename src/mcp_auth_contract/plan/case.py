"""What a run asks: cases, what they share, and all of them together."""

from dataclasses import dataclass

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.model import Effect, Revision
from mcp_auth_contract.checks.questions import Question

__all__ = ["Base", "Case", "Plan"]


@dataclass(frozen=True, slots=True)
class Base:
    """What a group of cases shares: the call that must be accepted before and after they are believed."""

    question: Question

    @property
    def writes(self) -> bool:
        """Whether the call changes records, so that its cases run alone."""
        operation = self.question.operation
        return operation is not None and operation.effect is Effect.WRITE


@dataclass(frozen=True, slots=True)
class Case:
    """One check applied to one place.

    `gate` is a call without a token that must be refused for the case to mean anything, `twin` one that must be
    accepted for a refusal to mean anything. `settled` is the reason why it is not applicable, known before it runs.
    """

    id: str
    check: Check
    revision: Revision | None
    question: Question | None
    base: Base | None = None
    gate: Question | None = None
    twin: Question | None = None
    missing: str | None = None
    settled: str | None = None

    @property
    def needed(self) -> frozenset[str]:
        """The scopes of the case's operation."""
        operation = self.question.operation if self.question else None
        return frozenset(operation.scopes) if operation else frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of a run in the order of the catalogue, and the revisions they cover, the main one first.

    `left_out` are the cases that the selection does not admit.
    """

    cases: tuple[Case, ...]
    revisions: tuple[Revision, ...]
    left_out: tuple[Case, ...] = ()
