"""Annotations of GitHub: workflow commands on stdout that show a failure beside the contract in a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

import re
import secrets

from mcp_auth_contract.reports.groups import Group, Part
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.reports.view import view_of

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
    view = view_of(report)
    lines = [_told(file, "warning", group) for group in view.waived[:_SHOWN]]
    # The gate's own line comes first among the errors: a stale waiver stands in no case.
    if not report.gate.open:
        lines.append(_line(file, "error", view.decision, "; ".join(report.gate.reasons)))
    lines += [_told(file, "error", group) for group in view.shutting[: _SHOWN - 1]]
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


def _told(file: str | None, kind: str, group: Group) -> str:
    state = "waived: " if group.part is Part.WAIVED else ""
    facts = (f"{label}: {text}" for label, text in group.facts)
    return _line(file, kind, f"{state}{group.headline}", *group.shown, *facts)


def _line(file: str | None, kind: str, title: str, *lines: str) -> str:
    place = "" if file is None else f"file={_property(file)},"
    message = "\n".join(printable(line, limit=_MESSAGE) for line in lines)
    return f"::{kind} {place}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
