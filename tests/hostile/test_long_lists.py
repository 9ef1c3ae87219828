"""Lists that go on: what was not read to its end is not clean."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.lab.lab_runs import CHECKS, INSIDE, sample_contract

from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.model import Fail, Inconclusive, Outcome
from mcp_auth_contract.plan import Selection
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.settings import LabSettings

_CANARY = "alice-t1-INV-1-7f3a"
_LEAK = {"content": [{"type": "text", "text": _CANARY}], "structuredContent": {"invoices": [_CANARY]}}
Page = Callable[[int, Mapping[str, Any]], Mapping[str, Any]]


def paged(app: Any, page: Page) -> Any:
    """Put a list of many pages before the sample server's own: `page` makes each from its number and the real answer."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        body = (await receive())["body"]
        try:
            message = json.loads(body)
        except ValueError:
            message = {}
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict) or params.get("name") != "list_invoices":
            await app(scope, once(body, receive), send)
            return
        number = int(params.get("arguments", {}).pop("cursor", 1))
        sent: list[Any] = []

        async def keep(part: Any) -> None:
            sent.append(part)

        headers = [pair for pair in scope["headers"] if pair[0] != b"content-length"]
        await app({**scope, "headers": headers}, once(json.dumps(message).encode(), receive), keep)
        answered = json.loads(b"".join(part.get("body", b"") for part in sent) or b"{}")
        if "result" in answered and not answered["result"].get("isError"):
            answered["result"] = page(number, answered["result"])
        sent[0]["headers"] = [pair for pair in sent[0]["headers"] if pair[0] != b"content-length"]
        await send(sent[0])
        await send({"type": "http.response.body", "body": json.dumps(answered).encode()})

    return serve


def once(body: bytes, receive: Any) -> Any:
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Any:
        return parts.pop() if parts else await receive()

    return given


def filtered(page: Page) -> list[Outcome]:
    settings = {"resource": f"{INSIDE}/mcp", "base": INSIDE}
    with EmbeddedIssuer(IssuerSettings()) as issuer:
        lab = create_app(LabSettings(issuer=issuer.url, jwks_uri=issuer.jwks_uri, **settings))
        contract = sample_contract(f"{INSIDE}/mcp", issuer.settings.algorithms)
        chosen = Options(checks=CHECKS, environ={}, selection=Selection(("isolation-list-filtered",)))
        report = asyncio.run(run_contract(contract, chosen, issuer, app=paged(lab, page), freeze=False))
    found = [one.outcome for one in report.results if "list_invoices" in one.case and "alice:bob" in one.case]
    assert found
    return found


def empty(cursor: object) -> dict[str, Any]:
    return {"content": [], "structuredContent": {"invoices": [], "nextCursor": cursor}}


def own_last(number: int, real: Mapping[str, Any], last: Mapping[str, Any], cursor: object = None) -> Mapping[str, Any]:
    """The caller's own list first, so that every owner sees the canary, then 25 empty pages and a last one."""
    following = cursor if cursor is not None else str(number + 1)
    if number == 1:
        structured = {**(real.get("structuredContent") or {}), "nextCursor": following}
        return {**real, "structuredContent": structured}
    return last if number == 26 else empty(following)


def test_a_record_of_another_principal_on_page_26_is_found() -> None:
    assert all(isinstance(one, Fail) for one in filtered(lambda n, real: own_last(n, real, _LEAK)))


def test_a_record_behind_page_tokens_that_are_numbers_is_found() -> None:
    assert all(isinstance(one, Fail) for one in filtered(lambda n, real: own_last(n, real, _LEAK, n + 1)))


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (lambda n, real: own_last(n, real, {"isError": True, "content": []}), "page 26"),
        (lambda n, real: own_last(n, real, empty("7")), "no end"),
        (lambda n, real: own_last(n, real, empty({"at": 3})), "neither text nor number"),
    ],
    ids=["a later page fails", "a circle", "an odd page token"],
)
def test_what_is_not_read_to_its_end_is_inconclusive_with_the_reason(page: Page, told: str) -> None:
    for outcome in filtered(page):
        assert isinstance(outcome, Inconclusive)
        assert told in outcome.reason


def test_a_list_without_an_end_tells_the_limit() -> None:
    for outcome in filtered(lambda n, real: own_last(n if n < 26 else n + 1, real, {})):
        assert isinstance(outcome, Inconclusive)
        assert "pages, 100,000 entries or 60 s are read at most" in outcome.reason
