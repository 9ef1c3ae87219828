"""How 401, 400 and 403 are written (RFC 6750 §3, RFC 9728 §5.1, MCP authorization)."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import Response

Parameter = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Denial:
    """A refusal before it is written: the status, the parameters of the Bearer challenge, the body."""

    status: int
    parameters: tuple[Parameter, ...]
    body: str = ""

    def get(self, name: str) -> str | None:
        """Return a parameter's value, or None."""
        return next((value for key, value in self.parameters if key == name), None)


def quoted(value: str) -> str:
    """Return a quoted-string (RFC 9110 §5.6.4)."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bearer_challenge(denial: Denial, scheme: str = "Bearer") -> str:
    """Return one Bearer challenge with every value quoted."""
    return f"{scheme} " + ", ".join(f"{name}={quoted(value)}" for name, value in denial.parameters)


def respond(denial: Denial, challenges: tuple[str, ...]) -> Response:
    """Return the answer with one WWW-Authenticate line per challenge; nobody may store it."""
    media_type = "application/json" if denial.body else None
    response = Response(denial.body, denial.status, {"cache-control": "no-store"}, media_type)
    for challenge in challenges:
        response.headers.append("www-authenticate", challenge)
    return response


def _pointing(pointer: str | None) -> tuple[Parameter, ...]:
    """Return the parameter that leads to the protected-resource metadata, if there is a URL."""
    return () if pointer is None else (("resource_metadata", pointer),)


def _wrong(status: int, error: str, description: str, *more: Parameter) -> Denial:
    """Say what is wrong, in the challenge and in the body."""
    said = {"error": error, "error_description": description}
    return Denial(status, (*said.items(), *more), json.dumps(said))


def token_missing(pointer: str | None, scope: str) -> Denial:
    """Without credentials there is nothing to call wrong, so no `error` (RFC 6750 §3.1)."""
    return Denial(401, (*_pointing(pointer), ("scope", scope)), json.dumps({"message": "a bearer token is needed"}))


def request_malformed(pointer: str | None, description: str) -> Denial:
    """A header that cannot be read is a malformed request (RFC 6750 §3.1)."""
    return _wrong(400, "invalid_request", description, *_pointing(pointer))


def token_invalid(pointer: str | None, scope: str, description: str) -> Denial:
    """A token that fails validation (RFC 6750 §3.1)."""
    return _wrong(401, "invalid_token", description, *_pointing(pointer), ("scope", scope))


def scope_insufficient(pointer: str | None, needed: frozenset[str], _held: frozenset[str]) -> Denial:
    """All the scopes of the operation in one challenge (MCP 2026-07-28, runtime insufficient scope)."""
    description = "the token lacks a scope that this operation needs"
    scope = ("scope", " ".join(sorted(needed)))
    return _wrong(403, "insufficient_scope", description, scope, *_pointing(pointer))


def write_bearer(denial: Denial) -> Response:
    """One line, one Bearer challenge."""
    return respond(denial, (bearer_challenge(denial),))


def in_result(denial: Denial) -> dict[str, Any]:
    """Return a tool result that refuses: text for the user, the challenge for the host (OpenAI Apps SDK)."""
    text = denial.get("error_description") or "Sign in to continue."
    said = denial
    if denial.get("error_description") is None:
        added = (("error", "invalid_token"), ("error_description", text))
        said = replace(denial, parameters=(*denial.parameters, *added))
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "resultType": "complete",
        "_meta": {"mcp/www_authenticate": [bearer_challenge(said)]},
    }


@dataclass(frozen=True, slots=True)
class Challenges:
    """Steps: what is said in each situation, how one challenge and the whole answer are written.

    The arguments: the metadata URL (None: no pointer), then the basic scope or the reason, then scopes.
    `in_tool_result` tells which refusals of tool calls come as a result whose `_meta` holds the challenge, `as_result`
    writes that result.
    """

    missing: Callable[[str | None, str], Denial] = token_missing
    malformed: Callable[[str | None, str], Denial] = request_malformed
    invalid: Callable[[str | None, str, str], Denial] = token_invalid
    insufficient: Callable[[str | None, frozenset[str], frozenset[str]], Denial] = scope_insufficient
    write: Callable[[Denial], Response] = write_bearer
    in_tool_result: Callable[[Denial], bool] = lambda _denial: False
    as_result: Callable[[Denial], dict[str, Any]] = in_result
