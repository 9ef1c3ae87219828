"""The difference between two reports as text and as Markdown."""

from collections.abc import Iterator, Mapping

from mcp_auth_contract.reports.diff import Changed, Difference, Moved
from mcp_auth_contract.reports.groups import many
from mcp_auth_contract.reports.markdown import code_span
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.reports.verdict import Verdict

_SHOWN = 20
_VALUE = 300


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
