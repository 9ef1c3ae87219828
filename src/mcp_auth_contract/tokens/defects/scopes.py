"""Defects of scope syntax: strings that resemble the scope that is needed."""

import re
from collections.abc import Mapping

from mcp_auth_contract.tokens.defects.defect import (
    INAPPLICABLE,
    Break,
    Defect,
    Expectation,
    Kind,
    Variant,
    claim,
)
from mcp_auth_contract.tokens.defects.lookalikes import (
    LOOKALIKES,
    Lookalike,
    accented,
    full_width,
    homoglyph,
    percent_encoded,
)
from mcp_auth_contract.tokens.defects.scope_forms import (
    GRANTED,
    SCOPE_CLAIM,
    SCOPE_FORM_DEFECTS,
    UNKNOWN_SCOPE,
    granted,
    written,
)
from mcp_auth_contract.tokens.defects.values import values
from mcp_auth_contract.tokens.spec import ScopeFormat, TokenSpec

__all__ = ["SCOPE_DEFECTS"]


def _instead(make: Lookalike) -> Break:
    """Return the break that puts a lookalike in the place of each scope, unless it means something itself."""

    def value(good: TokenSpec) -> object:
        listed = granted(good)
        meaning = {*listed, *good.profile.known_scopes}
        made = dict.fromkeys(one for scope in listed if (one := make(scope)) and one not in meaning)
        return written(good, tuple(made)) if made else INAPPLICABLE

    return claim("{scope}", value)


def _like(forms: Mapping[str, Lookalike]) -> tuple[Variant, ...]:
    return tuple(Variant(name, _instead(make)) for name, make in forms.items())


def _joined(separator: str) -> Break:
    """Return the break that writes all scopes, and an unknown one on each side, as one string of another syntax."""

    def value(good: TokenSpec) -> object:
        text = separator.join((UNKNOWN_SCOPE, *granted(good), UNKNOWN_SCOPE))
        return text if good.profile.scope_format is ScopeFormat.STRING else [text]

    return claim("{scope}", value)


def _namespace(scope: str) -> tuple[str, str]:
    """Split a scope before its last separator; ("", "") where it has none."""
    found = re.search(r"[:./](?=[^:./]*\Z)", scope)
    return (scope[: found.start()], found.group()) if found and found.start() else ("", "")


def _within(ending: str) -> Lookalike:
    def make(scope: str) -> str | None:
        space, separator = _namespace(scope)
        return f"{space}{separator}{ending}" if space else None

    return make


_LOOKALIKES = (
    Defect(
        name="scope_longer",
        sentence="The token's scopes begin with those that are needed, and go on.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=_like(
            {
                "word_appended": lambda scope: f"{scope}only",
                "part_appended": lambda scope: f"{scope}.all",
                "narrower": lambda scope: f"{scope}:own",
            }
        ),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_shorter",
        sentence="The token's scopes are beginnings of those that are needed.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=_like(
            {
                "namespace": lambda scope: _namespace(scope)[0] or None,
                "namespace_and_separator": lambda scope: "".join(_namespace(scope)) or None,
                "cut": lambda scope: scope[:-1] or None,
            }
        ),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_within",
        sentence="The token's scopes contain those that are needed as a part.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=_like(
            {
                "letter_prepended": lambda scope: f"x{scope}",
                "other_namespace": lambda scope: f"other/{scope}",
                "on_both_sides": lambda scope: f"x{scope}x",
            }
        ),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_other_case",
        sentence="The token's scopes are those that are needed in another case; scopes are case-sensitive.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=_like(
            {"other_case": LOOKALIKES["other_case"], "capitalised": lambda scope: scope[:1].upper() + scope[1:]}
        ),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_wildcard",
        sentence="The token's scopes are patterns that the contract does not name; scopes are compared, not matched.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=_like(
            {
                "star": lambda _: "*",
                "stars": lambda _: "*:*",
                "star_in_namespace": _within("*"),
                "regular_expression": _within(".*"),
                "any_text": lambda _: ".*",
            }
        ),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_confusable",
        sentence="The token's scopes look like those that are needed, in other characters.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=_like(
            {
                "homoglyph": homoglyph,
                "full_width": full_width,
                "accented": accented,
                "zero_width_space": LOOKALIKES["zero_width_space"],
                "percent_encoded": percent_encoded,
                "separator_percent_encoded": lambda scope: scope.replace(":", "%3A") if ":" in scope else None,
            }
        ),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_empty",
        sentence="The token's scope claim is there and grants nothing.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=values("{scope}", {"empty": "", "space": " ", "empty_list": [], "list_of_empty": [""]}),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_joined_in_list",
        sentence="The token's scopes are a list of one string that holds all of them.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=(Variant("", claim("{scope}", lambda good: [" ".join((UNKNOWN_SCOPE, *granted(good)))])),),
        expectation=Expectation.FORBIDDEN,
        needs=GRANTED,
    ),
    Defect(
        name="scope_other_type",
        sentence="The token's scope claim is neither a string nor a list of strings.",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=(
            *values("{scope}", {"null": None, "number": 1, "boolean": True, "operator": {"$ne": ""}}),
            Variant("members", claim("{scope}", lambda good: dict.fromkeys(granted(good), True))),
            Variant("nested_list", claim("{scope}", lambda good: [list(granted(good))])),
            Variant("list_of_objects", claim("{scope}", lambda good: [{"scope": one} for one in granted(good)])),
        ),
        needs=GRANTED,
    ),
    Defect(
        name="scope_other_separator",
        sentence="The token's scopes are separated by something else than a space (RFC 6749 §3.3).",
        kind=Kind.CLAIM,
        changes=SCOPE_CLAIM,
        forms=tuple(
            Variant(name, _joined(separator))
            for name, separator in (
                ("tab", "\t"),
                ("line_feed", "\n"),
                ("no_break_space", "\u00a0"),
                ("line_separator", "\u2028"),
                ("comma", ","),
                ("plus", "+"),
            )
        ),
        expectation=Expectation.DISPUTED,
        needs=GRANTED,
    ),
)

SCOPE_DEFECTS = (*_LOOKALIKES, *SCOPE_FORM_DEFECTS)
