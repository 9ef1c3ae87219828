"""What the inspection of a server brought home: facts, without an opinion and without a token."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.model import OperationKind, Revision

KIT = "the kit's issuer"
"""The giver of a token that the kit's own issuer signed."""

MOST_SCOPES = 50
"""So many scopes are taken from one place."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server is and how it is started, in the words of the contract: variables are still in it."""

    url: str | None = None
    app: str | None = None
    start: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    ca_file: str | None = None

    @property
    def started_by_kit(self) -> bool:
        """Whether the kit runs the server, in this process or in one of its own."""
        return self.app is not None or bool(self.start)

    def tells(self, variable: str) -> bool:
        """Whether a variable of the contract, or one that begins so, is passed to the server when it starts."""
        return any(f"${{{variable}" in text for text in (*self.start, *self.env.values()))


@dataclass(frozen=True, slots=True)
class Listed:
    """One list of the server. `open` is whether it is given without a token.

    `entries` are those that callers with and without a token see; `complete` is False where the list was refused or
    did not end, and `said` then describes the last answer.
    """

    entries: tuple[JsonObject, ...] = ()
    open: bool = False
    complete: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class NeededScopes:
    """The scopes that the challenges of a call named; `all` is whether it went through with them."""

    scopes: tuple[str, ...]
    all: bool


@dataclass(frozen=True, slots=True)
class TokenShape:
    """How a genuine token is made: names of claims, `typ` and `alg` of its header, and no other value.

    What is None is as the contract has it by default.
    """

    scope: str | None = None
    scope_list: bool = False
    client: str | None = None
    tenant: str | None = None
    typ: str | None = None
    algorithm: str | None = None
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Inspection:
    """A server as it was seen.

    `endpoint` is where it really was, `resource` what its metadata calls it. `scopes` come from where `scopes_from`
    says. `public` are the methods answered without a token, `lists` the lists by kind (tools, resources, templates,
    prompts). `challenge` is how a call without a token was refused, in the words of `policy.challenge`. `open_tools`
    worked without a token, `needed` are scopes by kind and name, `base` those without which nothing is served.
    `token_from` is the environment variable of the token, or `KIT`, empty without one; `token_said` tells how the
    server refused it. `views` is the metadata of each View that tools lead to and that could be read, by URI.
    """

    settings: ServerSettings
    endpoint: str
    name: str | None = None
    version: str | None = None
    revisions: tuple[Revision, ...] = ()
    resource: str | None = None
    issuers: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    scopes_from: str = ""
    public: tuple[str, ...] = ()
    lists: Mapping[str, Listed] = field(default_factory=dict)
    challenge: str | None = None
    open_tools: frozenset[str] = frozenset()
    needed: Mapping[tuple[OperationKind, str], NeededScopes] = field(default_factory=dict)
    base: tuple[str, ...] = ()
    token_from: str = ""
    token_said: str = ""
    shape: TokenShape | None = None
    views: Mapping[str, JsonObject] = field(default_factory=dict)

    @property
    def closed(self) -> tuple[str, ...]:
        """The kinds of which no list was given, the most important first."""
        return tuple(kind for kind, listed in self.lists.items() if not listed.complete and not listed.entries)
