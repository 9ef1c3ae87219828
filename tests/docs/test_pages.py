"""Pages lead somewhere, and decisions keep their form."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("keys/*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_this_repository_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        to = (page.parent / file).resolve() if file else page
        assert to.exists(), link
        assert not anchor or anchor in anchors(to), link


def test_the_index_lists_every_decision_by_its_number_and_title() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text("utf-8")
    listed = re.findall(r"^(\d+)\. \[(.+)\]\((.+)\)$", index, re.MULTILINE)
    found = [
        (str(number), page.read_text("utf-8").splitlines()[0].removeprefix(f"# {number}. "), page.name)
        for number, page in enumerate(DECISIONS, 1)
    ]
    assert listed == found
    assert all(page.name.startswith(f"{number:04d}-") for number, page in enumerate(DECISIONS, 1))


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_is_short_and_has_context_decision_and_consequence(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequence"]
    assert len(text.splitlines()) <= 20
