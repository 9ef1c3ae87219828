"""What a defect is: a function from a valid spec to one that differs in exactly one property."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import TypeAlias, TypedDict, TypeVar, Unpack

from mcp_auth_contract.tokens.keys import Algorithm, KeyFinder
from mcp_auth_contract.tokens.spec import TokenSpec, difference

__all__ = [
    "ABSENT",
    "INAPPLICABLE",
    "Break",
    "Capability",
    "Defect",
    "Defects",
    "Expectation",
    "own",
    "set_claim",
    "unmet",
]


class Expectation(StrEnum):
    """What a right server does with the token.

    FORBIDDEN: the token is genuine and grants too little, so the operation is refused and not the token (403).
    DISPUTED: the specifications allow both.
    """

    REFUSED = "refused"
    FORBIDDEN = "forbidden"
    ACCEPTED = "accepted"
    DISPUTED = "disputed"


class Capability(StrEnum):
    """What a contract must have for a defect to mean anything."""

    SUBJECT_REQUIRED = "subject-required"
    TENANT_REQUIRED = "tenant-required"
    SCOPES_GRANTED = "scopes-granted"
    RSA_KEY = "rsa-key"
    ES256 = "es256"
    PS256 = "ps256"
    EDDSA = "eddsa"
    OPAQUE = "opaque"


_HAS: Mapping[Capability, Callable[[TokenSpec], bool]] = {
    Capability.SUBJECT_REQUIRED: lambda good: good.profile.subject_claim in good.profile.required,
    Capability.TENANT_REQUIRED: lambda good: good.profile.tenant_claim in good.profile.required & good.claims.keys(),
    Capability.SCOPES_GRANTED: lambda good: good.profile.scope_claim in good.claims,
    Capability.RSA_KEY: lambda good: good.key.alg.is_rsa,
    Capability.ES256: lambda good: Algorithm.ES256 in good.profile.algorithms,
    Capability.PS256: lambda good: Algorithm.PS256 in good.profile.algorithms,
    Capability.EDDSA: lambda good: Algorithm.EDDSA in good.profile.algorithms,
    Capability.OPAQUE: lambda good: good.profile.opaque,
}


def unmet(needs: frozenset[Capability], good: TokenSpec) -> tuple[Capability, ...]:
    """Return the needs that a valid spec and its profile do not meet, sorted."""
    return tuple(need for need in sorted(needs) if not _HAS[need](good))


Break: TypeAlias = Callable[[TokenSpec], TokenSpec | None]
"""Makes the faulty spec of a valid one; None where it would not be wrong for this profile.

A KeyError says that the valid one lacks the member that the fault is about.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One fault that a token can have; `forms` are its variants by name, a single one under "".

    `fetched` says that the token names a URL of the kit's, which a server must not fetch, `disturbs` that a server may
    treat other tokens in another way for a while after it.
    """

    name: str
    sentence: str
    forms: Mapping[str, Break]
    expectation: Expectation = Expectation.REFUSED
    needs: frozenset[Capability] = frozenset()
    fetched: bool = False
    disturbs: bool = False

    @property
    def legal(self) -> bool:
        """Whether a right server accepts the token."""
        return self.expectation is Expectation.ACCEPTED

    @property
    def introspected(self) -> bool:
        """Whether the fault lies in what the issuer answers about an opaque token."""
        return Capability.OPAQUE in self.needs

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of its variants; empty for a defect of a single form."""
        return tuple(name for name in self.forms if name)

    def variants_for(self, good: TokenSpec, keys: KeyFinder) -> tuple[str, ...]:
        """Return the variants that differ and are wrong for this profile; `("",)` for an apt single form."""
        given = replace(good, others=keys)
        return () if unmet(self.needs, good) else tuple(name for name in self.forms if self.twin(given, name))

    def twin(self, good: TokenSpec, form: str) -> TokenSpec | None:
        """Return the faulty spec; None where it would not differ from the valid one, or not be wrong."""
        make = self.forms[form]
        try:
            twin = make(good)
        except KeyError:  # nothing can be wrong with a member that is not there
            return None
        apt = twin is not None and difference(good, twin) and (self.introspected or _sayable(twin, good))
        return twin if apt else None


_WITH_THE_ISSUER = ("iss", "exp", "nbf", "iat")


