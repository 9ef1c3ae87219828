"""The catalogue's data files are complete: every requirement, check and citation has its counterpart."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcp_auth_contract.catalogue import Check, load_builtin
from mcp_auth_contract.checks.presentation import PRESENTATIONS
from mcp_auth_contract.checks.registry import JUDGES, PROBES
from mcp_auth_contract.citations import CITATIONS, Citation, read_citations
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.model import Level, Revision

FILES = (
    "prm",
    "as",
    "challenge",
    "transport",
    "revision",
    "presentation",
    "token",
    "token-serialization",
    "token-algorithm",
    "token-key",
    "token-extension",
    "token-encryption",
    "token-kind",
    "token-issuer",
    "token-audience",
    "token-time",
    "token-subject",
    "token-tenant",
    "token-sender",
    "time",
    "keys",
    "introspection",
    "scope",
    "scope-syntax",
    "scope-matrix",
    "isolation",
    "isolation-handles",
    "session",
    "leak",
    "tool-challenge",
    "isolation-identity",
    "flow",
    "grant",
    "refresh",
    "revocation",
    "provider-introspection",
    "registration",
    "capability",
    "app",
)
ORDER = (
    "id",
    "title",
    "level",
    "impact",
    "cites",
    "requirements",
    "since",
    "until",
    "over",
    "needs",
    "probe",
    "token",
    "scopes",
    "presentation",
    "forms",
    "baseline",
    "tries",
    "judge",
    "core",
    "why",
    "remedy",
)
REASONS = {"later", "advice", "not observable", "out of scope", "sampled"}
CAPABILITIES = {
    "scope and isolation matrices",
    "token defects, time and key life",
    "tool-level challenges",
    "real providers",
    "run-wide invariants and leaks",
    "host profiles",
}


def entries(file: str, table: str) -> list[Mapping[str, Any]]:
    content = tomllib.loads((data_folder("scenarios") / file).read_text("utf-8"))
    found: list[Mapping[str, Any]] = content[table]
    return found


@pytest.fixture(scope="module")
def checks() -> tuple[Check, ...]:
    return load_builtin()


@pytest.fixture(scope="module")
def named(checks: tuple[Check, ...]) -> set[str]:
    return {requirement for check in checks for requirement in check.requirements}


REQUIREMENTS = entries("requirements.toml", "requirement")
NOT_TESTED = entries("not-tested.toml", "requirement")
GROUPS = entries("not-tested.toml", "group")
KNOWN = {entry["id"] for entry in REQUIREMENTS}
EXCUSED = {entry["id"]: entry for entry in NOT_TESTED}


def test_every_requirement_is_named_by_a_check_or_excused(named: set[str]) -> None:
    assert sorted(KNOWN - named - set(EXCUSED)) == []


def test_no_check_names_an_unknown_requirement(named: set[str]) -> None:
    assert sorted(named - KNOWN) == []


def test_no_excuse_names_an_unknown_requirement() -> None:
    assert sorted(set(EXCUSED) - KNOWN) == []


def test_a_requirement_stands_in_each_file_once() -> None:
    for listed in (REQUIREMENTS, NOT_TESTED, GROUPS):
        assert [key for key, count in Counter(entry["id"] for entry in listed).items() if count > 1] == []


@pytest.mark.parametrize("entry", REQUIREMENTS, ids=lambda entry: entry["id"])
def test_a_requirement_has_party_level_and_title(entry: Mapping[str, Any]) -> None:
    assert set(entry) == {"id", "party", "level", "title"}
    assert entry["party"] in {"resource-server", "authorization-server"}
    assert entry["level"] in set(Level)
    assert entry["title"].endswith(".")


@pytest.mark.parametrize("entry", [*NOT_TESTED, *GROUPS], ids=lambda entry: entry["id"])
def test_an_excuse_has_a_known_reason_and_says_with_what_it_will_be_tested(entry: Mapping[str, Any]) -> None:
    later = entry["reason"] == "later"
    assert set(entry) == {"id", "reason", "note"} | ({"capability"} if later else set())
    assert entry["reason"] in REASONS
    assert not later or entry["capability"] in CAPABILITIES
    assert entry["note"].endswith(".")


def test_only_a_sampled_requirement_is_both_tested_and_excused(named: set[str]) -> None:
    sampled = {key for key, entry in EXCUSED.items() if entry["reason"] == "sampled"}
    assert sampled == named & set(EXCUSED)


def test_every_citation_is_used(checks: tuple[Check, ...]) -> None:
    assert sorted(set(CITATIONS) - {key for check in checks for key in check.cites}) == []


def test_every_check_cites_one_to_three_sections(checks: tuple[Check, ...]) -> None:
    assert [check.id for check in checks if not 1 <= len(check.cites) <= 3] == []


@pytest.mark.parametrize("citation", CITATIONS.values(), ids=CITATIONS)
def test_a_citation_leads_to_a_section(citation: Citation) -> None:
    url = urlsplit(citation.url)
    assert (url.scheme, bool(url.netloc), bool(url.query)) == ("https", True, False)
    assert CITATIONS[citation.key] is citation
    assert citation.title in citation.label or f"§{citation.section}" in citation.label
    if citation.section and "section-" in url.fragment:
        assert url.fragment == f"section-{citation.section}"
        assert citation.key.endswith(f"-{citation.section}")


def test_two_citations_share_no_url() -> None:
    assert len({citation.url for citation in CITATIONS.values()}) == len(CITATIONS)


def test_a_label_reads_as_prose() -> None:
    assert CITATIONS["rfc9728-3.3"].label == "RFC 9728 §3.3"
    mcp = CITATIONS["mcp-2025-11-25-authorization#token-handling"]
    assert mcp.label == "MCP 2025-11-25 authorization, Token Handling"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[rfc.9728", "citations.toml: "),
        ("[rcf.9728]\n3 = 'x'", "rcf: "),
        ("[rfc.9728]\n3 = 4", "rfc.9728.3: "),
        ("[draft.d]\ndocument = 'D'\nurl = 'https://d'", "draft.d.sections: "),
        ("[[page]]\nkey = 'k'\ndocument = 'D'\ntitel = 'T'\nurl = 'https://d'", "page.0.title: "),
        ("[mcp.pages]\n[mcp.headings.2025-11-25]\ntools = ['T']", "mcp.headings.2025-11-25.tools: no such page"),
        ("[rfc.1]\n2 = 'T'\n[[page]]\nkey = 'rfc1-2'\ndocument = 'D'\ntitle = 'T'\nurl = 'u'", "rfc1-2: used twice"),
    ],
)
def test_a_fault_in_the_file_is_told_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "citations.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ContractError, match=r"\Acitations\.toml: ") as refused:
        read_citations(file)
    assert place in str(refused.value)


def test_a_check_for_some_revisions_cites_no_mcp_text_of_others(checks: tuple[Check, ...]) -> None:
    """A clause of one revision must not rest on another's text; RFCs and SEPs hold for all."""
    for check in checks:
        for key in check.cites:
            revision = next((each for each in Revision if key.startswith(f"mcp-{each}")), None)
            if revision is not None and check.since is not None and check.since == check.until:
                assert check.applies_to(revision), f"{check.id} cites {key}"


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_checks_says_what_it_covers_and_keeps_the_order_of_keys(name: str) -> None:
    text = (data_folder("scenarios") / "catalogue" / f"{name}.toml").read_text("utf-8")
    assert text.startswith("# ")
    for entry in tomllib.loads(text)["check"]:
        assert list(entry) == [key for key in ORDER if key in entry], entry["id"]


