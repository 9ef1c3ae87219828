"""What the issuer says about a token that is introspected (RFC 7662) or revoked (RFC 7009), and what it was asked."""

import hashlib
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.issuer.behaviours import Behaviour, Change
from mcp_auth_contract.tokens.spec import compact_json


@dataclass(frozen=True, slots=True, kw_only=True)
class IntrospectionAnswer(Behaviour):
    """What is said about one token: `members` as JSON, unless there is a `body`, in the way of the behaviour."""

    members: Mapping[str, object] | None = field(default=None, repr=False)

    def usual(self) -> bytes:
        """Return the members as JSON (RFC 7662 §2.2); an answer without members says that the token is inactive."""
        return compact_json({"active": False} if self.members is None else self.members)


INACTIVE = IntrospectionAnswer(members={"active": False})
"""What is said about a token that is unknown, revoked or expired (RFC 7662 §2.2)."""


class ClientAuthentication(StrEnum):
    """How a request identified its sender; the credentials themselves are neither compared nor kept."""

    NONE = "none"
    BASIC = "client_secret_basic"
    POST = "client_secret_post"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Asked:
    """One introspection request. `number` counts them from 1, `token` is the fingerprint of what was asked for.

    `parameters` are the names in the form, in order; a name that RFC 7662 and RFC 6749 do not know is "other".
    """

    number: int
    token: str | None
    authentication: ClientAuthentication
    parameters: tuple[str, ...]


def fingerprint(token: str) -> str:
    """Return the SHA-256 of a token in hexadecimal; all that is ever kept of it."""
    return hashlib.sha256(token.encode("utf-8", errors="surrogatepass")).hexdigest()


class Introspection:
    """The registered tokens, by fingerprint, and the latest `limit` requests; safe from any thread."""

    def __init__(self, change: Change, limit: int = 10_000) -> None:
        self._change = change
        self._lock = threading.Lock()
        self._registered: dict[str, IntrospectionAnswer] = {}
        self._changed: dict[str, IntrospectionAnswer] = {}
        self._behaviour = Behaviour()
        self._asked: deque[Asked] = deque(maxlen=limit)
        self._total = 0

    def register(self, token: str, answer: IntrospectionAnswer) -> None:
        """Make a token known, with the answer that `restore` brings back."""
        with self._lock:
            self._registered[fingerprint(token)] = answer
            self._changed.pop(fingerprint(token), None)
        self._change.announce()

    def answer(self, token: str, answer: IntrospectionAnswer) -> None:
        """Say something else about a token until told otherwise, whether it is registered or not."""
        with self._lock:
            self._changed[fingerprint(token)] = answer
        self._change.announce()

    def revoke(self, token: str) -> None:
        """Say from now on that the token is inactive (RFC 7009 §2.2); an unknown one is that already."""
        with self._lock:
            known = fingerprint(token) in self._registered or fingerprint(token) in self._changed
            if known:
                self._changed[fingerprint(token)] = INACTIVE
        if known:
            self._change.announce()

    def behave(self, behaviour: Behaviour) -> None:
        """Answer every introspection in another way, until told otherwise."""
        with self._lock:
            self._behaviour = behaviour
        self._change.announce()

    def restore(self) -> None:
        """Say about each token what it was registered with, in the usual way."""
        with self._lock:
            self._changed.clear()
            self._behaviour = Behaviour()
        self._change.announce()

    @property
    def behaviour(self) -> Behaviour:
        """How every introspection is answered now."""
        with self._lock:
            return self._behaviour

    def answer_for(self, token: str) -> IntrospectionAnswer:
        """Return what is said about a token now."""
        key = fingerprint(token)
        with self._lock:
            return self._changed.get(key) or self._registered.get(key) or INACTIVE

    def record(self, token: str | None, authentication: ClientAuthentication, parameters: tuple[str, ...]) -> None:
        """Remember one request, and of its token the fingerprint only."""
        hashed = None if token is None else fingerprint(token)
        with self._lock:
            self._total += 1
            self._asked.append(Asked(self._total, hashed, authentication, parameters))

    def mark(self) -> int:
        """Return the number of the latest request, to ask later what came after it."""
        with self._lock:
            return self._total

    def asked(self, token: str | None = None, after: int = 0) -> tuple[Asked, ...]:
        """Return the requests that are remembered, oldest first: of one token, and after a mark."""
        wanted = None if token is None else fingerprint(token)
        with self._lock:
            kept = tuple(self._asked)
        return tuple(one for one in kept if one.number > after and wanted in (None, one.token))


_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "dpop"})


@dataclass(frozen=True, slots=True)
class Received:
    """One request. `number` counts them from 1; `at` is seconds since the epoch by the issuer's clock.

    Headers are lower case, those with credentials left out. The query's values and the body are not kept:
    both can hold a code, a token or a secret.
    """

    number: int
    method: str
    path: str
    at: float
    headers: Mapping[str, str] = field(repr=False)


class Memory:
    """Remembers the latest requests, up to `limit`; safe from any thread."""

    def __init__(self, clock: Clock = system_clock, limit: int = 10_000) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._requests: deque[Received] = deque(maxlen=limit)
        self._total = 0

    def record(self, method: str, path: str, headers: Iterable[tuple[str, str]]) -> None:
        """Remember one request at the present time."""
        harmless = {name.lower(): value for name, value in headers if name.lower() not in _CREDENTIALS}
        at = self._clock()
        with self._lock:
            self._total += 1
            self._requests.append(Received(self._total, method, path, at, MappingProxyType(harmless)))

    @property
    def total(self) -> int:
        """How many requests came in, forgotten ones included; a mark for `requests(after=…)`."""
        with self._lock:
            return self._total

    def requests(
        self, path: str | None = None, since: float | None = None, *, under: str | None = None, after: int = 0
    ) -> tuple[Received, ...]:
        """Return what is remembered, oldest first.

        Of one path, of the path `under` and everything below it, from one moment on, after a mark.
        """
        with self._lock:
            kept = tuple(self._requests)
        return tuple(
            request
            for request in kept
            if request.number > after
            and (path is None or request.path == path)
            and (under is None or request.path == under or request.path.startswith(f"{under}/"))
            and (since is None or request.at >= since)
        )
