"""Values of claims that are made of the right value, or stand for nobody."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from mcp_auth_contract.tokens.defects.defect import INAPPLICABLE, Bench, Break, Value, Variant, claim, path_of
from mcp_auth_contract.tokens.defects.lookalikes import Lookalike
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["Own", "both", "carried", "constant", "like", "own", "the_same", "values"]

Own: TypeAlias = Callable[[str], object]
"""Makes the value of a claim out of the right one."""


def own(name: str, make: Own) -> Break:
    """Return the break that gives a claim a value made of its own right one."""

    def value(good: TokenSpec) -> object:
        right = good.claims.get(path_of(name, good.profile))
        made = make(right) if isinstance(right, str) else None
        return INAPPLICABLE if made is None else made

    return claim(name, value)


def like(name: str, forms: Mapping[str, Lookalike]) -> tuple[Variant, ...]:
    """Return the variants in which a claim resembles its right value."""
    return tuple(Variant(variant, own(name, make)) for variant, make in forms.items())


def constant(value: object) -> Value:
    """Return what gives every token the same value."""
    return lambda _: value


def values(name: str, forms: Mapping[str, object]) -> tuple[Variant, ...]:
    """Return the variants in which a claim has a fixed value."""
    return tuple(Variant(variant, claim(name, constant(value))) for variant, value in forms.items())


def both(*breaks: Break) -> Break:
    """Return the break that applies several, None where one of them does not apply."""

    def apply(bench: Bench) -> TokenSpec | None:
        spec: TokenSpec | None = bench.good
        for each in breaks:
            if spec is None:
                return None
            spec = each(Bench(spec, bench.keys, bench.listening))
        return spec

    return apply


def carried(elsewhere: str, name: str, nobody: str, wrap: Own) -> Variant:
    """Return the variant whose claim names nobody while another claim carries the right value."""

    def apply(bench: Bench) -> TokenSpec | None:
        right = bench.good.claims.get(path_of(name, bench.good.profile))
        if not isinstance(right, str) or elsewhere == path_of(name, bench.good.profile):
            return None
        return both(claim(elsewhere, lambda _: wrap(right)), claim(name, lambda _: nobody))(bench)

    return Variant(elsewhere, apply, (f"claims.{name}", f"claims.{elsewhere}"))


def the_same(own: str) -> object:
    """Return the right value itself."""
    return own
