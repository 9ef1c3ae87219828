"""Defects of scope: strings that resemble the scope that is needed, and unusual ways to write it.

RFC 6749 §3.3: scope is "a list of space-delimited, case-sensitive strings", whose order does not matter.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from mcp_auth_contract.tokens.defects.defect import ACCEPTED, DISPUTED, FORBIDDEN, Capability, Defects, claim
from mcp_auth_contract.tokens.defects.lookalikes import LOOKALIKES, Lookalike
from mcp_auth_contract.tokens.spec import ScopeFormat, TokenSpec

DEFECTS = Defects(Capability.SCOPES_GRANTED)
_scope = partial(DEFECTS.table, claim("{scope}"))

_UNKNOWN = "mcp-auth-contract-unknown"
"""A scope that no server asks for."""


def _granted(good: TokenSpec) -> tuple[str, ...]:
    value = good.claims.get(good.profile.scope_claim)
    listed = value.split(" ") if isinstance(value, str) else value
    return tuple(one for one in listed if isinstance(one, str) and one) if isinstance(listed, Sequence) else ()


def _written(good: TokenSpec, scopes: Sequence[str]) -> object:
    return " ".join(scopes) if good.profile.scope_format is ScopeFormat.STRING else list(scopes)


def _instead(make: Lookalike) -> Callable[[TokenSpec], object]:
    """Put a lookalike in the place of each scope, unless it means something itself."""

    def value(good: TokenSpec) -> object:
        listed = _granted(good)
        meaning = {*listed, *good.profile.known_scopes}
        made = dict.fromkeys(one for scope in listed if (one := make(scope)) and one not in meaning)
        return _written(good, tuple(made)) if made else None

    return value


def _like(name: str, sentence: str, forms: Mapping[str, Lookalike]) -> None:
    values = {form: _instead(make) for form, make in forms.items()}
    _scope(name, sentence, values, FORBIDDEN)


def _namespace(scope: str) -> tuple[str, str]:
    """Split a scope before its last separator; ("", "") where it has none."""
    found = re.search(r"[:./](?=[^:./]*\Z)", scope)
    return (scope[: found.start()], found.group()) if found and found.start() else ("", "")


def _within(ending: str) -> Lookalike:
    return lambda scope: f"{space}{ending}" if (space := "".join(_namespace(scope))) else None


_like(
    "scope_longer",
    "The token's scopes begin with those that are needed, and go on.",
    {
        "word_appended": lambda scope: f"{scope}only",
        "part_appended": lambda scope: f"{scope}.all",
        "narrower": lambda scope: f"{scope}:own",
    },
)
_like(
    "scope_shorter",
    "The token's scopes are beginnings of those that are needed.",
    {
        "namespace": lambda scope: _namespace(scope)[0],
        "namespace_and_separator": lambda scope: "".join(_namespace(scope)),
        "cut": lambda scope: scope[:-1],
    },
)
_like(
    "scope_within",
    "The token's scopes contain those that are needed as a part.",
    {
        "letter_prepended": lambda scope: f"x{scope}",
        "other_namespace": lambda scope: f"other/{scope}",
        "on_both_sides": lambda scope: f"x{scope}x",
    },
)
_like(
    "scope_other_case",
    "The token's scopes are those that are needed in another case; scopes are case-sensitive.",
    {"other_case": LOOKALIKES["other_case"], "capitalised": lambda scope: scope[:1].upper() + scope[1:]},
)
_like(
    "scope_wildcard",
    "The token's scopes are patterns that the contract does not name; scopes are compared, not matched.",
    {
        "star": lambda _: "*",
        "stars": lambda _: "*:*",
        "star_in_namespace": _within("*"),
        "regular_expression": _within(".*"),
        "any_text": lambda _: ".*",
    },
)
_CONFUSABLE = ("homoglyph", "full_width", "accented", "zero_width_space", "percent_encoded")
_like(
    "scope_confusable",
    "The token's scopes look like those that are needed, in other characters.",
    {
        **{name: LOOKALIKES[name] for name in _CONFUSABLE},
        "separator_percent_encoded": lambda scope: scope.replace(":", "%3A"),
    },
)
_scope(
    "scope_empty",
    "The token's scope claim is there and grants nothing.",
    {"empty": "", "space": " ", "empty_list": [], "list_of_empty": [""]},
    FORBIDDEN,
)
_scope(
    "scope_joined_in_list",
    "The token's scopes are a list of one string that holds all of them.",
    {"": lambda good: [" ".join((_UNKNOWN, *_granted(good)))]},
    FORBIDDEN,
)
_scope(
    "scope_other_type",
    "The token's scope claim is neither a string nor a list of strings.",
    {
        "null": None,
        "number": 1,
        "boolean": True,
        "operator": {"$ne": ""},
        "members": lambda good: dict.fromkeys(_granted(good), True),
        "nested_list": lambda good: [list(_granted(good))],
        "list_of_objects": lambda good: [{"scope": one} for one in _granted(good)],
    },
)


@DEFECTS.each(
    {"tab": "\t", "line_feed": "\n", "no_break_space": "\u00a0", "line_separator": "\u2028", "comma": ",", "plus": "+"},
    DISPUTED,
)
def scope_other_separator(good: TokenSpec, separator: str) -> TokenSpec:
    """The token's scopes are separated by something else than a space (RFC 6749 §3.3)."""
    text = separator.join((_UNKNOWN, *_granted(good), _UNKNOWN))
    listing = good.profile.scope_format is ScopeFormat.LIST
    return good.with_claim(good.profile.scope_claim, [text] if listing else text)


