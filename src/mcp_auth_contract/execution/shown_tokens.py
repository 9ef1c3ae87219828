"""The tokens of a run as its report shows them: decoded, with the members that differ from the good token marked."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mcp_auth_contract.checks.minting import Made, shown
from mcp_auth_contract.model import NotApplicable, Pass
from mcp_auth_contract.reports.model import Result, TokenMember, TokenSeen

_LABEL = re.compile(r"[A-Za-z0-9_.-]+#[0-9a-f]{8}")
_LONGEST = 300


def shown_tokens(
    made: Mapping[str, Made],
    results: Sequence[Result],
    exchanges: Mapping[str, Mapping[str, Any]],
    redact: Callable[[str], str],
) -> dict[str, TokenSeen]:
    """Return the tokens in the requests of whatever did not pass, by label; the tokens themselves are nowhere."""
    cited = {
        key: None
        for result in results
        if not isinstance(result.outcome, Pass | NotApplicable)
        for key in result.evidence
        if key in exchanges
    }
    found: dict[str, TokenSeen] = {}
    for key in cited:
        request = exchanges[key]["request"]
        texts = (request["url"], request["body"], *(value for _, value in request["headers"]))
        for label in (label for text in texts for label in _LABEL.findall(text)):
            if label in made and label not in found:
                found[label] = _seen(made[label], redact)
    return found


def _seen(made: Made, redact: Callable[[str], str]) -> TokenSeen:
    token = shown(made.minted)
    scopes = made.holder.scopes is not None
    header = _members("header", token.header, made.good.header, redact)
    scope = made.good.profile.scope_claim if scopes else None
    claims = _members("claim", token.claims, made.good.claims, redact, scope)
    return TokenSeen(made.holder.principal, token.change, (*header, *claims))


def _members(
    part: str,
    found: Mapping[str, object],
    good: Mapping[str, object],
    redact: Callable[[str], str],
    scope: str | None = None,
) -> Iterator[TokenMember]:
    if not found and part == "header":
        return
    for name in dict.fromkeys((*found, *good)):
        value = _text(found[name]) if name in found else "(absent)"
        changed = name == scope or name not in found or name not in good or value != _text(good[name])
        yield TokenMember(part, redact(name), redact(value)[:_LONGEST], changed)


def _text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return "(not JSON)"


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple | set | frozenset) else str(value)
