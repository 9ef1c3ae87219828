"""What two principals get on the way to one record."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_auth_contract.answers import Accepted, Answer, Reading, describe, read
from mcp_auth_contract.checks.isolation.sightings import sighted
from mcp_auth_contract.checks.observing import Observation, answers_in


@dataclass(frozen=True, slots=True)
class Canary:
    """The text that tells a record, and the record's name, by which alone reports call it."""

    record: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One call with everything that was answered: several answers where a list was read page by page.

    There is at least one; `name` is the step of a scene. `unread` is why a list was not read to its end.
    """

    name: str
    principal: str
    answers: tuple[Answer, ...]
    unread: str = ""

    @property
    def reading(self) -> Reading:
        """How the last answer reads: no page is asked for behind one that was not accepted."""
        return read(self.answers[-1])

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
        return describe(self.answers[-1])

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


@dataclass(frozen=True, slots=True)
class RecordObserved(Observation):
    """The owner, another principal, the owner, the other one: calls on one way to a record, in this order.

    `foreign` are the canaries that the owner may never receive.
    """

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
class StrangersObserved(Observation):
    """The owner, users whom the contract does not name, and the owner again, on one way to a record.

    `spared` are the strangers who might share the record with its owner for all that the contract says.
    """

    owner: str
    canary: Canary
    strangers: tuple[Asked, ...]
    own: tuple[Asked, ...]
    spared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReachObserved(Observation):
    """The owner and another principal on one way to a record, and that one again with other arguments.

    Each of `tried` is called what was asked for.
    """

    owner: str
    principal: str
    canary: Canary
    own: tuple[Asked, ...]
    plain: Asked
    tried: tuple[Asked, ...]

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in((*self.tried, self.plain, *self.own))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writes(Observation):
    """What the owner of a record does around another principal's write.

    `own` writes, `before` reads; then the other one writes; `after` and `again` read, `control` writes another value,
    `changed` reads. `put_back` writes the first value, where there was another one.
    """

    owner: str
    principal: str
    canary: Canary
    own: Asked
    before: Asked
    after: Asked
    again: Asked
    control: Asked
    changed: Asked
    put_back: Asked | None = None

    @property
    def steady(self) -> bool:
        """Whether two reads without a write between them show the same."""
        return self.after.result == self.again.result

    @property
    def shown(self) -> bool:
        """Whether a read shows what a write changes."""
        return self.changed.result != self.before.result

    @property
    def later(self) -> tuple[Asked, ...]:
        """What the owner does behind the other one's write."""
        back = () if self.put_back is None else (self.put_back,)
        return (self.after, self.again, self.control, self.changed, *back)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteObserved(_Writes):
    """Writes on a record: `foreign` is another principal's, of another value."""

    foreign: Asked

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in((self.foreign, self.own, self.before, *self.later))


@dataclass(frozen=True, slots=True)
class RefusedWrite:
    """A write of the owner with a credential that is not enough, and what the owner reads behind it."""

    credential: str
    write: Asked
    after: Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWritesObserved(_Writes):
    """Writes on a record with credentials that are not enough, each followed by a read; `principal` is the owner.

    `after` and `again` are two reads before the first of them.
    """

    refused: tuple[RefusedWrite, ...]

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in((self.refused, self.own, self.before, *self.later))


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedWriteObserved(_Writes):
    """Writes with idempotency keys: `borrowed` is another principal's with the owner's, `unborrowed` with their own.

    `second` is the owner's write of another value with the first key.
    """

    borrowed: Asked
    unborrowed: Asked
    second: Asked

    @property
    def answers(self) -> Iterator[Answer]:
        return answers_in((self.borrowed, self.own, self.before, self.unborrowed, self.second, *self.later))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTokenUse:
    """What a page token brings: `other_first` is another principal's first page without it, `other` with it.

    `second` is the owner's page.
    """

    other_first: Asked
    other: Asked
    second: Asked


@dataclass(frozen=True, slots=True)
class CursorObserved(Observation):
    """A page token of `owner` in the hands of `principal`; `use` is None where the owner's first page held none.

    `canaries` are those that the principal may never receive.
    """

    owner: str
    principal: str
    canaries: tuple[Canary, ...]
    first: Asked
    use: PageTokenUse | None

    @property
    def answers(self) -> Iterator[Answer]:
        use = self.use
        return answers_in(self.first if use is None else (use.other, self.first, use.other_first, use.second))


@dataclass(frozen=True, slots=True)
class MissingObserved(Observation):
    """A call for a foreign record, and the same call for an id that does not exist; None: it has no id."""

    principal: str
    foreign: Asked
    missing: Asked | None


@dataclass(frozen=True, slots=True)
class AuditObserved(Observation):
    """A reader's call and what the audit log gained by it. `lines` are the new ones; None: the log cannot be read.

    `names` are the words by which a line would name the reader.
    """

    principal: str
    call: Asked
    lines: tuple[str, ...] | None
    names: tuple[str, ...]
