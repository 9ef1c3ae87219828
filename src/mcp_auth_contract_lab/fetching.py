"""One HTTP request to the authorization server: bounded in time and size; blocks, so run it off the event loop."""

import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO

_TIMEOUT_S = 5.0
_SIZE_CAP = 1_000_000


class Unreachable(Exception):
    """No whole answer came in time, or it was too long."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. The body is that of a 200, and empty for any other status."""

    status: int
    body: bytes = field(repr=False)
    media_type: str = ""


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, *, follow: bool) -> None:
        self._follow = follow

    def redirect_request(
        self, req: urllib.request.Request, _fp: IO[bytes], code: int, _msg: str, _headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        if not self._follow:
            return None
        data = req.data if code in (307, 308) else None
        return urllib.request.Request(newurl, data=data, headers=req.headers)  # noqa: S310  http is checked by exchange


def exchange(
    url: str | None,
    *,
    ca_file: Path | None = None,
    form: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    follow: bool = False,
) -> Reply:
    """Send GET, or POST with a form, and return the answer; redirects are followed on demand only.

    Raises Unreachable, also for a URL that is not http or https.
    """
    if url is None or not url.startswith(("http://", "https://")):
        raise Unreachable
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({}), _Redirects(follow=follow)]
    if url.startswith("https://"):
        context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
        handlers.append(urllib.request.HTTPSHandler(context=context))
    request = urllib.request.Request(url, data=form, headers=dict(headers or {}))  # noqa: S310  checked above
    opener = urllib.request.build_opener(*handlers)
    try:
        with _deadline() as late, opener.open(request, timeout=_TIMEOUT_S) as answer:
            body = _read(answer, late) if answer.status == 200 else b""
            return Reply(answer.status, body, answer.headers.get_content_type())
    except urllib.error.HTTPError as error:
        error.close()
        return Reply(error.code, b"")
    except (OSError, HTTPException, ValueError):
        raise Unreachable from None


@contextmanager
def _deadline() -> Iterator[threading.Event]:
    # A timer instead of a look at the clock, which may be frozen.
    late = threading.Event()
    timer = threading.Timer(_TIMEOUT_S, late.set)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _read(answer: HTTPResponse, late: threading.Event) -> bytes:
    whole = bytearray()
    # read1 returns what one packet brought, so that a body that comes in drops meets the deadline too.
    while part := answer.read1(65_536):
        whole += part
        if len(whole) > _SIZE_CAP or late.is_set():
            raise Unreachable
    if answer.length:
        raise Unreachable
    return bytes(whole)
