"""Results with a challenge, and tools as tools/list shows them."""

from collections.abc import Mapping
from typing import Any

from tests.unit.checks.literals import (
    PATH_URL,
    POINTER,
    RESOURCE,
    altered,
    answer,
    at_pointer,
    call,
    facts,
    nothing_at,
    result,
)

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.discovery.observation import Document, Location
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.tool_challenges.observation import ToolDeclared, ToolPointersObserved, ToolSchemesObserved

__all__ = [
    "FAILING_IN_RESULTS",
    "INVALID",
    "NOAUTH",
    "OAUTH",
    "SOUND_IN_RESULTS",
    "SOUND_POINTERS",
    "SOUND_SCHEMES",
    "WEAK",
    "challenged",
    "listed",
    "pointed",
    "tool",
]

INVALID = f'Bearer error="invalid_token", error_description="Sign in.", {POINTER}'
WEAK = f'Bearer error="insufficient_scope", error_description="More.", scope="invoices:write", {POINTER}'
OAUTH = {"type": "oauth2", "scopes": ["invoices:read"]}
NOAUTH = {"type": "noauth"}


def challenged(value: Any = (INVALID,), status: int = 200, **members: Any) -> Answer:
    """A tool result with a challenge in its `_meta`; members of the result replaced."""
    challenge = list(value) if isinstance(value, tuple) else value
    content = {
        "isError": True,
        "content": [{"type": "text", "text": "Sign in."}],
        "_meta": {"mcp/www_authenticate": challenge},
        **members,
    }
    return answer(status, body={"jsonrpc": "2.0", "id": 1, "result": content})


def tool(*schemes: Any, called: tuple[Answer, ...] = (), **changes: Any) -> ToolDeclared:
    """A protected tool whose entry states these schemes, and none if there are none."""
    entry: dict[str, Any] = {"name": "get_invoice"}
    if schemes:
        entry["securitySchemes"] = list(schemes)
    known: dict[str, Any] = {"scopes": frozenset({"invoices:read"}), "public": False, "entry": entry}
    attempts = tuple(Attempt("", "call", each, read(each)) for each in called)
    return ToolDeclared("get_invoice", called=attempts, **{**known, **changes})


def listed(*tools: ToolDeclared, page: Answer | None = None) -> ToolSchemesObserved:
    """What tools/list said of the contract's tools."""
    return ToolSchemesObserved((page or result(tools=[]),), tools)


def pointed(*documents: Document, asked: tuple[Answer, ...] = (challenged(),)) -> ToolPointersObserved:
    """Where the challenge of a call without a token leads."""
    return ToolPointersObserved(asked, documents)


def _described(*schemes: Any) -> dict[str, Any]:
    stated = list(schemes)
    return {"name": "get_invoice", "securitySchemes": stated, "_meta": {"securitySchemes": stated}}


SOUND_POINTERS = pointed(at_pointer())
SOUND_SCHEMES = listed(
    tool(entry=_described(OAUTH)),
    tool(entry=_described(NOAUTH, OAUTH), public=True, scopes=frozenset(), called=(result(),)),
)
SOUND_IN_RESULTS: Mapping[str, CallObserved] = {
    **dict.fromkeys(
        ("in_band_bearer", "in_band_description", "in_band_error", "in_band_invalid_token", "in_band_pointer",
         "in_band_refusal", "in_band_text"),
        call(challenged()),
    ),
    "in_band_insufficient_scope": call(challenged(WEAK)),
    "in_band_names_missing": call(challenged(WEAK)),
    "no_challenge_in_success": call(result()),
}  # fmt: skip

_IN_TOOL = facts(challenge="tool")
FAILING_IN_RESULTS: Mapping[str, tuple[Any, Facts]] = {
    "in_band_bearer": (call(challenged("Basic")), _IN_TOOL),
    "in_band_description": (call(challenged(f"Bearer {POINTER}")), _IN_TOOL),
    "in_band_error": (call(challenged(f"Bearer {POINTER}")), _IN_TOOL),
    "in_band_insufficient_scope": (call(challenged(INVALID)), _IN_TOOL),
    "in_band_invalid_token": (call(challenged(WEAK)), _IN_TOOL),
    "in_band_names_missing": (call(challenged(INVALID)), _IN_TOOL),
    "in_band_pointer": (call(challenged('Bearer error="invalid_token"')), _IN_TOOL),
    "in_band_refusal": (call(answer(401, f"Bearer {POINTER}")), _IN_TOOL),
    "in_band_text": (call(challenged(content=[])), _IN_TOOL),
    "no_challenge_in_success": (call(challenged(isError=False)), _IN_TOOL),
    "no_data_beside_challenge": (
        call(challenged(structuredContent={"note": "alice-7f3a"})),
        facts(challenge="tool", canaries=frozenset({"alice-7f3a"})),
    ),
    "public_tools_open": (listed(tool(public=True, called=(challenged(),))), _IN_TOOL),
    "result_pointer_of_this_resource": (
        pointed(at_pointer(altered(RESOURCE, resource="https://other.example.com/mcp"))),
        _IN_TOOL,
    ),
    "result_pointer_resolves": (pointed(nothing_at(Location.POINTER, PATH_URL)), _IN_TOOL),
    "schemes_declared": (listed(tool()), _IN_TOOL),
    "schemes_mirrored": (
        listed(tool(entry={"securitySchemes": [OAUTH], "_meta": {"securitySchemes": [NOAUTH]}})),
        _IN_TOOL,
    ),
    "schemes_name_scopes": (listed(tool({"type": "oauth2", "scopes": ["invoices:write"]})), _IN_TOOL),
    "schemes_truthful": (listed(tool(NOAUTH, called=(challenged(),))), _IN_TOOL),
    "schemes_well_formed": (listed(tool({"type": "http"})), _IN_TOOL),
}
"""For each judge of this family the observation that it is there to catch."""
