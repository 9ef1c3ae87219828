"""The only HTTP client: limits, redaction, evidence and the rules about credentials, each written once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from sys import getsizeof
from typing import Any, Self

import httpx

from mcp_auth_contract.answers import WITHHELD, Answer, TransportFailure
from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract.wire.conversation import FAILURES, Attempt, Connections, Received, trouble_of
from mcp_auth_contract.wire.evidence import Evidence, Exchange, Room
from mcp_auth_contract.wire.pace import Pace, Patience
from mcp_auth_contract.wire.redaction import REDACTED, Redactor
from mcp_auth_contract.wire.request import (
    HeaderPair,
    KitFault,
    Origin,
    Reach,
    Request,
    Resolve,
    encode_headers,
    header_text,
    origin_of,
    reach_of,
    refusal,
    resolve_host,
    wire_headers,
)

_ROOM = 24 * 1024 * 1024
_SHORT = 64 * 1024
_CREDENTIALS = frozenset({b"authorization", b"proxy-authorization", b"cookie"})


class HttpClient:
    """Sends the requests of one run and records every exchange.

    An async context manager, for one event loop. Redirects are answers; cookies, proxies and netrc files are ignored;
    nothing that a server does raises. `target` is the endpoint's URL: its origin alone receives credentials and
    `headers`. `transport` replaces the network for the target, `mounts` for other origins (by URL); the client closes
    both. Times are in seconds, sizes in octets, `max_rate` in requests per second.
    """

    def __init__(
        self,
        target: str,
        *,
        redactor: Redactor,
        evidence: Evidence | None = None,
        headers: Sequence[HeaderPair] = (),
        ca_files: Sequence[str] = (),
        max_rate: float | None = None,
        time_limit: float = 10.0,
        body_limit: int = 1024 * 1024,
        transport: httpx.AsyncBaseTransport | None = None,
        mounts: Mapping[str, httpx.AsyncBaseTransport] | None = None,
        resolve: Resolve = resolve_host,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.target_origin = _required_origin(target)
        self.redactor = redactor
        self.evidence = Evidence() if evidence is None else evidence
        self.time_limit = time_limit
        self._body_limit = body_limit
        self._static = tuple(encode_headers(tuple(headers)))
        for _, value in self._static:
            redactor.hide(header_text(value))
        inside = {_required_origin(url): mounted for url, mounted in (mounts or {}).items()}
        if transport is not None:
            inside[self.target_origin] = transport
        self._connections = Connections(inside, ca_files)
        self._resolve = resolve
        self.pace = Pace(max_rate, sleep)
        self._patience = Patience(sleep)
        self._room = Room(_ROOM)
        self._reaches: frozenset[Reach] | None = None
        self._streams_end = True
        self.unanswered = 0
        self._searching = asyncio.Lock()  # threads would not be quicker together, and each copies the text
        """How many requests to the target, the last ones in a row, got no answer."""

    def __repr__(self) -> str:
        return f"<HttpClient to {self.target_origin}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connections.close()

    @property
    def inside(self) -> bool:
        """Whether the target runs in this process, at an address that nobody else can reach."""
        return self._connections.mounted(self.target_origin)

    async def send(self, request: Request) -> Answer:
        """Send one request and return what came back.

        Answered 429, it waits as `Retry-After` says and tries again, three times in all and within five seconds. A
        request that a kept connection's end swallowed is sent once more on a new connection.
        """
        return (await self.receive(request)).answer

    async def fetch(
        self, url: str, *, accept: str = "application/json", headers: Sequence[HeaderPair] = (), note: str = ""
    ) -> Answer:
        """GET a document without credentials. A URL that must not be fetched gives an answer without a status.

        Refused are other schemes than http and https, and addresses that the target's place on the network does not
        justify: private, link-local and loopback ones for a public target.
        """
        request = Request("GET", url, (("Accept", accept), *headers), note=note)
        if origin_of(url) is None:
            return self._refuse(request, f"{WITHHELD}not an http or https URL")
        if self.redactor.holds_secret(url):
            return self._refuse(request, f"{WITHHELD}the URL holds a secret")
        return await self.send(request)

    async def receive(self, request: Request) -> Received:
        """Do as `send`, and keep the raw values that the protocol needs."""
        origin = _required_origin(request.url)
        self._guard(request, origin)
        waits: list[float] = []
        while True:
            received = await self._try_twice(request, origin)
            wait = self._patience.after(received.answer, waits)
            if origin == self.target_origin and received.answer.status is not None:
                self.pace.heard(limited=wait is not None or received.answer.status == 429, wait=wait or 0.0)
            if wait is None:
                return received
            waits.append(wait)
            await self._patience.sleep(wait)

    async def _try_twice(self, request: Request, origin: Origin) -> Received:
        first = self._prepare(request, origin, fresh=request.fresh, note=request.note)
        received = await self._run(first)
        swallowed = received.answer.failure is TransportFailure.RESET and not first.progress.new_connection
        if not swallowed or self._connections.mounted(origin):
            return received
        note = f"sent again on a new connection after {received.answer.exchange}"
        note = f"{request.note}; {note}" if request.note else note
        return await self._run(self._prepare(request, origin, fresh=True, note=note))

    def _prepare(self, request: Request, origin: Origin, *, fresh: bool, note: str) -> Attempt:
        url = _parsed(request.url)
        static = self._static if origin == self.target_origin else ()
        return Attempt(request, url, origin, fresh, wire_headers(request, url, static), note)

    async def _run(self, attempt: Attempt) -> Received:
        if attempt.origin == self.target_origin:
            await self.pace.turn(hopeless=self._patience.hopeless)
        exchange = self.evidence.next_id()
        started, begun = self.evidence.elapsed(), stopwatch()
        limit = self.time_limit if attempt.request.timeout is None else attempt.request.timeout
        try:
            async with asyncio.timeout(limit) as scope:
                await self._converse(attempt)
        except FAILURES as error:
            # The operating system has time limits of its own, which raise the same error.
            if isinstance(error, TimeoutError) and scope.expired():
                attempt.fail(attempt.progress.stage, f"after {limit:g} s")
            else:
                attempt.fail(*trouble_of(error, attempt.progress))
        finally:
            await attempt.progress.close_unfinished()
        if attempt.origin == self.target_origin and attempt.unanswered is not None:
            self.unanswered = self.unanswered + 1 if attempt.unanswered else 0
        if attempt.is_large:
            # The loop stays free for other exchanges and for signals while it is searched.
            async with self._searching:
                received = await asyncio.to_thread(attempt.received, exchange, self.redactor)
        else:
            received = attempt.received(exchange, self.redactor)
        self._record(attempt, received, started, stopwatch() - begun)
        return self._kept(received)

    def _kept(self, received: Received) -> Received:
        """Judges keep answers for the whole run, so there is an end to how many long ones stay whole."""
        text = received.answer.text
        size = getsizeof(text)
        most = self._room.cap(size, size, _SHORT)
        if most == size:
            return received
        said = "; ".join(filter(None, (received.answer.detail, "body cut short: this run has kept many long ones")))
        short = text[: _SHORT * len(text) // size]
        answer = replace(received.answer, text=short, truncated=True, detail=said, messages=(), reply=None)
        return replace(received, answer=answer)

    async def _converse(self, attempt: Attempt) -> None:
        url, extensions = await self._route(attempt)
        if attempt.failure is not None:
            return
        built = httpx.Request(
            attempt.request.method,
            url,
            headers=attempt.sent,
            stream=httpx.ByteStream(attempt.request.body),
            extensions=extensions,
        )
        async with self._connections.open(attempt.origin, built, fresh=attempt.fresh) as response:
            await attempt.read(response, body_limit=self._body_limit, wait_for_end=self._streams_end)
        if attempt.stream_stayed_open:
            self._streams_end = False

    async def _route(self, attempt: Attempt) -> tuple[httpx.URL, dict[str, Any]]:
        """Decide where the request goes, so that a name cannot lead to an address that was not checked."""
        url = attempt.url
        extensions: dict[str, Any] = {"trace": attempt.progress}
        if attempt.request.target is not None:
            extensions["target"] = attempt.request.target
            # A transport inside the process reads the URL, as far as a URL can say it.
            with suppress(httpx.InvalidURL):
                url = url.copy_with(raw_path=attempt.request.target)
        if attempt.origin == self.target_origin or self._connections.mounted(attempt.origin):
            return url, extensions
        try:
            addresses = await self._resolve(*attempt.origin[1:])
        except (OSError, UnicodeError):
            attempt.fail(TransportFailure.CONNECT, "host name not found")
            return url, extensions
        if refused := refusal(addresses, await self._target_reaches()):
            attempt.fail(TransportFailure.CONNECT, refused)
        elif any(reach_of(address) is not Reach.LOOPBACK for address in addresses):
            # The name could lead elsewhere when it is looked up again, and a kept connection to the same address may
            # have been checked for another name.
            attempt.fresh = True
            extensions["sni_hostname"] = attempt.origin[1]
            url = url.copy_with(host=addresses[0])
        return url, extensions

    async def _target_reaches(self) -> frozenset[Reach]:
        if self._reaches is None:
            try:
                addresses = await self._resolve(*self.target_origin[1:])
            except (OSError, UnicodeError):
                return frozenset({Reach.PUBLIC})
            self._reaches = frozenset(map(reach_of, addresses))
        return self._reaches

    def _guard(self, request: Request, origin: Origin) -> None:
        if origin == self.target_origin:
            return
        pairs = encode_headers(request.headers)
        texts = [request.url, *(header_text(value) for _, value in pairs)]
        texts += [octets.decode("utf-8", "replace") for octets in (request.body, request.target or b"")]
        if any(name.lower() in _CREDENTIALS for name, _ in pairs) or any(map(self.redactor.holds_secret, texts)):
            raise KitFault(f"credentials were about to be sent to {origin[0]}://{origin[1]}:{origin[2]}")

    def _refuse(self, request: Request, detail: str) -> Answer:
        url = self.redactor.redact(request.url)[:2048]
        answer = Answer(self.evidence.next_id(), request.method, url, failure=TransportFailure.CONNECT, detail=detail)
        attempt = Attempt(request, httpx.URL(), ("", "", 0), fresh=False, sent=[], note=request.note)
        self._record(attempt, Received(answer), self.evidence.elapsed(), 0.0)
        return answer

    def _record(self, attempt: Attempt, got: Received, started: float, duration: float) -> None:
        answer = got.answer
        sent = self.redactor.redact(attempt.request.body.decode("utf-8", "replace"))
        self.evidence.record(
            Exchange(
                id=answer.exchange,
                method=answer.method,
                url=answer.url,
                request_headers=tuple(map(self._shown, attempt.sent)),
                request_body=sent,
                request_truncated=False,
                status=answer.status,
                response_headers=answer.headers,
                response_body=answer.text,
                response_truncated=answer.truncated,
                started=started,
                duration=duration,
                failure=answer.failure,
                detail=answer.detail,
                note=self.redactor.redact(attempt.note),
                leaked=got.leaked,
            )
        )

    def _shown(self, field: tuple[bytes, bytes]) -> tuple[str, str]:
        name = field[0].decode("ascii")
        return name, REDACTED if field in self._static else self.redactor.redact_header(name, header_text(field[1]))


_parsed = lru_cache(maxsize=128)(httpx.URL)  # a run asks the same few again and again


def _required_origin(url: str) -> Origin:
    origin = origin_of(url)
    if origin is None:
        raise KitFault("a request needs an absolute http or https URL")
    return origin
