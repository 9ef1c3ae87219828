"""Whatever an authorization server answers, a run ends with a clear outcome and no kit error."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from tests.provider.provider_runs import options, provider_contract

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.execution import run_provider
from mcp_auth_contract.model import Error, Fail
from mcp_auth_contract.reports.model import Report

Answered = Callable[[Request], Awaitable[Response]]


async def _html(_request: Request) -> Response:
    return HTMLResponse("<h1>It works</h1>")


async def _ring(request: Request) -> Response:
    return RedirectResponse(str(request.url.include_query_params(again="1")), 302)


async def _limited(_request: Request) -> Response:
    return Response(status_code=429, headers={"retry-after": "60"})


async def _endless(_request: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        while True:
            yield b"<form>" * 1000
            await asyncio.sleep(0.01)

    return StreamingResponse(chunks(), media_type="text/html")


async def _elsewhere(_request: Request) -> Response:
    return RedirectResponse("http://127.0.0.1:1/internal", 302)


async def _deep(_request: Request) -> Response:
    return Response("[" * 100_000, media_type="application/json")


async def _error(_request: Request) -> Response:
    return JSONResponse({"error": ["not", "a", "text"], "access_token": 7}, 500)


def run(authorize: Answered, token: Answered, *, metadata: bool = True) -> tuple[Report, float]:
    with bind() as listener:
        issuer = url_of(listener)

        async def document(_request: Request) -> Response:
            named = {f"{name}_endpoint": f"{issuer}/{name}" for name in ("authorization", "token", "revocation")}
            return JSONResponse({"issuer": issuer, **named, "code_challenge_methods_supported": ["S256"]})

        app = Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", document if metadata else _html),
                Route("/authorization", authorize),
                Route("/{rest:path}", token, methods=["GET", "POST"]),
            ]
        )
        with serve_in_thread(app, listener=listener):
            begun = time.monotonic()
            chosen = replace(options(["flow-", "grant-", "revocation-"]), time_limit=1.0, deadline=20.0)
            return asyncio.run(run_provider(provider_contract(issuer), chosen)), time.monotonic() - begun


@pytest.mark.parametrize("answered", [_html, _ring, _endless, _elsewhere, _deep, _error], ids=lambda one: one.__name__)
def test_a_strange_authorization_server_gets_a_clear_outcome(answered: Answered) -> None:
    report, took = run(answered, answered)
    assert [one.sentence for one in report.results if isinstance(one.outcome, Error)] == []
    assert report.gate.exit_code in (1, 3)
    assert took < 60


def test_a_rate_limit_fails_nothing() -> None:
    report, _ = run(_limited, _limited)
    assert [one.sentence for one in report.results if isinstance(one.outcome, Fail | Error)] == []
    assert report.gate.exit_code == 3


def test_without_metadata_nothing_is_known() -> None:
    report, _ = run(_html, _html, metadata=False)
    assert any("no metadata was found" in note for note in report.notes)
    assert [one.sentence for one in report.results if isinstance(one.outcome, Fail | Error)] == []
