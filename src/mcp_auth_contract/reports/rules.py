"""docs/checks.md: the reference of all checks, generated from the catalogue."""

from collections.abc import Sequence

from mcp_auth_contract.catalogue import FAMILIES, Check
from mcp_auth_contract.citations import CITATIONS

_FAMILY_TITLES = {
    "prm": "Protected-resource metadata",
    "as": "Authorization-server metadata",
    "challenge": "Challenges and endpoints",
    "token": "Tokens",
    "scope": "Scopes",
    "app": "Views (MCP Apps)",
    "transport": "Transport",
    "revision": "Revisions",
}


def render_checks(checks: Sequence[Check]) -> str:
    """Render the reference as Markdown, one section per family and check."""
    lines = [
        "# Checks",
        "",
        "Generated from `scenarios/catalogue` by `python -m tests.docs.generate`; do not edit.",
        "",
        f"{len(checks)} checks. `mcp-auth-contract explain CHECK` shows a failure of each.",
    ]
    for family in FAMILIES:
        members = [check for check in checks if check.family == family]
        if not members:
            continue
        lines += ["", f"## {_FAMILY_TITLES.get(family, family)}", "", "| check | level | impact |", "|---|---|---|"]
        lines += [f"| [{check.id}](#{check.id}) | {check.level} | {check.impact} |" for check in members]
        for check in members:
            lines += ["", *_section(check)]
    return "\n".join(lines) + "\n"


def _section(check: Check) -> list[str]:
    sources = "; ".join(f"[{CITATIONS[key].label}]({CITATIONS[key].url})" for key in check.cites)
    revisions = ""
    if check.since or check.until:
        revisions = f" · revisions {check.since or 'first'} to {check.until or 'newest'}"
    return [
        f"### {check.id}",
        "",
        f"**{check.title}.** {check.level} · {check.impact}{revisions}",
        "",
        check.why,
        "",
        f"*Fix:* {check.remedy}",
        "",
        f"*Source:* {sources}",
    ]
