"""Views in whole runs: legal servers of other kinds stay green, and secrets that only the contract names are found."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from tests.lab.lab_runs import CHECKS, EDITS, run_lab

from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Change, Fault, all_of, changing
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.scopes import Operation, required_scopes
from mcp_auth_contract_lab.tools import VIEW, VIEW_TOOLS
from mcp_auth_contract_lab.views import DOCUMENT

SECRET = "upstream-key-5c1e07"
_NUMBERS = count(1)


def run(issuer: EmbeddedIssuer, change: Change, *edits: tuple[str, str], **environ: str) -> Report:
    fault = Fault("variant", "A server of another kind.", change, Profile.VIEWS)
    options = Options(checks=CHECKS, environ=environ, name="sample.toml", selection=Selection(("app-",)))
    return run_lab(issuer, fault=fault, edits=[*EDITS[Profile.VIEWS], *edits], options=options)


def failed(report: Report) -> set[str]:
    return {result.check.id for result in report.results if isinstance(result.outcome, Fail)}


def _without(key: str) -> Change:
    return changing("views", read=lambda item: [{name: item[name] for name in item if name != key}])


def _public(behaviour: Behaviour) -> Behaviour:
    async def open_to_all(incoming: Any) -> bool:
        message = await incoming.posted()
        return message.get("method") == "resources/read" and message["params"].get("uri") == VIEW

    def required(operation: Operation) -> frozenset[str]:
        return frozenset() if operation.name == VIEW else required_scopes(operation)

    opened = all_of(changing("endpoint", open_to_all=open_to_all), changing("scopes", required=required))
    return opened(behaviour)


def _text_alone(_by: object, _tool: str, result: dict[str, Any], apps: bool) -> dict[str, Any]:
    return (
        result if apps else {key: result[key] for key in result if key in ("content", "isError", "structuredContent")}
    )


def _as_blob(item: dict[str, Any]) -> list[dict[str, Any]]:
    blob = base64.b64encode(item["text"].encode()).decode()
    return [{**{key: item[key] for key in item if key != "text"}, "blob": blob}]


def _for_one_host(item: dict[str, Any]) -> list[dict[str, Any]]:
    ui = {**item["_meta"]["ui"], "domain": "0123456789abcdef.claudemcpcontent.com"}
    return [{**item, "_meta": {**item["_meta"], "ui": ui}}]


VARIANTS: Mapping[str, Change] = {
    "a nonce in each read": changing("views", document=lambda _who: f"{DOCUMENT}<!-- {next(_NUMBERS)} -->"),
    "open and static": _public,
    "not in resources/list": changing("views", listed=lambda _entry: None),
    "text alone for plain clients": changing("views", answered=_text_alone),
    "a blob": changing("views", read=_as_blob),
    "a domain of one host": changing("views", read=_for_one_host, listed=lambda _entry: None),
    "no structured result": changing(
        "views",
        answered=lambda _by, _tool, result, _apps: {key: result[key] for key in result if key != "structuredContent"},
        described=lambda tool: replace(tool, results={}).describe(),
    ),
    "metadata without the other SDK's": changing(
        "views",
        described=lambda tool: {**tool.describe(), "_meta": {"ui": tool.meta["ui"]}},
        listed=lambda entry: {**entry, "_meta": {"ui": entry["_meta"]["ui"]}},
        read=lambda item: [{**item, "_meta": {"ui": item["_meta"]["ui"]}}],
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_legal_variant_is_green(name: str, issuer: EmbeddedIssuer) -> None:
    report = run(issuer, VARIANTS[name])
    bad = [result.sentence for result in report.results if isinstance(result.outcome, Fail | Inconclusive)]
    assert bad == []
    assert len(report.results) == 48


def test_helpers_that_no_list_shows_are_tried_as_the_contract_names_them(issuer: EmbeddedIssuer) -> None:
    hidden = changing("listing", shown=lambda _principal, tool: tool.name != "refresh_invoice")
    assert failed(run(issuer, hidden)) == set()


def test_without_views_nothing_is_asked_about_them(issuer: EmbeddedIssuer) -> None:
    options = Options(checks=CHECKS, environ={}, selection=Selection(("app-",)))
    report = run_lab(issuer, options=options)
    assert {type(result.outcome) for result in report.results} == {NotApplicable}
    assert len(report.results) == 24
    notes = [exchange["note"] for exchange in report.exchanges.values()]
    assert not any("View" in note for note in notes)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (changing("views", document=lambda _who: DOCUMENT.replace("<script>", f"<script>const key = '{SECRET}'")),
         {"app-resource-no-token"}),
        (changing("views", answered=lambda _by, tool, result, _apps:
                  {**result, "_meta": {"key": SECRET}} if tool == "refresh_invoice" else result),
         {"app-result-no-token"}),
    ],
    ids=["in the document", "in a result"],
)  # fmt: skip
def test_a_secret_that_only_the_contract_names_is_found_and_not_shown(
    change: Change, found: set[str], issuer: EmbeddedIssuer
) -> None:
    named = ("permissions = []", 'permissions = []\nsecrets = ["${env:UPSTREAM_KEY}"]')
    report = run(issuer, change, named, UPSTREAM_KEY=SECRET)
    assert failed(report) == found
    said = [result.sentence for result in report.results if isinstance(result.outcome, Fail)]
    assert all("apps.secrets[1]" in sentence and SECRET not in sentence for sentence in said)
    assert SECRET not in str(report)


def test_a_helper_that_the_contract_does_not_name_is_tried_too(
    issuer: EmbeddedIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = replace(VIEW_TOOLS["refresh_invoice"], name="latest_invoice", arguments={}, scopes=frozenset())
    monkeypatch.setitem(VIEW_TOOLS, "latest_invoice", replace(helper, run=lambda _ledger, _who, _told: {"content": []}))

    async def open_to_all(incoming: Any) -> bool:
        return (await incoming.posted()).get("params", {}).get("name") == "latest_invoice"

    assert failed(run(issuer, changing("views", offered=True))) == set()
    opened = run(issuer, changing("endpoint", open_to_all=open_to_all))
    assert failed(opened) == {"app-only-tool-gated"}
    assert any("latest_invoice" in result.sentence for result in opened.results if isinstance(result.outcome, Fail))
