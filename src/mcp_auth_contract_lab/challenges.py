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


@dataclass(frozen=True, slots=True)
class Challenges:
    """Steps: what is said in each situation, how one challenge and the whole answer are written.

    The arguments: the metadata URL (None: no pointer), then the basic scope or the reason, then scopes.
    `in_tool_result` tells which refusals of tool calls come as a result whose `_meta` holds the challenge, `told`
    writes that result.
    """

    missing: Callable[[str | None, str], Denial]
    malformed: Callable[[str | None, str], Denial]
    invalid: Callable[[str | None, str, str], Denial]
    insufficient: Callable[[str | None, frozenset[str], frozenset[str]], Denial]
    write: Callable[[Denial], Response]
    in_tool_result: Callable[[Denial], bool]
    told: Callable[[Denial], dict[str, Any]]


def quoted(value: str) -> str:
    """Return a quoted-string (RFC 9110 §5.6.4)."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bearer_challenge(denial: Denial, scheme: str = "Bearer") -> str:
    """Return one Bearer challenge with every value quoted."""
    return f"{scheme} " + ", ".join(f"{name}={quoted(value)}" for name, value in denial.parameters)


def respond(denial: Denial, challenges: tuple[str, ...]) -> Response:
    """Return the answer with one WWW-Authenticate line per challenge; nobody may store it."""
    response = Response(denial.body, denial.status, {"cache-control": "no-store"}, _media_type(denial.body))
    for challenge in challenges:
        response.headers.append("www-authenticate", challenge)
    return response


def _media_type(body: str) -> str | None:
    return "application/json" if body else None


def pointing(pointer: str | None) -> tuple[Parameter, ...]:
    """Return the parameter that leads to the protected-resource metadata, if there is a URL."""
    return () if pointer is None else (("resource_metadata", pointer),)


def _body(error: str, description: str) -> str:
    return json.dumps({"error": error, "error_description": description})


def token_missing(pointer: str | None, scope: str) -> Denial:
    """Without credentials there is nothing to call wrong, so no `error` (RFC 6750 §3.1)."""
    return Denial(401, (*pointing(pointer), ("scope", scope)), json.dumps({"message": "a bearer token is needed"}))


def request_malformed(pointer: str | None, description: str) -> Denial:
    """A header that cannot be read is a malformed request (RFC 6750 §3.1)."""
    said = (("error", "invalid_request"), ("error_description", description))
    return Denial(400, (*said, *pointing(pointer)), _body("invalid_request", description))


def token_invalid(pointer: str | None, scope: str, description: str) -> Denial:
    """A token that fails validation (RFC 6750 §3.1)."""
    said = (("error", "invalid_token"), ("error_description", description))
    return Denial(401, (*said, *pointing(pointer), ("scope", scope)), _body("invalid_token", description))


def scope_insufficient(pointer: str | None, needed: frozenset[str], _held: frozenset[str]) -> Denial:
    """All the scopes of the operation in one challenge (MCP 2026-07-28, runtime insufficient scope)."""
    description = "the token lacks a scope that this operation needs"
    said = (
        ("error", "insufficient_scope"),
        ("error_description", description),
        ("scope", " ".join(sorted(needed))),
    )
    return Denial(403, (*said, *pointing(pointer)), _body("insufficient_scope", description))


def write_bearer(denial: Denial) -> Response:
    """One line, one Bearer challenge."""
    return respond(denial, (bearer_challenge(denial),))


def by_status(_denial: Denial) -> bool:
    """Every refusal is an HTTP status."""
    return False


def in_result(denial: Denial) -> dict[str, Any]:
    """Return a tool result that refuses: text for the user, the challenge for the host (OpenAI Apps SDK)."""
    text = denial.get("error_description")
    said = denial
    if text is None:
        text = "Sign in to continue."
        extra = (("error", "invalid_token"), ("error_description", text))
        said = replace(denial, parameters=(*denial.parameters, *extra))
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "resultType": "complete",
        "_meta": {"mcp/www_authenticate": [bearer_challenge(said)]},
    }


SOUND = Challenges(
    missing=token_missing,
    malformed=request_malformed,
    invalid=token_invalid,
    insufficient=scope_insufficient,
    write=write_bearer,
    in_tool_result=by_status,
    told=in_result,
)
