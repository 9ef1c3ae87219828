"""Reading a JSON report back, so that it can be rendered and merged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from mcp_auth_contract.catalogue import FAMILIES, Check
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.hosts.verdicts import HostVerdict
from mcp_auth_contract.model import Error, Fail, Impact, Inconclusive, Level, NotApplicable, Outcome, Pass, Revision
from mcp_auth_contract.reports.json_v1 import CheckV1, ReportV1, ResultV1
from mcp_auth_contract.reports.model import (
    About,
    ControlSeen,
    Coverage,
    Gate,
    LiveRecord,
    Report,
    Result,
    ServerSeen,
    ShardSeen,
    TokenSeen,
    Waiver,
)

_Part = TypeVar("_Part")


def read_report(text: str | bytes, name: str, checks: Sequence[Check] = ()) -> Report:
    """Return the report that a JSON text of version 1 tells; members that this kit does not know are passed over.

    The catalogue gives what JSON leaves out (why a check matters). Raises UsageError, naming the file and the place,
    for anything that is no such report.
    """
    try:
        told = ReportV1.model_validate_json(text)
        return _report(told, {check.id: check for check in checks})
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the text"
        raise UsageError(f"{name}: no JSON report of version 1: {place}: {first['msg']}") from None
    except ValueError as fault:
        raise UsageError(f"{name}: no JSON report of version 1: {fault}") from None


def _as(kind: type[_Part], told: BaseModel, **renamed: object) -> _Part:
    """Read a part of the report whose members have the same names in JSON, but for those that are given."""
    return TypeAdapter(kind).validate_python({**told.model_dump(), **renamed})


def _report(told: ReportV1, known: Mapping[str, Check]) -> Report:
    waivers = tuple(_as(Waiver, one) for one in told.waivers)
    for one in told.results:
        if (common := told.checks.get(one.check)) is not None and not one.citations:
            cited = (told.citations[key] for key in common.citations if key in told.citations)
            one.citations.extend(cited)
    return Report(
        kit_version=told.kit.version,
        contract=told.contract,
        server=_as(ServerSeen, told.target, **told.target.server.model_dump()),
        started=told.started,
        duration_s=told.duration_s,
        results=tuple(_result(one, known, waivers, told.checks) for one in told.results),
        gate=_as(Gate, told.gate),
        controls=tuple(_as(ControlSeen, one, accepted=one.held) for one in told.controls),
        exchanges=told.exchanges,
        interrupted=told.interrupted,
        finding=told.finding,
        notes=tuple(told.notes),
        options=tuple(told.options),
        coverage=tuple(_as(Coverage, one) for one in told.coverage),
        requests=told.requests,
        waivers=waivers,
        shard=None if told.shard is None else _as(ShardSeen, told.shard),
        environment=told.kit.environment,
        source=told.source,
        tokens={label: _as(TokenSeen, token) for label, token in told.tokens.items()},
        hosts=tuple(_as(HostVerdict, one) for one in told.hosts),
        claimed=tuple(told.claimed),
        live=tuple(_as(LiveRecord, record) for record in told.live),
        all_evidence=any(one.evidence for one in told.results if one.outcome == "pass"),
    )


def _result(
    told: ResultV1, known: Mapping[str, Check], waivers: Sequence[Waiver], checks: Mapping[str, CheckV1]
) -> Result:
    waived = None
    if told.waived is not None:
        said = (told.waived.reason, told.waived.owner, told.waived.expires)
        alike = [one for one in waivers if (one.reason, one.owner, one.expires) == said]
        covering = [one for one in alike if one.case == told.case] or [one for one in alike if one.check == told.check]
        if not covering:
            message = f"{told.case}: waived by a waiver that the report does not list"
            raise ValueError(message)
        waived = covering[0]
    return Result(
        told.case,
        _check(told, known.get(told.check), checks.get(told.check)),
        Revision(told.revision) if told.revision is not None else None,
        _outcome(told),
        tuple(told.evidence),
        told.reproduce,
        waived,
        About() if told.about is None else _as(About, told.about),
    )


def _outcome(told: ResultV1) -> Outcome:
    match told.outcome:
        case "pass":
            return Pass(told.advice)
        case "fail":
            return Fail(told.expected or "", told.observed or "", Impact(told.impact))
        case "inconclusive":
            return Inconclusive(told.reason or "", told.reported_by)
        case "not_applicable":
            return NotApplicable(told.reason or "")
        case "error":
            return Error(told.reason or "")


def _check(told: ResultV1, known: Check | None, common: CheckV1 | None) -> Check:
    """The check as the report tells it; only what the report leaves out comes from the catalogue."""
    cites = tuple(one.key for one in told.citations if one.key in CITATIONS)
    remedy = told.remedy or ("" if common is None else common.remedy)
    if known is not None:
        return replace(known, title=told.title, level=Level(told.level), cites=cites, remedy=remedy)
    family = next((one for one in FAMILIES if told.check.startswith(f"{one}-")), told.check.split("-", 1)[0])
    return Check(
        id=told.check,
        family=family,
        title=told.title,
        level=Level(told.level),
        impact=Impact(told.impact if common is None else common.impact),
        cites=cites,
        requirements=() if common is None else tuple(common.requirements),
        probe="",
        judge="",
        why="",
        remedy=remedy,
    )
