"""What each host makes of the facts, by scenarios/hosts.toml."""

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.hosts.facts import VALUES, Fact, FactName

FILE = "hosts.toml"
"""Its name in the folder `scenarios`."""


class Connection(StrEnum):
    """What becomes of a connection."""

    CONNECTS = "will connect"
    DEGRADED = "degraded"
    FAILS = "will not"
    UNKNOWN = "cannot tell"


class Evidence(StrEnum):
    """Where a rule comes from. What was only reported decides nothing."""

    DOCUMENTATION = "documentation"
    SOURCE = "source code"
    REPORT = "report"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(_Part):
    """Where facts about a host were read, and when."""

    url: str = Field(pattern="^https://")
    kind: Evidence
    checked: datetime.date


class Host(_Part):
    """A program that connects to MCP servers on behalf of a user."""

    id: str
    name: str
    unseen: str
    """What about this host no server shows."""
    published: bool = True
    """Whether enough is published of what it needs to say that it will connect."""


class Rule(_Part):
    """What follows for some hosts where every fact of `when` has one of the values given."""

    hosts: tuple[str, ...]
    effect: Connection
    when: dict[FactName, tuple[str, ...]] = Field(min_length=1)
    says: str
    """What such a host does, as a sentence without a full stop."""
    source: str

    @model_validator(mode="after")
    def _known_values(self) -> "Rule":
        for name, values in self.when.items():
            if unknown := set(values) - VALUES[name]:
                message = f"{name}: {', '.join(sorted(unknown))}: no such value"
                raise ValueError(message)
        return self


class Table(_Part):
    """The whole file."""

    source: dict[str, Source]
    host: tuple[Host, ...]
    rule: tuple[Rule, ...]

    @model_validator(mode="after")
    def _consistent(self) -> "Table":
        hosts = {host.id for host in self.host}
        for rule in self.rule:
            if missing := set(rule.hosts) - hosts or {rule.source} - set(self.source):
                message = f"{rule.says}: {', '.join(sorted(missing))}: not in this file"
                raise ValueError(message)
            decides = rule.effect in (Connection.FAILS, Connection.DEGRADED)
            if not decides or (self.source[rule.source].kind is Evidence.REPORT and rule.effect is Connection.FAILS):
                message = f"{rule.says}: a rule says degraded, or on documentation or source code also will not"
                raise ValueError(message)
        return self


@cache
def load_hosts() -> Table:
    """Return the table of hosts; raises ContractError where it is wrong."""
    content = tomllib.loads((data_folder("scenarios") / FILE).read_text("utf-8"))
    try:
        return Table.model_validate(content)
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ContractError(f"scenarios/{FILE}: {place}: {first['msg']}") from None


@dataclass(frozen=True, slots=True)
class Reason:
    """One fact that decides, or that would and was not seen: `effect` is what it brings about."""

    effect: Connection
    says: str
    seen: str
    url: str | None = None
    checked: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class HostVerdict:
    """What becomes of a connection from one host, and why; `unseen` is what no server shows."""

    id: str
    name: str
    verdict: Connection
    reasons: tuple[Reason, ...]
    unseen: str


def host_verdicts(facts: Mapping[FactName, Fact], table: Table | None = None) -> tuple[HostVerdict, ...]:
    """Return the verdict of every host, in the order of the table."""
    known = load_hosts() if table is None else table
    return tuple(_verdict(host, known, facts) for host in known.host)


def _verdict(host: Host, table: Table, facts: Mapping[FactName, Fact]) -> HostVerdict:
    refusal = facts[FactName.CHALLENGE]
    if refusal.value == "open":
        reason = Reason(Connection.CONNECTS, "connects without signing in: the server asks for no token", refusal.seen)
        return HostVerdict(host.id, host.name, Connection.CONNECTS, (reason,), host.unseen)
    told: list[Reason] = []
    unknown: dict[str, Reason] = {}
    for rule in table.rule:
        if host.id not in rule.hosts:
            continue
        looked_at = [facts[name] for name in rule.when]
        if any(fact.value is not None and fact.value not in rule.when[fact.name] for fact in looked_at):
            continue
        source = table.source[rule.source]
        missing = [fact for fact in looked_at if fact.value is None]
        seen = "; ".join(dict.fromkeys(fact.seen for fact in missing or looked_at))
        if not missing:
            told.append(Reason(rule.effect, rule.says, seen, source.url, source.checked))
        else:
            unknown.setdefault(seen, Reason(Connection.UNKNOWN, rule.says, seen, source.url, source.checked))
    fatal = [one for one in told if one.effect is Connection.FAILS]
    if fatal:
        return HostVerdict(host.id, host.name, Connection.FAILS, tuple(fatal), host.unseen)
    if unknown:
        return HostVerdict(host.id, host.name, Connection.UNKNOWN, (*unknown.values(), *told), host.unseen)
    if not told and not host.published:
        reason = Reason(Connection.UNKNOWN, "nothing known stops it, and too little is published of what it needs", "")
        return HostVerdict(host.id, host.name, Connection.UNKNOWN, (reason,), host.unseen)
    verdict = Connection.DEGRADED if told else Connection.CONNECTS
    return HostVerdict(host.id, host.name, verdict, tuple(told), host.unseen)
