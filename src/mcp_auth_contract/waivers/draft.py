"""A waivers file for the failures of a run, with everything in it that only people can decide left to fill in."""

import json
from collections.abc import Sequence

from mcp_auth_contract.reports.groups import Part, by_check, more, part_of
from mcp_auth_contract.reports.model import Report, Result

_HEAD = """\
# Waivers drafted by mcp-auth-contract {version} for {contract}, run of {started}.
# Each needs an owner, who answers for it, and a last day: expires = 2027-03-31 (no quotes).
# Until both are filled in, the file is refused. What passes or has expired shuts the gate: remove it then.
"""


def draft_waivers(report: Report, *, whole: bool) -> str | None:
    """Return the text of a waivers file for each failure that shuts the gate, None where there is none.

    A check of which every case that ran has failed is one entry where the run was a `whole` one; else each case is one.
    """
    parts = [(part_of(result, report.gate), result) for result in report.results]
    failed = [result for part, result in parts if part is Part.FAILED]
    others = {result.check.id for part, result in parts if part not in (Part.FAILED, Part.NOT_APPLICABLE)}
    if not failed:
        return None
    head = _HEAD.format(
        version=report.kit_version, contract=json.dumps(report.contract, ensure_ascii=True), started=report.started
    )
    day = report.started[:10]
    entries = []
    for results in by_check(failed):
        check = results[0].check.id
        cases: dict[str, list[Result]] = {}
        for result in results:
            cases.setdefault(result.case, []).append(result)
        if whole and len(cases) > 1 and check not in others:
            entries.append(_entry("check", check, results, day))
        else:
            entries += [_entry("case", case, alike, day) for case, alike in cases.items()]
    return "\n".join([head, *entries])


def _entry(key: str, name: str, failed: Sequence[Result], day: str) -> str:
    return "\n".join(
        [
            f"# {failed[0].check.title}: {_comment(failed[0].said)}{more(failed)}",
            "[[waiver]]",
            f"{key} = {_string(name)}",
            f'reason = "failed when this was drafted, {day}"',
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
