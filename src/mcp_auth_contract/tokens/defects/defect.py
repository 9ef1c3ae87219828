"""What a defect is: a function from a valid spec to one that differs in exactly one property."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeAlias, TypedDict, TypeVar, Unpack

from mcp_auth_contract.tokens.keys import Algorithm, KeyFinder, Role
from mcp_auth_contract.tokens.spec import Sign, TokenSpec, difference


class Expectation(StrEnum):
    """What a right server does with the token.

    FORBIDDEN: the token is genuine and grants too little, so the operation is refused and not the token (403).
    DISPUTED: the specifications allow both.
    """

    REFUSED = "refused"
    FORBIDDEN = "forbidden"
    ACCEPTED = "accepted"
    DISPUTED = "disputed"


REFUSED, FORBIDDEN, ACCEPTED, DISPUTED = Expectation


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


@dataclass(frozen=True, slots=True)
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
        return () if unmet(self.needs, good) else tuple(name for name in self.forms if self.faulty(given, name))

    def faulty(self, good: TokenSpec, form: str) -> TokenSpec | None:
        """Return the faulty spec; None where it would not differ from the valid one, or not be wrong."""
        make = self.forms[form]
        try:
            faulty = make(good)
        except KeyError:  # nothing can be wrong with a member that is not there
            return None
        apt = faulty is not None and difference(good, faulty) and (self.introspected or _sayable(faulty, good))
        return faulty if apt else None


_WITH_THE_ISSUER = ("iss", "exp", "nbf", "iat")


def _sayable(faulty: TokenSpec, good: TokenSpec) -> bool:
    """Whether an opaque token can have this fault: it has claims, as the issuer tells them, but no parts.

    Issuer and times are the issuer's to judge when it says that a token is active (RFC 7662 §2.2), and an audience
    that it does not tell is none of another server.
    """
    if not good.profile.opaque or "{" not in faulty.form:
        return True
    claims_only = replace(faulty, claims=good.claims) == good
    untouched = all(faulty.claims.get(name) == good.claims.get(name) for name in _WITH_THE_ISSUER)
    return claims_only and untouched and bool(faulty.claims.get("aud"))


ABSENT = object()
"""The value of a member that is to be left out."""


class _Traits(TypedDict, total=False):
    needs: AbstractSet[Capability]
    fetched: bool
    disturbs: bool


_T = TypeVar("_T")
_Single = TypeVar("_Single", bound=Break)
_Each: TypeAlias = Callable[[TokenSpec, _T], TokenSpec | None]


class Defects(list[Defect]):
    """The defects of one subject, each registered where it is defined; `needs` are those of all of them.

    The name of a function is that of its defect, the first line of its docstring the sentence for reports; below may
    stand what the specification says.
    """

    def __init__(self, *needs: Capability) -> None:
        super().__init__()
        self._needs = frozenset(needs)

    def single(self, expectation: Expectation = REFUSED, **traits: Unpack[_Traits]) -> Callable[[_Single], _Single]:
        """Register a defect of a single form: the function that is decorated."""

        def register(make: _Single) -> _Single:
            self.add(*_told(make), {"": make}, expectation, **traits)
            return make

        return register

    def each(
        self, forms: Mapping[str, _T], expectation: Expectation = REFUSED, **traits: Unpack[_Traits]
    ) -> Callable[[_Each[_T]], _Each[_T]]:
        """Register a defect with variants: what the decorated function makes of each of the values."""

        def register(make: _Each[_T]) -> _Each[_T]:
            self.table(lambda value: lambda good: make(good, value), *_told(make), forms, expectation, **traits)
            return make

        return register

    def table(
        self,
        put: Callable[[Any], Break],
        name: str,
        sentence: str,
        values: Mapping[str, Any],
        expectation: Expectation = REFUSED,
        **traits: Unpack[_Traits],
    ) -> None:
        """Register a defect whose variants put each of the values in one place: a `claim`, a `header`."""
        self.add(name, sentence, {form: put(value) for form, value in values.items()}, expectation, **traits)

    def add(
        self,
        name: str,
        sentence: str,
        forms: Mapping[str, Break],
        expectation: Expectation = REFUSED,
        *,
        needs: AbstractSet[Capability] = frozenset(),
        fetched: bool = False,
        disturbs: bool = False,
    ) -> None:
        """Register a defect by its forms."""
        self.append(Defect(name, sentence, forms, expectation, self._needs | needs, fetched, disturbs))


def _told(make: Callable[..., object]) -> tuple[str, str]:
    return make.__name__, (make.__doc__ or "").partition("\n")[0]


def claim(written: str, of: Callable[[TokenSpec], Any] = lambda good: good) -> Callable[[object], Break]:
    """Return what gives one claim a value: a fixed one, or what a function makes of the valid spec, or of `of` it.

    None, where a function returns it, says that there is no such value.
    """

    def put(good: TokenSpec, new: object) -> TokenSpec:
        name = good.profile.claim_name(written)
        return good.without_claim(name) if new is ABSENT else good.with_claim(name, new)

    return partial(_break, put, of)


def own(written: str) -> Callable[[TokenSpec], str]:
    """Return what finds the right text of a claim; it raises KeyError where that is no text."""

    def right(good: TokenSpec) -> str:
        name = good.profile.claim_name(written)
        value = good.claims.get(name)
        if not isinstance(value, str):
            raise KeyError(name)
        return value

    return right


def header(name: str) -> Callable[[object], Break]:
    """Return what gives one header member a value, as `claim` does; the signature is honest."""

    def put(good: TokenSpec, new: object) -> TokenSpec:
        return good.without_header(name) if new is ABSENT else good.with_header(**{name: new})

    return partial(_break, put, lambda good: good)


def _break(put: Callable[[TokenSpec, object], TokenSpec], of: Callable[[TokenSpec], Any], value: object) -> Break:
    def apply(good: TokenSpec) -> TokenSpec | None:
        if not callable(value):
            return put(good, value)
        made = value(of(good))
        return None if made is None else put(good, made)

    return apply


def adding(claims: Mapping[str, object]) -> Break:
    """Return what sets these claims."""
    return lambda good: good.with_claims(**claims)


def saying(members: Mapping[str, object]) -> Break:
    """Return what sets these header members; the signature is honest."""
    return lambda good: good.with_header(**members)


def signed(sign: Sign) -> Break:
    """Return what makes the signature in another way."""
    return lambda good: replace(good, signature=sign)


def by_party(good: TokenSpec, role: Role, **members: object) -> TokenSpec:
    """Return the token by another party's key, under that key's id."""
    key = good.key_of(role)
    return replace(good.with_header(**members, kid=key.kid), key=key)


def form(text: str) -> Break:
    """Return what writes the token in another form; its parts stand there in braces."""
    return lambda good: replace(good, form=text)
