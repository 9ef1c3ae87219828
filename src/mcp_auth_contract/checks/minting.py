"""The tokens of a run: minted relative to the server's clock, once for each distinct wish, known to the redactor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mcp_auth_contract.checks.questions import GOOD
from mcp_auth_contract.checks.tokens.observation import TokenShown
from mcp_auth_contract.clock import Clock
from mcp_auth_contract.contract import Contract, Principal, operations, stranger_named
from mcp_auth_contract.tokens import (
    DEFECTS,
    Identity,
    KeyFinder,
    Minted,
    SigningKey,
    TokenProfile,
    TokenSpec,
    good_token,
    mint_case,
)
from mcp_auth_contract.tokens.keys import Algorithm
from mcp_auth_contract.tokens.spec import ScopeFormat
from mcp_auth_contract.wire import Redactor

_CLIENT = "mcp-auth-contract"
_FORGED = frozenset({"signed_by_stranger", "malformed"})


def profile_of(contract: Contract, issuer: str, resource: str) -> TokenProfile:
    """Return how the contract's server reads a token, for tokens of `issuer` about `resource`."""
    claims = contract.claims
    return TokenProfile(
        issuer=issuer,
        audience=resource,
        subject_claim=claims.subject,
        tenant_claim=claims.tenant,
        scope_claim=claims.scope,
        scope_format=ScopeFormat(claims.scope_format),
        client_claim=claims.client,
        typ=claims.typ,
        algorithm=Algorithm(contract.issuer.algorithms[0]),
        opaque=contract.issuer.tokens == "opaque",
        algorithms=frozenset(Algorithm(name) for name in contract.issuer.algorithms),
        required=frozenset(claims.required),
        known_scopes=_known_scopes(contract),
        extra=claims.extra,
        leeway=contract.policy.leeway,
    )


def _known_scopes(contract: Contract) -> frozenset[str]:
    """Return every scope that the contract names anywhere."""
    implied = contract.policy.implies
    needed, granted = operations(contract), contract.principals.values()
    named = (*(one.scopes for one in needed), *(one.scopes for one in granted), *implied.values())
    return frozenset(implied).union(*named)


def identity_of(name: str, principal: Principal) -> Identity:
    """Return the identity that a principal's tokens speak for."""
    return Identity(
        name=name,
        subject=principal.subject,
        tenant=principal.tenant,
        client=principal.client or _CLIENT,
        scopes=principal.scopes,
        claims=principal.claims,
    )


@dataclass(frozen=True, slots=True)
class Holder:
    """Whom a minted token speaks for, and what it was minted with: a defect, its variant, other scopes."""

    principal: str
    defect: str | None = None
    variant: str | None = None
    scopes: frozenset[str] | None = None

    @property
    def sound(self) -> bool:
        """Whether it has no fault."""
        return self.defect is None

    @property
    def whole(self) -> bool:
        """Whether it has all the principal's scopes, and no others."""
        return self.scopes is None

    @property
    def forged(self) -> bool:
        """Whether it has the plainest fault: the right form, and the issuer never made it."""
        return self.defect in _FORGED


@dataclass(frozen=True, slots=True)
class Made:
    """A token that was minted: for whom and with what, and the spec of the good token that it was made from."""

    holder: Holder
    minted: Minted
    good: TokenSpec


