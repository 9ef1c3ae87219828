"""A waivers file for the failures of a run, with everything in it that only people can decide left to fill in."""

import json
from collections.abc import Sequence

from mcp_auth_contract.model import Fail, NotApplicable
from mcp_auth_contract.runner.result import Report, Result

__all__ = ["draft_waivers"]

_HEAD = """\
# Waivers drafted by mcp-auth-contract {version} for {contract}, run of {started}.
# Each needs an owner, who answers for it, and a last day: expires = 2027-03-31 (no quotes).
# Until both are filled in, the file is refused. What holds or has expired shuts the gate: remove it then.
"""


def draft_waivers(report: Report, *, by_check: bool) -> str | None:
    """Return the text of a waivers file for each failure that shuts the gate, None where there is none.

    A check of which every case that ran has failed is one entry with `by_check`; else each case is one.
    """
    failures: dict[str, list[Result]] = {}
    whole: dict[str, bool] = {}
    for result in report.results:
        if isinstance(result.outcome, Fail) and report.gate.binds(result):
            failures.setdefault(result.check.id, []).append(result)
        elif not isinstance(result.outcome, NotApplicable):
            whole[result.check.id] = False
    if not failures:
        return None
    head = _HEAD.format(
        version=report.kit_version, contract=json.dumps(report.contract, ensure_ascii=True), started=report.started
    )
    day = report.started[:10]
    entries = []
    for check, failed in failures.items():
        cases: dict[str, list[Result]] = {}
        for result in failed:
            cases.setdefault(result.case, []).append(result)
        if by_check and len(cases) > 1 and whole.get(check, True):
            entries.append(_entry("check", check, failed, day))
        else:
            entries += [_entry("case", case, results, day) for case, results in cases.items()]
    return "\n".join([head, *entries])


def _entry(key: str, name: str, failed: Sequence[Result], day: str) -> str:
    outcome = failed[0].outcome
    said = f"expected {outcome.expected}, observed {outcome.observed}" if isinstance(outcome, Fail) else ""
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return "\n".join(
        [
            f"# {failed[0].check.title}: {_comment(said)}{more}",
            "[[waiver]]",
            f"{key} = {_string(name)}",
            f'reason = "broken when this was drafted, {day}"',
            'owner = ""    # who answers for it',
            'expires = ""  # the last day on which it counts',
            "",
        ]
    )


def _comment(text: str) -> str:
    """Text for a comment of one line. What cannot be printed, a line end above all, is escaped."""
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def _string(text: str) -> str:
    """A TOML basic string. What a server wrote into it is escaped; TOML knows no surrogates."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