_scope(
    "scope_arranged",
    "The token's scopes come twice, in another order or with others beside them, which is legal.",
    {
        "repeated": lambda good: _written(good, _granted(good) * 2),
        "reversed": lambda good: _written(good, _granted(good)[::-1]) if len(_granted(good)) > 1 else None,
        "unknown_first": lambda good: _written(good, (_UNKNOWN, *_granted(good))),
        "unknown_last": lambda good: _written(good, (*_granted(good), _UNKNOWN)),
    },
    ACCEPTED,
)


@DEFECTS.each({"leading": " {}", "trailing": "{} ", "doubled": f"{_UNKNOWN}  {{}}"}, DISPUTED)
def scope_spaced(good: TokenSpec, pattern: str) -> TokenSpec | None:
    """The token's scope string has more spaces than it needs."""
    if good.profile.scope_format is ScopeFormat.LIST:
        return None
    return good.with_claim(good.profile.scope_claim, pattern.format(" ".join(_granted(good))))


@DEFECTS.each({"string_or_list": "", "scp": "scp", "scope": "scope", "permissions": "permissions"}, DISPUTED)
def scope_other_form(good: TokenSpec, claim: str) -> TokenSpec | None:
    """The token lists its scopes in a form that other authorization servers use.

    RFC 9068 §2.2.3 has the claim scope, RFC 8693 §4.2 a string in it.
    """
    right = good.profile.scope_claim
    text: object = " ".join(_granted(good))
    if not claim:
        return good.with_claim(right, list(_granted(good)) if good.profile.scope_format is ScopeFormat.STRING else text)
    if claim == right:
        return None
    return good.with_claim(claim, text if claim == "scope" else list(_granted(good))).without_claim(right)


@DEFECTS.each({name: name for name in ("scp", "scope", "permissions", "roles", "authorities")}, DISPUTED)
def scope_in_other_claim(good: TokenSpec, claim: str) -> TokenSpec | None:
    """The token's scope claim grants nothing that is needed, and another claim lists it."""
    right = good.profile.scope_claim
    if claim == right:
        return None
    return good.with_claims(**{claim: list(_granted(good)), right: _written(good, (_UNKNOWN,))})
