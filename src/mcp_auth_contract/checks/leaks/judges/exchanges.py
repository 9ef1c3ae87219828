"""How the judges of all exchanges pick out what they look at, and tell what they saw."""

from collections import Counter
from collections.abc import Callable, Sequence

from mcp_auth_contract.answers import read
from mcp_auth_contract.checks.leaks.observation import (
    CredentialKind,
    Exchanged,
    ExchangesObserved,
)
from mcp_auth_contract.model import Fail

Predicate = Callable[[Exchanged], bool]
_MOST_EVIDENCE = 10
HONEST = (CredentialKind.GOOD, CredentialKind.WEAK)
OPERATIONS = frozenset({"tools/call", "resources/read", "prompts/get", "tasks/get", "tasks/result", "tasks/cancel"})
"""Calls, and the methods that bring what a call ended in."""


def named(one: Exchanged) -> str:
    """Say which request it was."""
    what = f"{one.verb} {one.rpc}" if one.rpc else one.verb
    return f"{one.answer.status} to {what} with {one.credential.value}"


def told(found: Sequence[Exchanged], say: Callable[[Exchanged], str] = named) -> str:
    """Say what was seen in few words, the most frequent first."""
    kinds = Counter(map(say, found)).most_common()
    more = f", and {len(kinds) - 3} more kinds of answers" if len(kinds) > 3 else ""
    return "; ".join(f"{kind}, {count} times" if count > 1 else kind for kind, count in kinds[:3]) + more


def fail(expected: str, observed: str, found: Sequence[Exchanged]) -> Fail:
    return Fail(expected, observed, evidence=tuple(one.answer.exchange for one in found[:_MOST_EVIDENCE]))


def calls(observed: ExchangesObserved, *statuses: int) -> list[Exchanged]:
    """What was sent to the endpoint, and answered with one of the statuses, if there are any."""
    return [one for one in observed.exchanges if one.at_endpoint and (not statuses or one.answer.status in statuses)]


def reading_of(one: Exchanged) -> object:
    return read(one.answer, expects_reply=False)
