"""The exchanges of a run, redacted as they are recorded."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_auth_contract.answers import TransportFailure

__all__ = ["Evidence", "Exchange", "HeaderLines"]

HeaderLines = tuple[tuple[str, str], ...]

_BODY_CAP = 16 * 1024


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, without secrets.

    `started` is in seconds since the recording began, `duration` in seconds. Bodies are cut at the recorder's cap
    (`…_truncated`; the response also where the network's cap cut it). `status` is None where `trouble` says why.
    `leaked` are the labels of the secrets that occurred in what the server sent, before they were removed from it.
    """

    id: str
    method: str
    url: str
    request_headers: HeaderLines
    request_body: str
    request_truncated: bool
    status: int | None
    response_headers: HeaderLines
    response_body: str
    response_truncated: bool
    started: float
    duration: float
    trouble: TransportFailure | None = None
    detail: str = ""
    note: str = ""
    leaked: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the exchange as JSON values; `response` is null without a status."""
        response = None
        if self.status is not None:
            response = {
                "status": self.status,
                "headers": [list(line) for line in self.response_headers],
                "body": self.response_body,
                "truncated": self.response_truncated,
            }
        return {
            "id": self.id,
            "started": round(self.started, 6),
            "duration": round(self.duration, 6),
            "request": {
                "method": self.method,
                "url": self.url,
                "headers": [list(line) for line in self.request_headers],
                "body": self.request_body,
                "truncated": self.request_truncated,
            },
            "response": response,
            "trouble": self.trouble.value if self.trouble else None,
            "detail": self.detail,
            "note": self.note,
        }


class Evidence:
    """An append-only record of exchanges, numbered "x1", "x2", … in the order in which they were started.

    It stores what it is given: only `HttpDoor` records, and it redacts first.
    """

    def __init__(self, *, body_cap: int = _BODY_CAP, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.body_cap = body_cap
        self._monotonic = monotonic
        self._began = monotonic()
        self._numbers = itertools.count(1)
        self._exchanges: dict[str, Exchange] = {}

    def next_id(self) -> str:
        """Reserve the id of an exchange that is about to start."""
        return f"x{next(self._numbers)}"

    def elapsed(self) -> float:
        """Return the seconds since the recording began."""
        return self._monotonic() - self._began

    def record(self, exchange: Exchange) -> None:
        """Add a finished exchange. An id is recorded once."""
        if exchange.id in self._exchanges:
            raise ValueError(f"exchange {exchange.id} is already recorded")
        self._exchanges[exchange.id] = exchange

    def get(self, exchange: str) -> Exchange | None:
        """Return the exchange with this id, or None."""
        return self._exchanges.get(exchange)

    def exchanges(self) -> tuple[Exchange, ...]:
        """Return the finished exchanges in the order in which they were started."""
        return tuple(sorted(self._exchanges.values(), key=lambda one: int(one.id[1:])))
