"""What a defect is: a function from a valid spec to one that differs in exactly one property."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TypeAlias, assert_never

from mcp_auth_contract.tokens.keys import KeyFinder
from mcp_auth_contract.tokens.spec import TokenProfile, TokenSpec

__all__ = [
    "ABSENT",
    "INAPPLICABLE",
    "Bench",
    "Break",
    "Defect",
    "Expectation",
    "Kind",
    "Need",
    "Value",
    "Variant",
    "claim",
    "one",
    "path_of",
    "unmet",
]


class Kind(StrEnum):
    """Where the fault of a token lies."""

    CLAIM = "claim"
    SIGNATURE = "signature"
    HEADER = "header"
    FORM = "form"


class Expectation(StrEnum):
    """What a right server does with the token; DISPUTED: the specifications allow both."""

    REFUSED = "refused"
    ACCEPTED = "accepted"
    DISPUTED = "disputed"


class Need(StrEnum):
    """What must hold of the contract for a defect to mean anything."""

    SUBJECT_REQUIRED = "subject-required"
    TENANT_REQUIRED = "tenant-required"
    SCOPES_GRANTED = "scopes-granted"
    RSA_KEY = "rsa-key"


@dataclass(frozen=True, slots=True)
class Bench:
    """What a defect works with: the valid spec, and where to find other parties' keys."""

    good: TokenSpec
    keys: KeyFinder


Break: TypeAlias = Callable[[Bench], TokenSpec | None]
"""Makes the faulty spec; None where it would not differ, or not be wrong, for this profile."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of a defect. `changes` is given where it is not the defect's own."""

    name: str
    apply: Break
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One fault that a token can have.

    `changes` are the decoded paths that the fault consists of, the first being the property itself: naming
    another algorithm entails another signature. `{subject}`, `{tenant}` and `{scope}` stand for the names of
    the profile's claims. A defect of a single form has one variant, named "".
    """

    name: str
    sentence: str
    kind: Kind
    changes: tuple[str, ...]
    forms: tuple[Variant, ...]
    expectation: Expectation = Expectation.REFUSED
    needs: frozenset[Need] = frozenset()

    @property
    def legal(self) -> bool:
        """Whether a right server accepts the token."""
        return self.expectation is Expectation.ACCEPTED

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of its variants; empty for a defect of a single form."""
        return tuple(form.name for form in self.forms if form.name)

    def variants_for(self, good: TokenSpec, keys: KeyFinder) -> tuple[str, ...]:
        """Return the variants that differ and are wrong for this profile; `("",)` for an apt single form."""
        if unmet(self.needs, good):
            return ()
        bench = Bench(good, keys)
        return tuple(form.name for form in self.forms if form.apply(bench) is not None)


def unmet(needs: frozenset[Need], good: TokenSpec) -> tuple[Need, ...]:
    """Return the needs that a valid spec and its profile do not meet, sorted."""
    return tuple(need for need in sorted(needs) if not _met(need, good))


def _met(need: Need, good: TokenSpec) -> bool:
    profile = good.profile
    match need:
        case Need.SUBJECT_REQUIRED:
            return profile.subject_claim in profile.required
        case Need.TENANT_REQUIRED:
            tenant = profile.tenant_claim
            return tenant is not None and tenant in profile.required and tenant in good.claims
        case Need.SCOPES_GRANTED:
            return profile.scope_claim in good.claims
        case Need.RSA_KEY:
            return good.key.alg.is_rsa
        case _:
            assert_never(need)


def path_of(path: str, profile: TokenProfile) -> str:
    """Return a declared path with the profile's claim names filled in."""
    names: Mapping[str, str] = {
        "{subject}": profile.subject_claim,
        "{tenant}": profile.tenant_claim or "",
        "{scope}": profile.scope_claim,
    }
    for placeholder, name in names.items():
        path = path.replace(placeholder, name)
    return path


class _Marker(Enum):
    ABSENT = "absent"
    INAPPLICABLE = "inapplicable"


ABSENT = _Marker.ABSENT
"""The value of a claim that is to be left out."""

INAPPLICABLE = _Marker.INAPPLICABLE
"""The value of a claim that would not differ, or not be wrong, for this profile."""

Value: TypeAlias = Callable[[TokenSpec], object]


def claim(name: str, value: Value) -> Break:
    """Return the break that gives one claim, named as in `changes`, another value."""

    def apply(bench: Bench) -> TokenSpec | None:
        good = bench.good
        written = path_of(name, good.profile)
        new = value(good)
        if new is INAPPLICABLE or (new is ABSENT and written not in good.claims):
            return None
        if new is ABSENT:
            return good.without_claim(written)
        same = written in good.claims and type(good.claims[written]) is type(new) and good.claims[written] == new
        return None if same else good.with_claim(written, new)

    return apply


def one(apply: Break) -> tuple[Variant, ...]:
    """Return the single form of a defect without variants."""
    return (Variant("", apply),)