@dataclass(slots=True)
class Minter:
    """Mints tokens for a contract's principals. `key` signs the good ones, `keys` finds those of other parties.

    `listening` gives the URL under which the issuer hears of a fetch, by name. `register` makes an opaque token known
    to the issuer, with what it tells of it and the way in which it answers. `holders` are those of the tokens minted so
    far, by label; `made` tells what is in them.
    """

    contract: Contract
    profile: TokenProfile
    key: SigningKey
    keys: KeyFinder
    clock: Clock
    redactor: Redactor
    listening: Callable[[str], str] | None = None
    register: Callable[[str, Mapping[str, object], str], None] | None = None
    holders: dict[str, Holder] = field(default_factory=dict)
    made: dict[str, Made] = field(default_factory=dict)
    _specs: dict[tuple[str, frozenset[str] | None], TokenSpec] = field(default_factory=dict)
    _minted: dict[Holder, tuple[TokenSpec, Minted]] = field(default_factory=dict)

    def spec(self, principal: str, scopes: frozenset[str] | None = None) -> TokenSpec:
        """Return the valid spec for a principal; `scopes` replaces those of the contract.

        It stays the same for half of the tokens' lifetime, so that a faulty token differs in nothing else from one that
        the server has accepted, and no good token expires in the middle of a long run.
        """
        known = self._specs.get((principal, scopes))
        if known is not None and self.clock() - known.now < self.profile.lifetime / 2:
            return known
        identity = identity_of(principal, self.who(principal))
        given = None if scopes is None else tuple(sorted(scopes))
        spec = good_token(self.profile, identity, self.key, self.clock(), scopes=given)
        self._specs[principal, scopes] = spec
        return spec

    def who(self, principal: str) -> Principal:
        """Return a principal of the contract, or a stranger whom the kit made up beside one."""
        known = self.contract.principals.get(principal)
        return stranger_named(self.contract, principal) if known is None else known

    def mint(
        self, principal: str, token: str, variant: str | None = None, scopes: frozenset[str] | None = None
    ) -> Minted:
        """Mint a token, "good" or with the named defect. Equal wishes get the same token."""
        wish = Holder(principal, None if token == GOOD else token, variant, scopes)
        spec = self.spec(principal, scopes)
        known = self._minted.get(wish)
        if known is not None and known[0] is spec:
            return known[1]
        heard = {} if self.listening is None else {"listening": self.listening}
        minted = mint_case(spec, wish.defect, variant, keys=self.keys, **heard)
        self._made_known(minted)
        label = self.redactor.label_of(minted.token) or minted.label
        self.holders.setdefault(label, wish)
        self.made.setdefault(label, Made(wish, minted, spec))
        self._minted[wish] = (spec, minted)
        return minted

    def _made_known(self, minted: Minted) -> None:
        self.redactor.register(minted.token, minted.label.rsplit("#", 1)[0])
        if minted.told is not None and self.register is not None:
            self.register(minted.token, minted.told, minted.answered)

    def fresh(
        self,
        principal: str,
        *,
        key: SigningKey | None = None,
        claims: Mapping[str, object] | None = None,
        change: Callable[[TokenSpec], TokenSpec] | None = None,
    ) -> Minted:
        """Mint a token of its own, valid by the clock of now: signed by another key, with other claims, or changed."""
        identity = identity_of(principal, self.who(principal))
        spec = good_token(self.profile, identity, key or self.key, self.clock())
        for name, value in (claims or {}).items():
            spec = spec.with_claim(name, value)
        minted = mint_case(spec if change is None else change(spec))
        self._made_known(minted)
        return minted

    def caller(self, principal: str) -> str:
        """Return who makes a call that a principal should make: whoever there are tokens for."""
        return principal

    def variants(self, defect: str, principal: str) -> tuple[str, ...]:
        """Return the variants of a defect that make a difference for a principal's token; ("",) for a single form."""
        return DEFECTS[defect].variants_for(self.spec(principal), self.keys)

    def forged(self, principal: str) -> Minted:
        """Return a token of the right form that a stranger signed."""
        return self.mint(principal, "malformed" if self.profile.opaque else "signed_by_stranger")


def shown(minted: Minted) -> TokenShown:
    """Return a token as a report may show it, with what is wrong with it in words."""
    change = ""
    if minted.defect is not None:
        sentence = DEFECTS[minted.defect].sentence.rstrip(".")
        sentence = sentence[0].lower() + sentence[1:]
        change = f"{sentence}; {minted.variant.replace('_', ' ')}" if minted.variant else sentence
    header: Mapping[str, object] = minted.header or {}
    return TokenShown(minted.label, header, minted.claims or {}, change)
