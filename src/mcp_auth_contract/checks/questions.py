"""Questions to the server as values: equal questions are asked once, and one answer serves every judge."""

from dataclasses import dataclass

from mcp_auth_contract.contract import Operation
from mcp_auth_contract.model import Revision

GOOD = "good"
"""The unbroken token, in the place of a defect's name."""

NO_TOKEN = "none"  # noqa: S105  the absence of a token
"""No token at all, in the place of a defect's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about the server as a whole. `probe` names who asks it."""

    probe: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderQuestion(Question):
    """A question to a real authorization server, in one of several forms; empty where there is one alone."""

    form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationQuestion(Question):
    """A question in one revision around one operation. `principal` is None in an anonymous look at a server."""

    revision: Revision
    operation: Operation
    principal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormQuestion(OperationQuestion):
    """One of several forms of a question: a way into the endpoint, a scene around a session, a timeline."""

    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodQuestion(FormQuestion):
    """A method of the protocol, with "good", "none" or a defective token."""

    token: str = NO_TOKEN
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallQuestion(OperationQuestion):
    """A call with one token, presented in one way.

    `token` is "good", "none" or the name of a defect, `variant` one of the defect's variants; `scopes` are those the
    token carries, None for all of the principal's. `tries` is how often the call is made; each one after the first on
    a connection of its own, so that another worker may answer.
    """

    token: str = NO_TOKEN
    variant: str | None = None
    scopes: frozenset[str] | None = None
    presentation: str = "bearer"
    tries: int = 1

    @property
    def is_control(self) -> bool:
        """Whether the call must succeed: the unbroken token, as usual, with every scope that is needed."""
        enough = self.scopes is None or frozenset(self.operation.scopes) <= self.scopes
        return self.token == GOOD and self.presentation == "bearer" and enough


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeQuestion(OperationQuestion):
    """A question with a token whose `scopes` are too few for the operation."""

    scopes: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BypassQuestion(ScopeQuestion):
    """A call in an unusual form with a token that is too weak for it."""

    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceQuestion(Question):
    """What the server lists to a principal with a token of these scopes; None for those that the token has."""

    revision: Revision
    principal: str
    scopes: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityQuestion(Question):
    """The same operation without a token in each era."""

    operation: Operation
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessQuestion(Question):
    """What `principal` gets of what is the `owner`'s, by one operation with a token of these scopes.

    `record` is empty where no single record is asked for.
    """

    revision: Revision
    operation: Operation
    principal: str
    owner: str
    scopes: frozenset[str] | None = None
    record: str = ""
