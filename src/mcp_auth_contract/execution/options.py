"""What a caller says about a run."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.execution.sharding import Shard
from mcp_auth_contract.model import Level, Outcome
from mcp_auth_contract.plan import Case, Selection
from mcp_auth_contract.reports.model import Waiver


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run tells how far it is: `begin` with the number of cases, `settled` after each.

    `paced` is told how many requests a second a server allows that limits them, and the seconds that the rest may take.
    """

    begin: Callable[[int], None] = lambda _total: None
    settled: Callable[[Case, Outcome], None] = lambda _case, _outcome: None
    paced: Callable[[float, float], None] = lambda _rate, _rest: None


@dataclass(frozen=True, slots=True)
class Given:
    """A genuine access token of somebody else's issuer, and the environment variable that it came from.

    `principal` is the contract's principal that it speaks for, None for the one who makes the control call.
    """

    variable: str
    token: str = field(repr=False)
    principal: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The words by which a command line gives it."""
        named = () if self.principal is None else ("--principal", self.principal)
        return ("--token-env", self.variable, *named)


@dataclass(frozen=True, slots=True)
class Options:
    """How to run. `environ` stands for the process environment, `name` for the contract in reports.

    In seconds, `time_limit` is for one request, `wait` for all waiting until time has passed, and `deadline` for the
    whole of asking: what is not known then is inconclusive. With a `genuine` token no issuer is started, and what
    tampering and transport cannot make is not asked. `shard` is the part of the plan to run, None for the whole.
    With `server` a provider run asks the server too, with a token of the provider.
    `repeat` are the words by which a command line asks for the same run, besides the contract and the genuine token.
    `all_evidence` keeps the exchanges of what passed in the JSON report too. `ca_files` are certificates to trust
    besides the system's. `hosts` asks what MCP hosts would make of the server.
    """

    checks: Sequence[Check]
    selection: Selection = field(default_factory=Selection)
    every_revision: bool = False
    jobs: int = 8
    fail_on: Level = Level.MUST
    name: str = "mcp-auth-contract.toml"
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    clock: Clock = system_clock
    time_limit: float = 10.0
    wait: float = 0.0
    deadline: float | None = None
    genuine: Given | None = None
    waivers: tuple[Waiver, ...] = ()
    shard: Shard | None = None
    server: bool = False
    repeat: tuple[str, ...] = ()
    all_evidence: bool = False
    hosts: bool = False
    ca_files: tuple[str, ...] = ()
    progress: Progress = field(default_factory=Progress)
