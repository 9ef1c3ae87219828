"""Probes: who asks what, registered where they are defined. A probe has no opinion about the answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields
from inspect import get_annotations
from types import MappingProxyType
from typing import Any, TypeVar

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.checks.questions import AccessQuestion, OperationQuestion, ProviderQuestion, Question
from mcp_auth_contract.contract import Operation, Ways
from mcp_auth_contract.model import Revision

Q = TypeVar("Q", bound=Question)
O = TypeVar("O", bound=Observation)  # noqa: E741  what a probe observes

_KEYS = {"form": "forms", "token": "token", "presentation": "presentation", "scopes": "scopes", "tries": "tries"}
"""By the field of a question that a check chooses: the key by which it does."""

_REQUIRED = ("form", "scopes")
"""Fields without which there is nothing to ask; a call asks for a token too."""


def _always(_form: str, _operation: Operation, _revision: Revision) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Probe:
    """One kind of question: what it asks, what it observes, and which forms of it there are.

    `alone` probes change the server's state; `last` ones look back on the whole run. `exists` says whether a form
    exists for an operation in a revision. Probes of access ask along `ways` of the isolation matrix, None where the
    check chooses; `writes` says that they write. `anonymous` probes can do without a contract and its tokens.
    """

    name: str
    asks: str
    question: type[Question]
    observes: type[Observation]
    ask: Callable[[Any, Context], Awaitable[Observation]]
    forms: Mapping[str, str] = field(default_factory=dict)
    exists: Callable[[str, Operation, Revision], bool] = _always
    ways: Ways | None = None
    writes: bool = False
    alone: bool = False
    last: bool = False
    anonymous: bool = False

    @property
    def once(self) -> bool:
        """Whether it asks about the server as a whole, and not once per revision."""
        return not issubclass(self.question, OperationQuestion | AccessQuestion)

    @property
    def records(self) -> bool:
        """Whether it asks along the ways of a principal to another one's record."""
        return issubclass(self.question, AccessQuestion)

    @property
    def provider(self) -> bool:
        """Whether it asks a real authorization server, in provider runs alone."""
        return issubclass(self.question, ProviderQuestion)

    @property
    def takes(self) -> frozenset[str]:
        """The keys of a check by which it chooses what is asked."""
        if self.provider:
            return frozenset({"forms"} if self.forms else ())
        if self.once or (self.records and not self.forms):
            return frozenset()
        if self.records:
            return frozenset({"forms"})
        taken = {_KEYS[one.name] for one in fields(self.question) if one.name in _KEYS}
        return frozenset(taken | ({"baseline"} if "presentation" in taken else set()))

    @property
    def requires(self) -> frozenset[str]:
        """The keys that a check must not leave out."""
        if "presentation" in self.takes:
            return frozenset({"token"})
        return self.takes & {_KEYS[name] for name in _REQUIRED}


REGISTERED: dict[str, Probe] = {}
"""Every probe of the modules imported so far; `checks.registry` imports them all."""


def probe(
    asks: str,
    *,
    forms: Mapping[str, str | tuple[str, Any]] | None = None,
    exists: Callable[[str, Operation, Revision], bool] = _always,
    ways: Ways | None = None,
    writes: bool = False,
    alone: bool = False,
    last: bool = False,
    anonymous: bool = False,
) -> Callable[[Callable[[Q, Context], Awaitable[O]]], Callable[[Q, Context], Awaitable[O]]]:
    """Register a function `ask_NAME` as the probe NAME; its annotations say what it is asked and what it observes.

    `forms` says of each form in words what it is; what makes it may stand beside them.
    """
    words = {form: told if isinstance(told, str) else told[0] for form, told in (forms or {}).items()}

    def register(ask: Callable[[Q, Context], Awaitable[O]]) -> Callable[[Q, Context], Awaitable[O]]:
        name, hints = ask.__name__.removeprefix("ask_"), get_annotations(ask)
        if name in REGISTERED:
            raise ValueError(f"two probes are called {name}")
        REGISTERED[name] = Probe(
            name,
            asks,
            next(iter(hints.values())),
            hints["return"],
            ask,
            MappingProxyType(words),
            exists,
            ways,
            writes=writes,
            alone=alone,
            last=last,
            anonymous=anonymous,
        )
        return ask

    return register
