"""Whole runs as literals: a few exchanges, what the server wrote, what reached its upstream."""

from dataclasses import replace
from typing import Any

from tests.unit.checks.literals import POINTER, answer, result

from mcp_auth_contract.answers import Accepted, Attempt
from mcp_auth_contract.checks.leaks.observation import (
    CredentialKind,
    ErrorObserved,
    Exchanged,
    ExchangesObserved,
    Passed,
    Secret,
    UpstreamObserved,
    Written,
)

__all__ = [
    "BAD",
    "CHALLENGE",
    "DENIED",
    "FAILING_RUNS",
    "GOOD",
    "MISSING",
    "OF_CAROL",
    "SOUND_ERROR",
    "SOUND_RUN",
    "SOUND_UPSTREAM",
    "exchanged",
    "provoked",
    "run",
]

CHALLENGE = f'Bearer error="invalid_token", {POINTER}'
WEAK = f'Bearer error="insufficient_scope", scope="invoices:write", {POINTER}'
OF_CAROL = Secret("INV-1 of carol", frozenset({"carol"}))

GOOD = Exchanged(result(), "POST", "tools/call", credential=CredentialKind.GOOD, sender="alice")
MISSING = Exchanged(answer(401, CHALLENGE), "POST", "tools/call")
BAD = Exchanged(answer(401, CHALLENGE), "POST", "tools/call", credential=CredentialKind.OTHER, sender="alice")
DENIED = Exchanged(answer(403, WEAK), "POST", "tools/call", credential=CredentialKind.WEAK, sender="alice")


def exchanged(*args: Any, **rest: Any) -> Exchanged:
    """One exchange, by default without a token."""
    return Exchanged(*args, **rest)


def run(*more: Exchanged, written: tuple[Written, ...] = ()) -> ExchangesObserved:
    """A sound run, and some exchanges more."""
    return ExchangesObserved((GOOD, MISSING, MISSING, BAD, BAD, DENIED, DENIED, *more), written)


def provoked(text: str, status: int = 400, *, large: bool = False) -> ErrorObserved:
    """An answer to malformed JSON."""
    return ErrorObserved("malformed JSON", replace(answer(status), text=text), large)


SOUND_ERROR = provoked('{"error": {"code": -32700, "message": "not JSON"}}')
SOUND_RUN = replace(run(written=(Written("the server's output"),)), environment=("environment:GATEWAY_KEY#12345678",))
SOUND_UPSTREAM = UpstreamObserved((Attempt("", "call", result(), Accepted()),), (Passed("GET /exports"),))

FAILING_RUNS: dict[str, ExchangesObserved | UpstreamObserved | ErrorObserved] = {
    "no_trace_provoked": provoked("panicked at src/main.rs:12:5"),
    "no_credential_provoked": provoked("cannot reach postgres://app:pw4711@db.internal/x"),
    "every_challenge_points": run(exchanged(answer(401, "Bearer realm=x"), "PUT")),
    "every_challenge_parses": run(exchanged(answer(401, 'Bearer realm="x'), "DELETE")),
    "every_denial_explained": run(exchanged(answer(403), "POST", "tools/call", credential=CredentialKind.GOOD)),
    "every_refusal_challenged": run(exchanged(answer(401), "DELETE")),
    "no_canary_in_refusals": run(exchanged(answer(401, CHALLENGE), "POST", secrets=(OF_CAROL,))),
    "no_foreign_canary": run(
        exchanged(result(), "POST", "tools/list", credential=CredentialKind.GOOD, sender="alice", secrets=(OF_CAROL,))
    ),
    "no_public_cache": run(
        exchanged(
            answer(200, headers=(("cache-control", "public, max-age=60"),)),
            "POST",
            "tools/call",
            credential=CredentialKind.GOOD,
            sender="alice",
        )
    ),
    "no_results_in_refusals": run(
        exchanged(answer(401, CHALLENGE, body={"jsonrpc": "2.0", "id": 1, "result": {}}), "POST", "ping")
    ),
    "no_server_errors": run(exchanged(answer(500), "DELETE")),
    "no_session_ids_in_refusals": run(exchanged(answer(401, CHALLENGE), "PUT", session=True)),
    "no_token_in_answers": run(exchanged(answer(401, CHALLENGE), "POST", leaked=("token-good#12345678",))),
    "no_environment_in_answers": replace(
        run(exchanged(answer(404), "POST", environment=("environment:GATEWAY_KEY#12345678",))),
        environment=("environment:GATEWAY_KEY#12345678",),
    ),
    "no_token_passed_on": UpstreamObserved(
        SOUND_UPSTREAM.calls, (Passed("GET /exports", (("authorization header", "token-good#12345678"),)),)
    ),
    "no_token_written": run(written=(Written("server.log", ("token-good#12345678",)),)),
    "no_trace_in_errors": run(
        exchanged(replace(answer(500), text='Traceback (most recent call last):\n  File "app.py", line 4'), "POST")
    ),
}
