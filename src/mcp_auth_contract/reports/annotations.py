"""Annotations of GitHub: workflow commands on stdout that show a failure beside the contract in a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

import re
import secrets
from collections.abc import Iterator

from mcp_auth_contract.model import Error, Fail, Inconclusive
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.runner.result import Report, Result

__all__ = ["disarmed", "quarantined", "render_annotations"]

_SHOWN = 10
"""GitHub shows so many errors and as many warnings of a step."""

_MESSAGE = 4000
# The runner trims a line before it looks.
_COMMAND = re.compile(r"\A\s*+::")


def render_annotations(report: Report, file: str | None = None) -> str:
    """Return one `::error` line per check that shuts the gate, a `::warning` per waived check, and the gate's decision.

    A check is told by its first case; no more than ten lines of each kind, as GitHub shows no more. `file` is the
    contract's path in the repository, None where it stands elsewhere.
    """
    errors: dict[str, list[Result]] = {}
    warnings: dict[str, list[Result]] = {}
    for result in report.results:
        if isinstance(result.outcome, Error) or (
            isinstance(result.outcome, Fail | Inconclusive) and report.gate.binds(result)
        ):
            errors.setdefault(result.check.id, []).append(result)
        elif result.waived is not None:
            warnings.setdefault(result.check.id, []).append(result)
    lines = [*_told(file, "warning", warnings, _SHOWN)]
    # The gate's own line comes first among the errors: a stale waiver stands in no case.
    if not report.gate.open:
        said = "; ".join(report.gate.reasons)
        lines.append(_line(file, "error", f"gate SHUT (exit {report.gate.exit_code})", said))
    lines += _told(file, "error", errors, _SHOWN - 1)
    return "".join(f"{line}\n" for line in lines)


def quarantined(text: str) -> str:
    """Return text between lines that keep GitHub from obeying it: the server under test may have put commands in it."""
    word = secrets.token_hex(16)
    end = "" if text.endswith("\n") else "\n"
    return f"::stop-commands::{word}\n{text}{end}::{word}::\n"


def disarmed(text: str) -> str:
    """Return text in which GitHub finds no command: none at the beginning of a line, and none of the older ones."""
    lines = text.splitlines(keepends=True)
    return "".join(_COMMAND.sub(": :", line) for line in lines).replace("##[", "# #[")


def _told(file: str | None, kind: str, checks: dict[str, list[Result]], most: int) -> Iterator[str]:
    for results in list(checks.values())[:most]:
        first = results[0]
        more = f" (and {len(results) - 1} more of {first.check.id})" if len(results) > 1 else ""
        lines = [f"{first.sentence}{more}", f"fix: {first.check.remedy}"]
        if first.waived is not None:
            lines.append(f"waived by {first.waived.owner} until {first.waived.expires}: {first.waived.reason}")
        state = "waived: " if first.waived is not None else ""
        yield _line(file, kind, f"{state}{first.check.level}: {first.check.title}", *lines)


def _line(file: str | None, kind: str, title: str, *lines: str) -> str:
    place = "" if file is None else f"file={_property(file)},"
    message = "\n".join(printable(line, limit=_MESSAGE) for line in lines)
    return f"::{kind} {place}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
