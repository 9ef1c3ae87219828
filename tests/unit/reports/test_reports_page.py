"""The HTML page: well formed, self-contained, safe against whatever a server says, and usable without a mouse."""

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.unit.reports.examples import ESCAPES, RESULTS, exchange, green, hostile, interrupted, report, waived

from mcp_auth_contract.model import Fail, Pass
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.page.render import render_html

VOID = {"meta", "br", "input", "link", "img", "hr"}
REPORTS = {"report": report, "interrupted": interrupted, "green": green, "hostile": hostile, "waived": waived}


class Page(HTMLParser):
    """A page as a strict reader sees it: every element closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def page(whole: Report) -> Page:
    return Page(render_html(whole))


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_is_well_formed_and_loads_nothing(name: str) -> None:
    read = page(REPORTS[name]())
    for tag, attributes in read.tags:
        assert tag not in ("img", "iframe", "object", "embed", "link", "base", "frame", "video", "audio")
        assert not [one for one in attributes if one.startswith("on") or one in ("style", "src", "srcset", "action")]
        for href in filter(None, [attributes.get("href")]):
            assert href.startswith(("#", "https://"))
    ids = Counter(attributes["id"] for _, attributes in read.tags if "id" in attributes)
    assert [one for one, number in ids.items() if number > 1] == []
    targets = [one["href"][1:] for tag, one in read.tags if tag == "a" and (one["href"] or "").startswith("#")]  # type: ignore[index]
    assert set(targets) <= set(ids)


@pytest.mark.parametrize("name", REPORTS)
def test_only_the_page_s_own_style_and_script_may_run(name: str) -> None:
    text = render_html(REPORTS[name]())
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert len(policy) == 1
    assert "default-src 'none'" in policy[0]
    assert "unsafe" not in policy[0]
    for tag in ("style", "script"):
        (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[0]


def test_what_a_hostile_server_says_is_text() -> None:
    text = render_html(hostile())
    read = Page(text)
    assert "<script>\\u0000" not in text.replace("&lt;", "")
    assert sum(tag == "script" for tag, _ in read.tags) == 1
    assert not {tag for tag, _ in read.tags} & {"b"}
    for char in "\x1b\x07\x00\x9b\u202e\u200b\ud800\ufffe\U000e0001":
        assert char not in text
    assert "\\u001b" in read.text
    text.encode("utf-8")
    assert ESCAPES not in text


def test_a_page_tells_the_decision_with_its_reasons_and_the_causes_first() -> None:
    read = page(report())
    told = read.text
    for reason in report().gate.reasons:
        assert reason in told
    assert told.index("gate SHUT") < told.index("A token that has expired still works") < told.index("Every check")
    assert told.index("An expired token is refused") < told.index("From what was planned to what held")
    for fact in ("invoices.toml", "Invoices 4.5", "mcp-auth-contract 1.2.3", "httpx 0.28.1", "debug_dump"):
        assert fact in told


def test_a_failure_has_expected_observed_source_remedy_and_its_exchanges() -> None:
    told = page(report()).text
    for fact in (
        'expected 401 with error="invalid_token" observed 200 with a result (expired 15 min ago)',
        "RFC 7519 §4.1.4",
        "Let the JWT library check exp",
        "mcp-auth-contract mint invoices.toml alice --defect expired",
        "x3: POST https://mcp.example.com/mcp → 200",
        "Authorization: Bearer token-expired#3f9a1c2e",
        "of alice: the token expired 15 minutes ago",
        "claim exp 1787392800 ← not as in the good token",
        'claim sub "alice"',
    ):
        assert fact in told


def test_every_check_stands_there_with_what_filters_need() -> None:
    clauses = [
        one
        for tag, one in page(report()).tags
        if (tag == "details" and one.get("class", "").startswith("clause "))
        or (tag == "details" and one.get("class") == "clause")
    ]  # type: ignore[union-attr]
    assert len(clauses) == len({result.check.id for result in RESULTS})
    for one in clauses:
        assert {"data-outcome", "data-level", "data-impact", "data-family"} <= set(one)


def test_matrices_say_in_words_what_their_colours_say() -> None:
    told = page(report()).text
    assert "Scopes: operation × token with or without" in told
    assert "tool create_invoice let in" in told


def test_waivers_and_a_block_to_sign_are_there() -> None:
    told = page(waived()).text
    assert "check scope-missing-denied jane 2026-12-31 #481 covers failures" in told
    assert "check prm-served jane 2026-12-31 not yet served covers nothing" in told
    assert "Sign-off" in told
    assert "reviewer" in told


def test_the_contract_stands_in_the_page() -> None:
    assert "resource" in page(report()).text
    assert "[[tools]]" in page(report()).text
    assert "[[tools]]" not in page(replace(report(), source=None)).text


def test_every_form_control_has_a_label_and_every_table_a_head() -> None:
    tags = page(report()).tags
    labels = {one["for"] for tag, one in tags if tag == "label"}
    assert {one["id"] for tag, one in tags if tag in ("select", "input")} == labels
    assert all(one.get("scope") for tag, one in tags if tag == "th")
    assert next(one for tag, one in tags if tag == "html")["lang"] == "en"
    assert sum(tag == "main" for tag, _ in tags) == sum(tag == "h1" for tag, _ in tags) == 1


def test_a_timeline_is_drawn_with_its_steps_in_words() -> None:
    steps = {
        f"x{at}": {**exchange(f"x{at}", status), "started": float(at), "note": f"timeline rotate_in: {name}"}
        for at, (name, status) in enumerate((("old", 200), ("new", 401)))
    }
    failed = replace(RESULTS[1], evidence=tuple(steps), outcome=Fail("200", "401"))
    read = page(report([failed], exchanges=steps))
    (drawing,) = [one for tag, one in read.tags if tag == "svg"]
    assert drawing["aria-label"] == "Timeline of 2 calls in 1.0 seconds: old 200, new 401"
    assert sum(tag == "circle" for tag, _ in read.tags) == 2


def test_a_large_run_stays_small() -> None:
    many = [
        replace(RESULTS[1], case=f"token-expired-refused[tool_{number}]", evidence=(f"x{number}",))
        for number in range(2500)
    ]
    passed = [replace(one, outcome=Pass()) for one in many]
    exchanges = {f"x{number}": exchange(f"x{number}", 200, body="y" * 16_000) for number in range(2500)}
    text = render_html(report([*many, *passed], exchanges=exchanges))
    assert len(text) < 3_000_000
    assert sum("y" * 1000 in line for line in text.splitlines()) <= 4


def test_equal_reports_make_equal_pages() -> None:
    assert render_html(report()) == render_html(report())
