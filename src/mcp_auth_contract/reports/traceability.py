"""From each requirement to the checks that enforce it and to what they saw, by specification."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.reports.groups import many
from mcp_auth_contract.reports.model import Result
from mcp_auth_contract.reports.verdict import Verdict, verdict_of, worst
from mcp_auth_contract.requirements import Requirement, load_requirements, load_untested_groups


@dataclass(frozen=True, slots=True)
class Traced:
    """A requirement with the ids of its checks, the worst that any of their cases showed, and the documents it is in.

    `verdict` is "not run" where no check of it was selected; `tested` is false where there is no check at all.
    """

    requirement: Requirement
    checks: tuple[str, ...]
    verdict: Verdict
    documents: tuple[str, ...]

    @property
    def tested(self) -> bool:
        """Whether any check looks at it."""
        return bool(self.checks)


def trace(
    results: Sequence[Result], checks: Sequence[Check], requirements: Sequence[Requirement] | None = None
) -> tuple[Traced, ...]:
    """Return every requirement with its checks, those of the catalogue and of the results, and what they showed."""
    known = {check.id: check for check in (*checks, *(result.check for result in results))}
    named: dict[str, list[Check]] = {}
    for check in known.values():
        for key in check.requirements:
            named.setdefault(key, []).append(check)
    seen: dict[str, list[Verdict]] = {}
    for result in results:
        seen.setdefault(result.check.id, []).append(verdict_of(result))
    traced = []
    for requirement in load_requirements() if requirements is None else requirements:
        own = named.get(requirement.id, [])
        verdict = worst(worst(seen[check.id]) for check in own if check.id in seen)
        documents = dict.fromkeys(_document(key) for check in own for key in check.cites)
        traced.append(Traced(requirement, tuple(check.id for check in own), verdict, tuple(sorted(documents))))
    return tuple(traced)


def by_document(traced: Sequence[Traced]) -> Mapping[str, tuple[Traced, ...]]:
    """Return the requirements by specification; one that several cite stands under each."""
    found: dict[str, list[Traced]] = {}
    for one in traced:
        for document in one.documents:
            found.setdefault(document, []).append(one)
    return {document: tuple(found[document]) for document in sorted(found)}


def render_traceability(checks: Sequence[Check]) -> str:
    """Render docs/traceability.md: each requirement with its checks, by specification, and what is not tested."""
    traced = trace((), checks)
    tested = sum(one.tested for one in traced)
    lines = [
        "# Requirements and their checks",
        "",
        "Generated from `scenarios/` by `python -m tests.docs.generate`; do not edit.",
        "",
        (
            f"{many(len(traced), 'requirement')}: {tested} have a check, {len(traced) - tested} a reason why not. "
            "The HTML report shows the same with what a run saw."
        ),
        "",
        "## By specification",
        "",
        "| specification | requirements that its sections are cited for |",
        "|---|---|",
    ]
    for document, members in by_document(traced).items():
        lines.append(f"| {document} | {', '.join(f'[{_id(one)}](#{_id(one)})' for one in members)} |")
    lines += ["", "## Tested", ""]
    for one in traced:
        if one.tested:
            lines += [f"### {_id(one)}", "", f"{one.requirement.level}: {_text(one.requirement.title)}", ""]
            lines += [", ".join(f"[{check}](checks.md#{check})" for check in one.checks), ""]
            if one.requirement.excuse is not None:
                lines += [f"*Left out:* {_text(one.requirement.excuse.said)}", ""]
    lines += ["## Not tested", "", "| requirement | level | why |", "|---|---|---|"]
    for one in traced:
        if not one.tested and one.requirement.excuse is not None:
            told = f"`{_id(one)}` {_text(one.requirement.title)}"
            lines.append(f"| {told} | {one.requirement.level} | {_text(one.requirement.excuse.said)} |")
    lines += ["", "Whole subjects:", ""]
    lines += [f"- `{subject}`: {_text(excuse.said)}" for subject, excuse in load_untested_groups().items()]
    return "\n".join(lines) + "\n"


def _id(one: Traced) -> str:
    return one.requirement.id


def _text(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _document(key: str) -> str:
    document = CITATIONS[key].document
    if document.startswith("MCP "):  # its pages together: what matters to a reader is the revision
        return " ".join(document.split(" ")[:2])
    return document
