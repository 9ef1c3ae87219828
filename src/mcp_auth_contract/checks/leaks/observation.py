"""What a whole run brings home: every exchange with the server, what it wrote, and what reached its upstream."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from mcp_auth_contract.answers import Answer, Attempt
from mcp_auth_contract.checks.observing import Observation


class CredentialKind(StrEnum):
    """What a request carried in its Authorization header."""

    NONE = "no token"
    GOOD = "a good token"
    WEAK = "a good token with other scopes"
    FORGED = "a forged token"
    OTHER = "another token"


@dataclass(frozen=True, slots=True)
class Secret:
    """A record whose canary came back, and the principals who may read it."""

    record: str
    readers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One exchange of the run, as far as it matters who asked and what came back.

    `verb` is the HTTP method, `rpc` the JSON-RPC method of a single message, empty for any other body. `at_endpoint`
    says that the URL's path is the endpoint's. `sender` is the principal whose token it was, good or not. `origin` says
    that the request named an Origin or another host, `session` that the answer has a session id which the request had
    not, `foreign` that the request named a session which another principal opened. `leaked` are labels of tokens in the
    answer, `environment` those of secrets that the server was given, `secrets` the records whose canaries are in it.
    """

    answer: Answer
    verb: str
    rpc: str = ""
    at_endpoint: bool = True
    credential: CredentialKind = CredentialKind.NONE
    sender: str | None = None
    origin: bool = False
    session: bool = False
    foreign: bool = False
    leaked: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """What the server wrote in one place during the run: labels of tokens in it. `readable` is False without a file."""

    place: str
    labels: tuple[str, ...] = ()
    readable: bool = True


@dataclass(frozen=True, slots=True)
class ExchangesObserved(Observation):
    """All exchanges with the server's origin in order, and its output and log files.

    `written` is empty where the kit can read neither. `environment` are the labels of the secrets that the contract
    gives the server.
    """

    exchanges: tuple[Exchanged, ...]
    written: tuple[Written, ...] = ()
    environment: tuple[str, ...] = ()

    @property
    def answers(self) -> Iterator[Answer]:
        # A whole run is no evidence; the verdict names the exchanges that decided.
        return iter(())


@dataclass(frozen=True, slots=True)
class Passed:
    """A request that reached the upstream: `METHOD /path`, and by place the labels of the kit's tokens in it."""

    request: str
    tokens: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UpstreamObserved(Observation):
    """The calls of tools that use the upstream, and every request that it received during the run."""

    calls: tuple[Attempt, ...]
    passed: tuple[Passed, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorObserved(Observation):
    """The answer to a request that no server can serve; `way` says what it was, `large` that it was too large."""

    way: str
    answer: Answer
    large: bool = False