def _sayable(twin: TokenSpec, good: TokenSpec) -> bool:
    """Whether an opaque token can have this fault: it has claims, as the issuer tells them, but no parts.

    Issuer and times are the issuer's to judge when it says that a token is active (RFC 7662 §2.2), and an audience
    that it does not tell is none of another server.
    """
    if not good.profile.opaque or "{" not in twin.form:
        return True
    claims_only = replace(twin, claims=good.claims) == good
    untouched = all(twin.claims.get(name) == good.claims.get(name) for name in _WITH_THE_ISSUER)
    return claims_only and untouched and bool(twin.claims.get("aud"))


class _Marker(Enum):
    ABSENT = "absent"
    INAPPLICABLE = "inapplicable"


ABSENT = _Marker.ABSENT
"""The value of a member that is to be left out."""

INAPPLICABLE = _Marker.INAPPLICABLE
"""The value of a member that would not be wrong for this profile."""


def own(name: str, make: Callable[[str], object]) -> Callable[[TokenSpec], object]:
    """Return the value that is made of a claim's own right text; None of `make` stands for no such value."""

    def value(good: TokenSpec) -> object:
        right = good.claims.get(good.profile.claim_name(name))
        made = make(right) if isinstance(right, str) else None
        return INAPPLICABLE if made is None else made

    return value


class _Traits(TypedDict, total=False):
    needs: frozenset[Capability]
    fetched: bool
    disturbs: bool


_T = TypeVar("_T")
_Each: TypeAlias = Callable[[TokenSpec, _T], TokenSpec | None]


class Defects(list[Defect]):
    """The defects of one subject, each registered where it is defined.

    The name of a function is that of its defect, the first line of its docstring the sentence for reports; below may
    stand what the specification says.
    """

    def single(
        self, expectation: Expectation = Expectation.REFUSED, **traits: Unpack[_Traits]
    ) -> Callable[[Break], Break]:
        """Register a defect of a single form: the function that is decorated."""

        def register(make: Break) -> Break:
            self.add(*_told(make), {"": make}, expectation, **traits)
            return make

        return register

    def each(
        self, forms: Mapping[str, _T], expectation: Expectation = Expectation.REFUSED, **traits: Unpack[_Traits]
    ) -> Callable[[_Each[_T]], _Each[_T]]:
        """Register a defect with variants: what the decorated function makes of each of the values."""

        def bound(make: _Each[_T], value: _T) -> Break:
            return lambda good: make(good, value)

        def register(make: _Each[_T]) -> _Each[_T]:
            made = {name: bound(make, value) for name, value in forms.items()}
            self.add(*_told(make), made, expectation, **traits)
            return make

        return register

    def claim(
        self,
        claim: str,
        name: str,
        sentence: str,
        values: Mapping[str, object],
        expectation: Expectation = Expectation.REFUSED,
        **traits: Unpack[_Traits],
    ) -> None:
        """Register a defect whose variants give one claim another value, or one that is made of the valid spec."""
        self.add(
            name, sentence, {form: set_claim(claim, value) for form, value in values.items()}, expectation, **traits
        )

    def header(
        self,
        member: str,
        name: str,
        sentence: str,
        values: Mapping[str, object],
        expectation: Expectation = Expectation.REFUSED,
        **traits: Unpack[_Traits],
    ) -> None:
        """Register a defect whose variants give one header member another value; the signature is honest."""
        self.add(
            name, sentence, {form: _set_header(member, value) for form, value in values.items()}, expectation, **traits
        )

    def add(
        self,
        name: str,
        sentence: str,
        forms: Mapping[str, Break],
        expectation: Expectation = Expectation.REFUSED,
        **traits: Unpack[_Traits],
    ) -> None:
        """Register a defect by its forms."""
        self.append(Defect(name=name, sentence=sentence, forms=forms, expectation=expectation, **traits))


def _told(make: Callable[..., object]) -> tuple[str, str]:
    return make.__name__, (make.__doc__ or "").partition("\n")[0]


def set_claim(claim: str, value: object) -> Break:
    """Return the break that gives one claim a value: a fixed one, or what a function makes of the valid spec."""

    def apply(good: TokenSpec) -> TokenSpec | None:
        name, new = good.profile.claim_name(claim), value(good) if callable(value) else value
        if new is INAPPLICABLE:
            return None
        return good.without_claim(name) if new is ABSENT else good.with_claim(name, new)

    return apply


def _set_header(member: str, value: object) -> Break:
    def apply(good: TokenSpec) -> TokenSpec | None:
        new = value(good) if callable(value) else value
        if new is INAPPLICABLE:
            return None
        return good.without_header(member) if new is ABSENT else good.with_header(**{member: new})

    return apply
