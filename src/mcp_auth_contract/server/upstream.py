"""Where tokens may leak to: the log files of a server, and the service behind its tools (a stub of the kit)."""

import codecs
import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

from mcp_auth_contract.asgi import serve_in_thread
from mcp_auth_contract.checks.leaks.observation import Passed
from mcp_auth_contract.wire import Redactor

_PIECE = 1024 * 1024
_OVERLAP = 256 * 1024
"""No token of the kit is longer, so that none is cut in two in every piece that it stands in."""


@dataclass(frozen=True, slots=True)
class LogText:
    """What stands behind the first `begun` octets of a file, in overlapping pieces, however long it is."""

    path: Path
    begun: int = 0

    def __iter__(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with self.path.open("rb") as file:
            file.seek(self.begun)
            held = ""
            while octets := file.read(_PIECE):
                held += decoder.decode(octets)
                yield held
                held = held[-_OVERLAP:]
            if rest := decoder.decode(b"", final=True):
                yield held + rest

    @property
    def readable(self) -> bool:
        """Whether there is such a file, and it may be read."""
        try:
            self.path.open("rb").close()
        except OSError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Files and their sizes, in octets, when the run began; 0 for one that was not there yet."""

    files: tuple[tuple[Path, int], ...] = ()

    @classmethod
    def begun(cls, paths: Sequence[Path]) -> Self:
        """Note how long the files are now."""
        return cls(tuple((path, _size(path)) for path in paths))

    def written(self) -> Sequence[tuple[str, Iterable[str] | None]]:
        """Return name and new text of each file, in pieces; None for a file that cannot be read.

        A file that has become shorter was begun anew, and is read from its start.
        """
        texts = [(path.name, LogText(path, begun if begun <= _size(path) else 0)) for path, begun in self.files]
        return [(name, text if text.readable else None) for name, text in texts]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


_Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_BODY_CAP = 1_000_000
_MOST_REMEMBERED = 1000
_ANSWER = json.dumps({"ok": True}).encode()


class Upstream:
    """A server on loopback, for as long as the block lasts. It remembers requests without any token's text.

    `redactor` knows the run's tokens; a run that did not make the stub itself puts its own there.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self.redactor = redactor or Redactor()
        self._passed: list[Passed] = []
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._url = ""

    @property
    def url(self) -> str:
        """Its base URL, without a slash at its end."""
        return self._url

    @property
    def passed(self) -> Sequence[Passed]:
        """The requests that reached it so far, in order."""
        with self._lock:
            return tuple(self._passed)

    def __enter__(self) -> Self:
        self._url = self._stack.enter_context(serve_in_thread(self, lifespan="off")).url
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def __call__(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Answer one ASGI scope."""
        if scope["type"] != "http":
            return
        self._remember(scope, await _body(receive))
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": _ANSWER})

    def _remember(self, scope: Mapping[str, Any], body: str) -> None:
        raw_path = scope.get("raw_path") or str(scope["path"]).encode()
        path, query = raw_path.decode("latin-1"), scope["query_string"].decode("latin-1")
        places = [
            *((f"{name.decode('latin-1')} header", value.decode("latin-1")) for name, value in scope["headers"]),
            ("query", query),
            ("path", path),
            ("body", body),
        ]
        found = ((place, self.redactor.labels_in(text)) for place, text in places)
        tokens = tuple((place, label) for place, labels in found for label in sorted(labels))
        request = f"{scope['method']} {self.redactor.redact(path)}"
        with self._lock:
            if len(self._passed) < _MOST_REMEMBERED:
                self._passed.append(Passed(request, tokens))


async def _body(receive: _Receive) -> str:
    parts = bytearray()
    while True:
        message = await receive()
        if len(parts) < _BODY_CAP:
            parts += message.get("body", b"")
        if not message.get("more_body"):
            return parts.decode("utf-8", "replace")
