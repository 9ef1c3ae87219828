"""The tokens of a run as its report shows them: decoded, with the members that differ from the good token marked."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mcp_auth_contract.checks.minting import Made, shown
from mcp_auth_contract.model import NotApplicable, Pass
from mcp_auth_contract.reports.model import Result, TokenMember, TokenSeen
from mcp_auth_contract.wire import Redactor

_LONGEST = 300
_IMPERSONAL = frozenset({"alg", "typ", "cty", "crit", "iss", "aud", "exp", "nbf", "iat", "scope", "scp", "ver"})
_WITHHELD = "(not shown)"


def shown_tokens(
    made: Mapping[str, Made],
    results: Sequence[Result],
    exchanges: Mapping[str, Mapping[str, Any]],
    redactor: Redactor,
    *,
    genuine: bool = False,
) -> dict[str, TokenSeen]:
    """Return the tokens in the requests of whatever did not pass, by label; the tokens themselves are nowhere.

    Of a `genuine` token, and of what was made from one, only members that say nothing about a person have their value.
    """
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
        for label in sorted(redactor.labels_named(texts)):
            if label in made and label not in found:
                found[label] = _seen(made[label], redactor.redact, _IMPERSONAL if genuine else None)
    return found


def _seen(made: Made, redact: Callable[[str], str], shown_names: frozenset[str] | None) -> TokenSeen:
    token = shown(made.minted)
    scopes = made.holder.scopes is not None
    header = _members("header", token.header, made.good.header, redact, shown_names)
    scope = made.good.profile.scope_claim if scopes else None
    claims = _members("claim", token.claims, made.good.claims, redact, shown_names, scope)
    return TokenSeen(made.holder.principal, token.change, (*header, *claims))


def _members(
    part: str,
    found: Mapping[str, object],
    good: Mapping[str, object],
    redact: Callable[[str], str],
    shown_names: frozenset[str] | None,
    scope: str | None = None,
) -> Iterator[TokenMember]:
    if not found and part == "header":
        return
    for name in dict.fromkeys((*found, *good)):
        value = _text(found[name]) if name in found else "(absent)"
        changed = name == scope or name not in found or name not in good or value != _text(good[name])
        if shown_names is not None and name not in shown_names and name in found:
            value = _WITHHELD
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