def test_the_files_of_checks_are_the_known_ones() -> None:
    folder = data_folder("scenarios") / "catalogue"
    assert {file.stem for file in folder.glob("*.toml")} == set(FILES)


def test_titles_are_claims_that_differ(checks: tuple[Check, ...]) -> None:
    assert [title for title, count in Counter(check.title for check in checks).items() if count > 1] == []
    assert [check.id for check in checks if len(check.title) >= 80 or check.title.endswith(".")] == []


def test_why_and_remedy_are_one_to_three_sentences(checks: tuple[Check, ...]) -> None:
    for check in checks:
        for text in (check.why, check.remedy):
            assert text.endswith("."), check.id
            assert len(text) <= 400, check.id


def test_every_word_of_the_vocabulary_is_used(checks: tuple[Check, ...]) -> None:
    assert set(JUDGES) == {check.judge for check in checks}
    assert set(PROBES) == {check.probe for check in checks}
    assert set(PRESENTATIONS) - {"bearer"} == {name for check in checks for name in check.presentations}
    assert {form for probe in PROBES.values() for form in probe.forms} == {
        form for check in checks for form in check.forms
    }


def test_every_revision_has_the_core(checks: tuple[Check, ...]) -> None:
    core = [check for check in checks if check.core]
    for revision in Revision:
        assert [check.id for check in core if not check.applies_to(revision)] == []


def test_no_url_hides_in_a_file_of_checks(checks: tuple[Check, ...]) -> None:
    """Specifications are linked from citations alone; hosts named in a text are examples."""
    for check in checks:
        for text in (check.title, check.why, check.remedy):
            assert not any(host in text for host in ("rfc-editor", "datatracker", "modelcontextprotocol.io")), check.id
