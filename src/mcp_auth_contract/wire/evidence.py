"""The exchanges of a run, redacted as they are recorded."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mcp_auth_contract.answers import TransportFailure

HeaderLines = tuple[tuple[str, str], ...]

_BODY_CAP = 16 * 1024
_ROOM = 8 * 1024 * 1024
_SHORT_BODY = 1024
_HEADER_CAP = 8 * 1024
_SHORT_HEADERS = 2 * 1024
_CUT = "… (cut)"


class Room:
    """How much more of what is long is kept, in characters; what is short always is."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def cap(self, size: int, most: int, least: int) -> int:
        """Return how much of something so long is kept: up to `most`, or `least` once there is no room left."""
        wanted = min(size, most)
        if wanted > least:
            self._left -= wanted - least
            if self._left < 0:
                return least
        return wanted


def cut_headers(lines: HeaderLines, most: int = _HEADER_CAP) -> HeaderLines:
    """Return header lines of at most so many characters; what is cut says so."""
    kept: list[tuple[str, str]] = []
    for name, value in lines:
        most -= len(name)
        if most <= 0:
            kept.append((_CUT, f"{len(lines) - len(kept)} more lines"))
            break
        kept.append((name, value if len(value) <= most else value[:most] + _CUT))
        most -= len(value)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, without secrets.

    `started` is in seconds since the recording began, `duration` in seconds. Bodies are cut at the recorder's cap
    (`…_truncated`; the response also where the network's cap cut it). `status` is None where `failure` says why.
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
    failure: TransportFailure | None = None
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
            "trouble": self.failure.value if self.failure else None,
            "detail": self.detail,
            "note": self.note,
        }


class Evidence:
    """An append-only record of exchanges, numbered "x1", "x2", … in the order in which they were started.

    It stores what it is given: only `HttpClient` records, and it redacts first. Of bodies and header lines together it
    keeps 8 MiB beyond the first kilobytes of each, whatever a server sends.
    """

    def __init__(self, *, body_cap: int = _BODY_CAP, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.body_cap = body_cap
        self._monotonic = monotonic
        self._began = monotonic()
        self._numbers = itertools.count(1)
        self._exchanges: dict[str, Exchange] = {}
        self._room = Room(_ROOM)

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
        lines = exchange.response_headers
        kept = self._room.cap(sum(len(name) + len(value) for name, value in lines), _HEADER_CAP, _SHORT_HEADERS)
        sent = self._room.cap(len(exchange.request_body), self.body_cap, _SHORT_BODY)
        received = self._room.cap(len(exchange.response_body), self.body_cap, _SHORT_BODY)
        self._exchanges[exchange.id] = replace(
            exchange,
            response_headers=cut_headers(lines, kept),
            request_body=exchange.request_body[:sent],
            request_truncated=exchange.request_truncated or sent < len(exchange.request_body),
            response_body=exchange.response_body[:received],
            response_truncated=exchange.response_truncated or received < len(exchange.response_body),
        )

    def get(self, exchange: str) -> Exchange | None:
        """Return the exchange with this id, or None."""
        return self._exchanges.get(exchange)

    def exchanges(self) -> tuple[Exchange, ...]:
        """Return the finished exchanges in the order in which they were started."""
        return tuple(sorted(self._exchanges.values(), key=lambda one: int(one.id[1:])))
