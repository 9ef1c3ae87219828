"""What a server gives away beside its answers: what it writes, and what it sends to its upstream."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mcp_auth_contract.checks.leaks.observation import Passed

NOT_KEPT = "[mcp-auth-contract: what the server wrote after its first 64 MiB was not kept]\n"
"""How a text ends that is not all of what the server wrote."""


def _nothing() -> Sequence[tuple[str, Iterable[str] | None]]:
    return ()


@dataclass(frozen=True, slots=True)
class Outputs:
    """`written` gives the places where the server writes, with the text of this run in pieces; None for one that is
    not there.

    The text is unredacted: for searching, never for showing. `passed` gives the requests that reached the upstream so
    far; it is None where the run has none.
    """

    written: Callable[[], Sequence[tuple[str, Iterable[str] | None]]] = _nothing
    passed: Callable[[], Sequence[Passed]] | None = None
