"""What a run asks: cases, what they share, and all of them together."""

from dataclasses import dataclass

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.checks.questions import AccessQuestion, CallQuestion, OperationQuestion, Question
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.model import Effect, Revision


@dataclass(frozen=True, slots=True)
class Base:
    """What a group of cases shares: the call that must be accepted before and after they are believed."""

    question: CallQuestion

    @property
    def writes(self) -> bool:
        """Whether the call changes records, so that its cases run alone."""
        return self.question.operation.effect is Effect.WRITE


@dataclass(frozen=True, slots=True)
class Case:
    """One check applied to one place.

    `tokenless` is a call without a token that must be refused for the case to mean anything, `baseline` one that must
    be accepted for a refusal to mean anything. `inapplicable` is why the case does not apply, known before it runs;
    `unasked` is why it is not tried although it applies, which leaves it inconclusive.
    """

    id: str
    check: Check
    revision: Revision | None
    question: Question | None
    base: Base | None = None
    tokenless: CallQuestion | None = None
    baseline: CallQuestion | None = None
    missing: str | None = None
    inapplicable: str | None = None
    unasked: str | None = None

    @property
    def operation(self) -> Operation | None:
        """The operation that the case is about."""
        return self.question.operation if isinstance(self.question, OperationQuestion | AccessQuestion) else None

    @property
    def principal(self) -> str | None:
        """The principal who asks."""
        return self.question.principal if isinstance(self.question, OperationQuestion | AccessQuestion) else None

    @property
    def needed(self) -> frozenset[str]:
        """The scopes of the case's operation."""
        return frozenset(self.operation.scopes) if self.operation else frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of a run in the order of the catalogue, and the revisions they cover, the main one first.

    `left_out` are the cases that the selection does not admit.
    """

    cases: tuple[Case, ...]
    revisions: tuple[Revision, ...]
    left_out: tuple[Case, ...] = ()
