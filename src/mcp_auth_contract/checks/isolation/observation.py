"""What two principals get on the way to one record."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcp_auth_contract.answers import Accepted, Answer, Reading, describe
from mcp_auth_contract.checks.isolation.sightings import sighted
from mcp_auth_contract.checks.observing import Observation


@dataclass(frozen=True, slots=True)
class Canary:
    """The text that tells a record, and the record's name, by which alone reports call it."""

    record: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One call with everything that was answered: several answers where a list was read page by page.

    `reading` is that of the first page that was not accepted, else of the last one; `name` is the step of a sequence.
    """

    name: str
    principal: str
    answers: tuple[Answer, ...]
    reading: Reading

    @property
    def accepted(self) -> bool:
        """Whether every page was answered with a result."""
        return isinstance(self.reading, Accepted)

    @property
    def cut(self) -> bool:
        """Whether not everything that was sent was read."""
        return any(answer.truncated for answer in self.answers)

    @property
    def said(self) -> str:
        """The last answer in a few words."""
        return describe(self.answers[-1]) if self.answers else "nothing was sent"

    @property
    def result(self) -> str | None:
        """The results of all pages as text without `_meta`, to be compared; None without one."""
        results = [(answer.reply or {}).get("result") for answer in self.answers]
        if not all(isinstance(one, dict) for one in results):
            return None
        plain = [{key: value for key, value in one.items() if key != "_meta"} for one in results if one is not None]
        return json.dumps(plain, sort_keys=True)

    def shows(self, canary: Canary) -> str | None:
        """Return where a canary is in the answers, None where it is not."""
        found = (sighted(canary.text, answer) for answer in self.answers)
        return next((where for where in found if where is not None), None)


def answers_in(calls: Iterable[Asked]) -> Iterator[Answer]:
    """Yield every answer to the calls."""
    return (answer for call in calls for answer in call.answers)


@dataclass(frozen=True, slots=True)
class RecordObserved(Observation):
    """The owner, somebody else, the owner, somebody else: calls on one way to a record, in this order.

    `foreign` are the canaries that the owner may never receive.
    """

    path: str
    owner: str
    principal: str
    canary: Canary
    calls: tuple[Asked, ...]
    foreign: tuple[Canary, ...] = ()

    def by(self, principal: str) -> Iterator[Asked]:
        """Yield one principal's calls."""
        return (call for call in self.calls if call.principal == principal)

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in(sorted(self.calls, key=lambda call: call.principal != self.principal))


@dataclass(frozen=True, slots=True)
class WriteObserved(Observation):
    """Writes on a record, read by its owner in between. Steps in order, each at most once:

    `own` the owner writes, `before` the owner reads, `foreign` somebody else writes another value, `after` and `again`
    the owner reads, `control` the owner writes that other value, `changed` the owner reads. With idempotency keys there
    are, in the place of `foreign`, `borrowed`, somebody else writes with the owner's key, `unborrowed`, with a key of
    their own, and `second`, the owner writes another value with the first key.
    """

    path: str
    owner: str
    principal: str
    canary: Canary
    calls: tuple[Asked, ...]

    def step(self, name: str) -> Asked | None:
        """Return a step, None where it did not come to it."""
        return next((call for call in self.calls if call.name == name), None)

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in(sorted(self.calls, key=lambda call: call.name not in ("foreign", "borrowed")))


@dataclass(frozen=True, slots=True)
class CursorObserved(Observation):
    """A page token of `owner` in the hands of `principal`. Steps in order:

    `first` the owner's first page, `other_first` that of somebody else, `other` the owner's page token used by somebody
    else, `second` by the owner. `handed` says that the owner's first page held a page token. `canaries` are those that
    the principal may never receive.
    """

    path: str
    owner: str
    principal: str
    canaries: tuple[Canary, ...]
    calls: tuple[Asked, ...]
    handed: bool = True

    def step(self, name: str) -> Asked | None:
        """Return a step, None where it did not come to it."""
        return next((call for call in self.calls if call.name == name), None)

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in(sorted(self.calls, key=lambda call: call.name != "other"))


@dataclass(frozen=True, slots=True)
class MissingObserved(Observation):
    """Somebody's call for a foreign record, and the same call for an id that does not exist; None: it has no id."""

    path: str
    principal: str
    foreign: Asked
    missing: Asked | None

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in([self.foreign, *([self.missing] if self.missing is not None else [])])


@dataclass(frozen=True, slots=True)
class AuditObserved(Observation):
    """A reader's call and what the audit log gained by it. `lines` are the new ones; None: the log cannot be read.

    `names` are the words by which a line would name the reader.
    """

    path: str
    principal: str
    call: Asked
    lines: tuple[str, ...] | None
    names: tuple[str, ...]

    @property
    def answers(self) -> Iterator[Answer]:
        return iter(self.call.answers)
