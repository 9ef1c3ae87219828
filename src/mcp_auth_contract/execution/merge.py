"""The reports of all shards of a run as the one report that the whole run would have made."""

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution.lacking import reported_once
from mcp_auth_contract.execution.sharding import plan_digest
from mcp_auth_contract.gate import decide
from mcp_auth_contract.model import Level
from mcp_auth_contract.oauth.metadata import is_loopback_url
from mcp_auth_contract.reports.model import ControlSeen, Report, Result, ShardSeen
from mcp_auth_contract.waivers import stale_waivers

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def merge_shards(parts: Sequence[tuple[str, Report]], order: Sequence[str] = ()) -> Report:
    """Return one report over the shards, each given with the name of its file; the gate is decided anew.

    `order` are the ids of checks in which the results come. Exchanges are renumbered by shard. Raises UsageError
    where the files are not all shards, each once, of one plan run by one kit on one contract and target.
    """
    shards = _demand_all(parts)
    _demand_alike(parts)
    ordered = [report for _, (_, report) in sorted(zip(shards, parts, strict=True), key=lambda pair: pair[0].index)]
    results = [_renumbered(result, number) for number, report in enumerate(ordered, 1) for result in report.results]
    if plan_digest((result.case, result.revision) for result in results) != shards[0].plan:
        raise UsageError("the shards do not hold the cases of their plan, each once; run them again")
    places = {check: place for place, check in enumerate(order)}
    last = len(places)
    results = list(reported_once(results))
    results.sort(key=lambda result: (places.get(result.check.id, last), result.check.id, result.case))
    first = ordered[0]
    interrupted = any(report.interrupted for report in ordered)
    # The day on which the last shard began: a merge a week later decides as one at once.
    today = max(_day(report) for report in ordered)
    fail_on = Level.SHOULD if Level.SHOULD in first.gate.binding else Level.MUST
    stale = stale_waivers(first.waivers, results, today)
    controls = [control for report in ordered for control in report.controls]
    return replace(
        first,
        started=min(report.started for report in ordered),
        duration_s=max(report.duration_s for report in ordered),
        results=tuple(results),
        gate=decide(results, controls, fail_on=fail_on, interrupted=interrupted, stale=stale),
        controls=_controls(controls),
        exchanges={
            f"{number}.{key}": {**exchange, "id": f"{number}.{key}"}
            for number, report in enumerate(ordered, 1)
            for key, exchange in report.exchanges.items()
        },
        tokens={label: token for report in ordered for label, token in report.tokens.items()},
        interrupted=interrupted,
        finding=next((report.finding for report in ordered if report.finding), ""),
        notes=tuple(dict.fromkeys(note for report in ordered for note in report.notes)),
        shard=None,
        coverage=next((report.coverage for report in ordered if report.coverage), ()),
        requests=sum(report.sent for report in ordered),
    )


def _demand_all(parts: Sequence[tuple[str, Report]]) -> list[ShardSeen]:
    if not parts:
        raise UsageError("no report to merge")
    shards: list[ShardSeen] = []
    seen: dict[int, str] = {}
    for name, report in parts:
        shard = report.shard
        if shard is None:
            raise UsageError(f"{name}: no shard of a run but a whole one; merge what `run --shard I/N --json` wrote")
        if shard.index in seen:
            raise UsageError(f"{name}: shard {shard.index}/{shard.of} is {seen[shard.index]} already; name each once")
        seen[shard.index] = name
        shards.append(shard)
    first, of = parts[0][0], shards[0].of
    for (name, _), shard in zip(parts, shards, strict=True):
        if shard.of != of:
            raise UsageError(f"{name}: shard {shard.index} of {shard.of}, while {first} is one of {of}")
    if missing := [f"{index}/{of}" for index in range(1, of + 1) if index not in seen]:
        raise UsageError(f"missing: shard {', '.join(missing)}; a merge needs every shard of the run")
    return shards


def _demand_alike(parts: Sequence[tuple[str, Report]]) -> None:
    """Compare what a run is about; a server that the kit starts has another port in each shard."""
    first_name, first = parts[0]
    for name, report in parts[1:]:
        for what, one, other in (
            ("kit version", first.kit_version, report.kit_version),
            ("contract", first.contract, report.contract),
            ("target", _place(first.server.url), _place(report.server.url)),
            ("resource", _place(first.server.resource), _place(report.server.resource)),
            ("server", _server(first), _server(report)),
            ("set of levels that shut the gate", _levels(first), _levels(report)),
            ("set of options", " ".join(first.options), " ".join(report.options)),
        ):
            if one != other:
                raise UsageError(
                    f"{name}: another {what} than {first_name}: {other or 'none'} instead of {one or 'none'}"
                )
        if report.waivers != first.waivers:
            raise UsageError(f"{name}: other waivers than {first_name}; run every shard with the same waivers file")
        if report.shard is not None and first.shard is not None and report.shard.plan != first.shard.plan:
            raise UsageError(
                f"{name}: another plan than {first_name}; run every shard with the same contract and the same options"
            )


def _place(url: str) -> str:
    parts = urlsplit(url)
    if not is_loopback_url(url):
        return url
    return urlunsplit((parts.scheme, parts.hostname or "", parts.path, parts.query, ""))


def _server(report: Report) -> str:
    server = report.server
    return f"{server.name or ''} {server.version or ''} ({', '.join(server.revisions)})"


def _levels(report: Report) -> str:
    return " and ".join(report.gate.binding)


def _day(report: Report) -> datetime.date:
    found = _DAY.match(report.started)
    if found is None:
        raise UsageError(f'the report says that it was started at "{report.started}", which is no date')
    try:
        return datetime.date.fromisoformat(found[0])
    except ValueError:
        raise UsageError(f'the report says that it was started at "{report.started}", which is no date') from None


def _renumbered(result: Result, number: int) -> Result:
    return replace(result, evidence=tuple(f"{number}.{identity}" for identity in result.evidence))


def _controls(seen: Iterable[ControlSeen]) -> tuple[ControlSeen, ...]:
    """Each control once; one that was lost in some shard was lost."""
    known: dict[tuple[str, str, str], ControlSeen] = {}
    for control in seen:
        key = (control.operation, control.principal, control.revision)
        if key not in known or (known[key].accepted and not control.accepted):
            known[key] = control
    return tuple(known.values())
