"""Legal and disputed ways to write the scopes that are needed."""

from collections.abc import Sequence

from mcp_auth_contract.tokens.defects.defect import (
    ABSENT,
    INAPPLICABLE,
    Break,
    Defect,
    Expectation,
    Kind,
    Need,
    Value,
    Variant,
    claim,
    path_of,
)
from mcp_auth_contract.tokens.defects.lookalikes import Lookalike
from mcp_auth_contract.tokens.defects.values import both, constant
from mcp_auth_contract.tokens.spec import ScopeFormat, TokenSpec

__all__ = ["GRANTED", "SCOPE_CLAIM", "SCOPE_FORM_DEFECTS", "UNKNOWN_SCOPE", "granted", "written"]

UNKNOWN_SCOPE = "mcp-auth-contract-unknown"
"""A scope that no server asks for."""

GRANTED = frozenset({Need.SCOPES_GRANTED})
"""What a defect of the scope claim needs."""

SCOPE_CLAIM = ("claims.{scope}",)
"""The path that such a defect changes."""


def granted(good: TokenSpec) -> tuple[str, ...]:
    """Return the scopes that a valid token grants."""
    value = good.claims.get(good.profile.scope_claim)
    listed = value.split(" ") if isinstance(value, str) else value
    return tuple(one for one in listed if isinstance(one, str) and one) if isinstance(listed, Sequence) else ()


def written(good: TokenSpec, scopes: Sequence[str]) -> object:
    """Return scopes in the form that the profile tells."""
    return " ".join(scopes) if good.profile.scope_format is ScopeFormat.STRING else list(scopes)


def _reversed(good: TokenSpec) -> object:
    listed = granted(good)
    return written(good, listed[::-1]) if len(listed) > 1 else INAPPLICABLE


def _spaced(make: Lookalike) -> Break:
    """Return the break that writes the scope string with more spaces; a list has none."""

    def value(good: TokenSpec) -> object:
        if good.profile.scope_format is not ScopeFormat.STRING:
            return INAPPLICABLE
        return make(" ".join(granted(good))) or INAPPLICABLE

    return claim("{scope}", value)


def _moved(name: str, value: Value, left: Value) -> Variant:
    """Return the variant whose scopes stand in another claim, and `left` in the right one."""

    def apply_to(good: TokenSpec) -> object:
        return INAPPLICABLE if path_of("{scope}", good.profile) == name else value(good)

    return Variant(name, both(claim(name, apply_to), claim("{scope}", left)), ("claims.{scope}", f"claims.{name}"))


def _as_list(good: TokenSpec) -> object:
    return list(granted(good))


def _as_string(good: TokenSpec) -> object:
    return " ".join(granted(good))


def _other_form(good: TokenSpec) -> object:
    return _as_list(good) if good.profile.scope_format is ScopeFormat.STRING else _as_string(good)


SCOPE_FORM_DEFECTS = (
    Defect(
        name="scope_arranged",
        sentence="The token's scopes come twice, in another order or with others beside them, which is legal.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=(
            Variant("repeated", claim("{scope}", lambda good: written(good, granted(good) * 2))),
            Variant("reversed", claim("{scope}", _reversed)),
            Variant("unknown_first", claim("{scope}", lambda good: written(good, (UNKNOWN_SCOPE, *granted(good))))),
            Variant("unknown_last", claim("{scope}", lambda good: written(good, (*granted(good), UNKNOWN_SCOPE)))),
        ),
        expectation=Expectation.ACCEPTED,
        needs=GRANTED,
    ),
    Defect(
        name="scope_spaced",
        sentence="The token's scope string has more spaces than it needs.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=(
            Variant("leading", _spaced(lambda text: f" {text}")),
            Variant("trailing", _spaced(lambda text: f"{text} ")),
            Variant("doubled", _spaced(lambda text: f"{UNKNOWN_SCOPE}  {text}")),
        ),
        expectation=Expectation.DISPUTED,
        needs=GRANTED,
    ),
    Defect(
        name="scope_other_form",
        sentence="The token lists its scopes in a form that other authorization servers use.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=(
            Variant("string_or_list", claim("{scope}", _other_form)),
            _moved("scp", _as_list, constant(ABSENT)),
            _moved("scope", _as_string, constant(ABSENT)),
            _moved("permissions", _as_list, constant(ABSENT)),
        ),
        expectation=Expectation.DISPUTED,
        needs=GRANTED,
    ),
    Defect(
        name="scope_in_other_claim",
        sentence="The token's scope claim grants nothing that is needed, and another claim lists it.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=tuple(
            _moved(name, _as_list, lambda good: written(good, (UNKNOWN_SCOPE,)))
            for name in ("scp", "scope", "permissions", "roles", "authorities")
        ),
        expectation=Expectation.DISPUTED,
        needs=GRANTED,
    ),
)
