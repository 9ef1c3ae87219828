"""What changed between two reports: what broke, what was repaired, what can no longer be seen, what moved beside."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from mcp_auth_contract.model import Pass, Revision
from mcp_auth_contract.reports.groups import many
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.verdict import Verdict, verdict_of, worst
from mcp_auth_contract.reports.view import decision

_BAD = frozenset({Verdict.BROKEN, Verdict.ERROR})
_SEEN = frozenset({Verdict.HELD, Verdict.BROKEN, Verdict.WAIVED})

_Key = tuple[str, Revision | None]


@dataclass(frozen=True, slots=True)
class Moved:
    """A case whose outcome is another one now. `binding`: its level shuts the gate."""

    case: str
    check: str
    revision: Revision | None
    level: str
    before: Verdict | None
    after: Verdict | None
    said: str
    binding: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """Something beside the cases that is another now: a member of a document, a measured value, a version."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that differs between an old and a new report."""

    old: Report
    new: Report
    broken: tuple[Moved, ...]
    unseen: tuple[Moved, ...]
    waived: tuple[Moved, ...]
    fixed: tuple[Moved, ...]
    added: tuple[Moved, ...]
    gone: tuple[Moved, ...]
    still_broken: int
    about: tuple[Changed, ...]
    measured: tuple[Changed, ...]
    metadata: tuple[Changed, ...]
    undeclared: tuple[str, ...]

    @property
    def regression(self) -> bool:
        """Whether something that shuts the gate broke or can no longer be seen, or a waiver ran out."""
        return bool(self.reasons)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is a regression."""
        broken = sum(one.binding for one in self.broken)
        unseen = sum(one.binding for one in self.unseen)
        stale = [reason for reason in self.new.gate.stale if reason not in self.old.gate.stale]
        return (
            *((f"{many(broken, 'case')} newly broken",) if broken else ()),
            *((f"{many(unseen, 'case')} newly not observed",) if unseen else ()),
            *stale,
        )


def compare(old: Report, new: Report) -> Difference:
    """Return what differs between two reports, cases matched by id and revision."""
    before, after = _by_key(old), _by_key(new)
    moved = [_moved(key, before.get(key, ()), after.get(key, ()), new) for key in dict.fromkeys((*after, *before))]
    changed = [one for one in moved if one.before is not one.after]

    def which(*verdicts: Verdict) -> tuple[Moved, ...]:
        return tuple(one for one in changed if one.after in verdicts)

    return Difference(
        old=old,
        new=new,
        broken=tuple(one for one in changed if one.after in _BAD and one.before not in _BAD),
        unseen=tuple(one for one in which(Verdict.UNSEEN) if one.before in (*_SEEN, None)),
        waived=which(Verdict.WAIVED),
        fixed=tuple(one for one in which(Verdict.HELD) if one.before in (*_BAD, Verdict.WAIVED)),
        added=tuple(one for one in changed if one.before is None and one.after is Verdict.HELD),
        gone=tuple(
            one for one in changed if one.after in (None, Verdict.NOT_APPLICABLE) and one.before in (*_BAD, *_SEEN)
        ),
        still_broken=sum(one.before in _BAD and one.after in _BAD for one in moved),
        about=tuple(_changes(_about(old), _about(new))),
        measured=tuple(_changes(_measured(old), _measured(new), both=True)),
        metadata=tuple(_changes(_documents(old), _documents(new), of_known=True)),
        undeclared=tuple(sorted(_undeclared(new) - _undeclared(old))),
    )


def _by_key(report: Report) -> dict[_Key, list[Result]]:
    found: dict[_Key, list[Result]] = {}
    for result in report.results:
        found.setdefault((result.case, result.revision), []).append(result)
    return found


def _moved(key: _Key, before: Sequence[Result], after: Sequence[Result], new: Report) -> Moved:
    was = worst(map(verdict_of, before)) if before else None
    now = worst(map(verdict_of, after)) if after else None
    shown = next((result for result in after if verdict_of(result) is now), None) or before[0]
    binding = shown.check.level in new.gate.binding or now is Verdict.ERROR
    said = shown.said if after else ""
    return Moved(key[0], shown.check.id, key[1], shown.check.level.value, was, now, said, binding)


def _about(report: Report) -> Mapping[str, str]:
    server = report.server
    name = " ".join(filter(None, (server.name, server.version)))
    levels = " and ".join(report.gate.binding)
    return {
        "kit": report.kit_version,
        "contract": report.contract,
        "target": _place(server.url),
        "resource": _place(server.resource),
        "server": name,
        "revisions": ", ".join(server.revisions),
        "levels that shut the gate": levels,
        "gate": decision(report.gate),
        "interrupted": "yes" if report.interrupted else "no",
    }


def _measured(report: Report) -> Mapping[str, str]:
    """What was remarked of cases that passed: a leeway that was measured, and whatever else no clause forbids."""
    return {
        f"{result.case}{f' [MCP {result.revision}]' if result.revision else ''}": result.outcome.advice or "no remark"
        for result in report.results
        if isinstance(result.outcome, Pass)
    }


def _documents(report: Report) -> Mapping[str, str]:
    """The members of the metadata documents and key sets that the kit fetched, by path and member."""
    found: dict[str, str] = {}
    for exchange in report.exchanges.values():
        request, response = exchange.get("request") or {}, exchange.get("response") or {}
        path = urlsplit(str(request.get("url", ""))).path
        if request.get("method") != "GET" or response.get("status") != 200 or "/.well-known/" not in path:
            continue
        try:
            document = json.loads(response.get("body") or "")
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            for member, value in document.items():
                found.setdefault(f"{path} {member}", _ports_aside(json.dumps(value, sort_keys=True)))
    return found


def _changes(
    before: Mapping[str, str], after: Mapping[str, str], *, both: bool = False, of_known: bool = False
) -> Iterator[Changed]:
    """Yield what differs; with `both` only what both have, with `of_known` only of documents that both have."""
    documents = {name.split(" ", 1)[0] for name in before} & {name.split(" ", 1)[0] for name in after}
    names = dict.fromkeys((*before, *after))
    for name in sorted(names) if of_known else names:
        if (both and not (name in before and name in after)) or (of_known and name.split(" ", 1)[0] not in documents):
            continue
        was, now = before.get(name, "absent"), after.get(name, "absent")
        if was != now:
            yield Changed(name, was, now)


def _undeclared(report: Report) -> set[str]:
    return {f"{kind.kind.removesuffix('s')} {name}" for kind in report.coverage for name in kind.missing}


def _place(url: str) -> str:
    return _ports_aside(url)


def _ports_aside(text: str) -> str:
    """A server that the kit starts has another port in each run."""
    for host in ("127.0.0.1", "localhost"):
        start = 0
        while (at := text.find(f"{host}:", start)) >= 0:
            start = at + len(host)
            end = start + 1
            while end < len(text) and text[end].isdigit():
                end += 1
            text = text[:start] + text[end:]
    return text
