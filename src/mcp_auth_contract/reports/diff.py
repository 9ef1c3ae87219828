"""What changed between two reports: what broke, what was repaired, what can no longer be seen, what moved beside."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from mcp_auth_contract.model import Pass, Revision
from mcp_auth_contract.reports.groups import many
from mcp_auth_contract.reports.markdown import code_span
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import encodable, printable
from mcp_auth_contract.reports.verdict import Verdict, verdict_of, worst
from mcp_auth_contract.reports.view import decision

_SHOWN = 20
_VALUE = 300
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


_TITLES: Mapping[str, str] = {
    "broken": "Newly broken",
    "unseen": "Newly not observed",
    "waived": "Newly waived",
    "fixed": "Newly fixed",
    "gone": "No longer asked, or no longer applicable",
}


def diff_headline(difference: Difference) -> str:
    """Return the decision over two reports in one line."""
    if difference.regression:
        return f"REGRESSION (exit 1): {'; '.join(difference.reasons)}"
    return "no regression (exit 0)"


def render_diff_text(difference: Difference) -> str:
    """Render a difference as lines of text, the decision last."""
    lines = [_counted(difference)]
    for name, title in _TITLES.items():
        moved: tuple[Moved, ...] = getattr(difference, name)
        if moved:
            lines += ["", f"{title} ({len(moved)})", *(f"  {_told(one)}" for one in moved[:_SHOWN])]
            lines += [f"  … and {len(moved) - _SHOWN} more"] if moved[_SHOWN:] else []
    for title, changed in _beside(difference):
        lines += ["", title]
        lines += [f"  {printable(one.what)}: {_short(one.before)} → {_short(one.after)}" for one in changed[:_SHOWN]]
        lines += [f"  … and {len(changed) - _SHOWN} more"] if changed[_SHOWN:] else []
    if difference.undeclared:
        lines += ["", "Added to the server, not in the contract", f"  {printable(', '.join(difference.undeclared))}"]
    return "\n".join([*lines, "", printable(diff_headline(difference)), ""])


def render_diff_markdown(difference: Difference) -> str:
    """Render a difference as Markdown, for a comment on a pull request."""
    verdict = "regression" if difference.regression else "no regression"
    lines = [f"## Authentication contract: {verdict}", "", _counted(difference), ""]
    lines += [*(f"- {code_span(reason)}" for reason in difference.reasons), ""] if difference.regression else []
    for name, title in _TITLES.items():
        moved: tuple[Moved, ...] = getattr(difference, name)
        if not moved:
            continue
        lines += [f"### {title} ({len(moved)})", "", "| case | level | before | now | what |", "|---|---|---|---|---|"]
        for one in moved[:_SHOWN]:
            case = f"{code_span(one.case)}{f' (MCP {one.revision})' if one.revision else ''}"
            said = code_span(one.said) if one.said else ""
            lines.append(f"| {case} | {one.level} | {_word(one.before)} | {_word(one.after)} | {said} |")
        lines += [f"\n… and {len(moved) - _SHOWN} more"] if moved[_SHOWN:] else []
        lines.append("")
    for title, changed in _beside(difference):
        lines += [f"### {title}", "", "| what | before | now |", "|---|---|---|"]
        for change in changed[:_SHOWN]:
            lines.append(f"| {code_span(change.what)} | {code_span(change.before)} | {code_span(change.after)} |")
        lines += [f"\n… and {len(changed) - _SHOWN} more"] if changed[_SHOWN:] else []
        lines.append("")
    if difference.undeclared:
        named = ", ".join(map(code_span, difference.undeclared))
        lines += ["### Added to the server, not in the contract", "", named, ""]
    return "\n".join(lines)


def _beside(difference: Difference) -> Iterator[tuple[str, tuple[Changed, ...]]]:
    for title, changed in (
        ("Changed: the run", difference.about),
        ("Changed: remarks and measured values", difference.measured),
        ("Changed: metadata and keys", difference.metadata),
    ):
        if changed:
            yield title, changed


def _counted(difference: Difference) -> str:
    numbers = (
        f"{len(difference.broken)} newly broken",
        f"{len(difference.unseen)} newly not observed",
        f"{len(difference.fixed)} newly fixed",
        f"{difference.still_broken} still broken",
        f"{many(len(difference.added), 'new case')} held",
    )
    return f"{', '.join(numbers)}."


def _told(moved: Moved) -> str:
    revision = f" [MCP {moved.revision}]" if moved.revision else ""
    said = f": {moved.said}" if moved.said and moved.after is not Verdict.HELD else ""
    told = f"{moved.level} {moved.case}{revision} ({_word(moved.before)} → {_word(moved.after)}){said}"
    return printable(told)


def _word(verdict: Verdict | None) -> str:
    return "not asked" if verdict is None else verdict.value


def _short(text: str) -> str:
    return printable(text, limit=_VALUE)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


Word = Literal["kit error", "broken", "waived", "not observed", "held", "not applicable", "not run"]


class MovedV1(_Part):
    """A case whose outcome is another one now."""

    case: str
    check: str
    revision: str | None
    level: Literal["MUST", "SHOULD", "MAY"]
    before: Word | None = Field(description="Null where the old report has no such case.")
    after: Word | None = Field(description="Null where the new report has no such case.")
    said: str
    binding: bool = Field(description="Its level shuts the gate.")


class ChangedV1(_Part):
    """Something beside the cases that is another now."""

    what: str
    before: str
    after: str


class DiffV1(_Part):
    """What changed between two reports. Fields are added, never renamed or removed, within version 1."""

    version: Literal[1] = 1
    regression: bool
    reasons: list[str]
    old: str = Field(description="When the old run was started.")
    new: str = Field(description="When the new run was started.")
    broken: list[MovedV1]
    unseen: list[MovedV1]
    waived: list[MovedV1]
    fixed: list[MovedV1]
    added: list[MovedV1] = Field(description="New cases that held.")
    gone: list[MovedV1] = Field(description="Cases that are no longer asked, or no longer apply.")
    still_broken: int
    about: list[ChangedV1]
    measured: list[ChangedV1]
    metadata: list[ChangedV1]
    undeclared: list[str] = Field(description="What the server lists since then, and the contract does not name.")


def render_diff_json(difference: Difference) -> str:
    """Render a difference as JSON version 1."""

    def moved(cases: Sequence[Moved]) -> list[dict[str, Any]]:
        return [
            {
                "case": one.case,
                "check": one.check,
                "revision": one.revision,
                "level": one.level,
                "before": None if one.before is None else one.before.value,
                "after": None if one.after is None else one.after.value,
                "said": one.said,
                "binding": one.binding,
            }
            for one in cases
        ]

    def changed(changes: Sequence[Changed]) -> list[dict[str, str]]:
        return [{"what": one.what, "before": one.before, "after": one.after} for one in changes]

    value = {
        "regression": difference.regression,
        "reasons": difference.reasons,
        "old": difference.old.started,
        "new": difference.new.started,
        **{name: moved(getattr(difference, name)) for name in ("broken", "unseen", "waived", "fixed", "added", "gone")},
        "still_broken": difference.still_broken,
        **{name: changed(getattr(difference, name)) for name in ("about", "measured", "metadata")},
        "undeclared": difference.undeclared,
    }
    checked = DiffV1.model_validate(encodable(value))
    return json.dumps(checked.model_dump(mode="json"), indent=1, ensure_ascii=True) + "\n"


def diff_schema() -> str:
    """Return the JSON Schema of version 1, as published in docs/report-diff-v1.schema.json."""
    schema = DiffV1.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "mcp-auth-contract report diff, version 1"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
