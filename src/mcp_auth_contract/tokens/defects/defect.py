"""What a defect is: a function from a valid spec to one that differs in exactly one property."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import TypeAlias, assert_never

from mcp_auth_contract.tokens.keys import Algorithm, KeyFinder
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
    "sayable",
    "unmet",
]


class Kind(StrEnum):
    """Where the fault of a token lies."""

    CLAIM = "claim"
    SIGNATURE = "signature"
    HEADER = "header"
    FORM = "form"
    INTROSPECTION = "introspection"


class Expectation(StrEnum):
    """What a right server does with the token.

    FORBIDDEN: the token is genuine and grants too little, so the operation is refused and not the token (403).
    DISPUTED: the specifications allow both.
    """

    REFUSED = "refused"
    FORBIDDEN = "forbidden"
    ACCEPTED = "accepted"
    DISPUTED = "disputed"


class Need(StrEnum):
    """What must hold of the contract for a defect to mean anything."""

    SUBJECT_REQUIRED = "subject-required"
    TENANT_REQUIRED = "tenant-required"
    SCOPES_GRANTED = "scopes-granted"
    RSA_KEY = "rsa-key"
    ES256 = "es256"
    PS256 = "ps256"
    EDDSA = "eddsa"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Bench:
    """What a defect works with: the valid spec, where to find other parties' keys, and the kit's listening post.

    `listening` is a URL of this one token: whoever fetches it has followed what the token says.
    """

    good: TokenSpec
    keys: KeyFinder
    listening: str = "http://listening.mcp-auth-contract.test/heard/token"


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
    another algorithm entails another signature. `{subject}`, `{tenant}`, `{scope}` and `{client}` stand for
    the names of the profile's claims. A defect of a single form has one variant, named "". `fetched` says that the
    token names a URL of the kit's, which a server must not fetch, `disturbs` that a server may treat other
    tokens in another way for a while after it.
    """

    name: str
    sentence: str
    kind: Kind
    changes: tuple[str, ...]
    forms: tuple[Variant, ...]
    expectation: Expectation = Expectation.REFUSED
    needs: frozenset[Need] = frozenset()
    fetched: bool = False
    disturbs: bool = False

    @property
    def legal(self) -> bool:
        """Whether a right server accepts the token."""
        return self.expectation is Expectation.ACCEPTED

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of its variants; empty for a defect of a single form."""
        return tuple(dict.fromkeys(form.name for form in self.forms if form.name))

    def variants_for(self, good: TokenSpec, keys: KeyFinder) -> tuple[str, ...]:
        """Return the variants that differ and are wrong for this profile; `("",)` for an apt single form."""
        if unmet(self.needs, good):
            return ()
        bench = Bench(good, keys)
        twins = ((form.name, form.apply(bench)) for form in self.forms)
        return tuple(name for name, twin in twins if twin is not None and sayable(self.kind, twin, good))


_WITH_THE_ISSUER = ("iss", "exp", "nbf", "iat")


def sayable(kind: Kind, spec: TokenSpec, good: TokenSpec) -> bool:
    """Whether an opaque token can have this fault: it has claims, as the issuer tells them, but no parts.

    Issuer and times are the issuer's to judge when it says that a token is active (RFC 7662 §2.2), and an audience
    that it does not tell is none of another server.
    """
    if not good.profile.opaque or kind is Kind.INTROSPECTION:
        return True
    if "{" not in spec.form:
        return True
    claims_only = replace(spec, claims=good.claims) == good
    untouched = all(spec.claims.get(name) == good.claims.get(name) for name in _WITH_THE_ISSUER)
    return claims_only and untouched and bool(spec.claims.get("aud"))


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
        case Need.ES256:
            return Algorithm.ES256 in profile.algorithms
        case Need.PS256:
            return Algorithm.PS256 in profile.algorithms
        case Need.EDDSA:
            return Algorithm.EDDSA in profile.algorithms
        case Need.OPAQUE:
            return profile.opaque
        case _:
            assert_never(need)


def path_of(path: str, profile: TokenProfile) -> str:
    """Return a declared path with the profile's claim names filled in."""
    names: Mapping[str, str] = {
        "{subject}": profile.subject_claim,
        "{tenant}": profile.tenant_claim or "",
        "{scope}": profile.scope_claim,
        "{client}": profile.client_claim,
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
