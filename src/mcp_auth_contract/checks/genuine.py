"""The tokens of a run with one genuine token: that token, and what tampering can make of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from mcp_auth_contract.checks import questions
from mcp_auth_contract.checks.minting import Minter, profile_of
from mcp_auth_contract.clock import Clock
from mcp_auth_contract.contract import Contract
from mcp_auth_contract.tokens import (
    DEFECTS,
    Algorithm,
    CannotSign,
    GenuineToken,
    Minted,
    TokenSpec,
    genuine_spec,
    obstacle,
    opaque_spec,
    parse_genuine,
    strangers_keys,
)
from mcp_auth_contract.tokens.spec import ScopeFormat, TokenProfile
from mcp_auth_contract.wire import Redactor

NO_DIFFERENCE = "the fault makes no difference for this token"
"""Why a case is not applicable to a genuine token though no key is missing for it."""

_OWN_ISSUER = "needs the kit's own issuer"
_OTHER_PRINCIPAL = "needs a token of another principal"
_OTHER_SCOPES = "needs a token with other scopes"
_CHANGED_CLAIM = "a changed claim would be refused for its signature"
_HIDDEN = "…"

_SHOWN_MEMBERS = frozenset({"iss", "aud", "exp", "nbf", "iat", "scope", "typ", "alg"})
"""Members of a genuine token whose values a report may show: the others may hold personal data."""

_SHORTEST_PART = 16
"""From this length on a part of a token is kept out of outputs by itself."""

_PART = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(slots=True, kw_only=True)
class GenuineMinter(Minter):
    """Hands out one genuine token, of `holder`, and what tampering makes of it. `good` is its spec."""

    holder: str
    good: TokenSpec = field(repr=False)
    _obstacles: dict[tuple[str, str | None], str | None] = field(default_factory=dict)

    def spec(self, principal: str, scopes: frozenset[str] | None = None) -> TokenSpec:
        """Return the spec of the genuine token; raises CannotSign for another principal or other scopes."""
        if principal != self.holder:
            raise CannotSign(_OTHER_PRINCIPAL)
        if scopes is not None:
            raise CannotSign(_OTHER_SCOPES)
        return self.good

    def caller(self, principal: str) -> str:  # noqa: ARG002  there is one token for all
        """Return the holder of the genuine token, who makes all calls."""
        return self.holder

    def mint(
        self, principal: str, token: str, variant: str | None = None, scopes: frozenset[str] | None = None
    ) -> Minted:
        """Return the genuine token, "good", or the same with the named defect; its members are hidden but for a few.

        Raises CannotSign for a token that only the issuer could make.
        """
        minted = Minter.mint(self, principal, token, variant, scopes)
        label = self.redactor.label_of(minted.token) or minted.label
        return replace(minted, label=label, header=_hidden(minted.header), claims=_hidden(minted.claims))

    def forged(self, principal: str) -> Minted:
        """Return a token of the right form that is not genuine."""
        for defect in ("signed_by_stranger", "signature_bit_flipped"):
            if self._obstacle(defect, None) is None:
                return self.mint(principal, defect)
        return self.mint(principal, "malformed")

    def variants(self, defect: str, principal: str) -> tuple[str, ...]:
        """Return the variants of a defect that tampering can make of the token."""
        if principal != self.holder:
            return ()
        return tuple(name for name in DEFECTS[defect].variants or ("",) if self._obstacle(defect, name) is None)

    def askable(self, question: questions.Question) -> questions.Question | str:
        """Return a question as it can be asked with the genuine token, or the reason why it cannot."""
        match question:
            case questions.FormQuestion(probe="timeline"):
                return _OWN_ISSUER
            case questions.FormQuestion(probe="leeway") | questions.OperationQuestion(probe="server_clock"):
                return _CHANGED_CLAIM
            case questions.FormQuestion(probe="identity"):
                return _OTHER_PRINCIPAL
            case questions.ScopeQuestion():
                return _OTHER_SCOPES
            case questions.SurfaceQuestion():
                return replace(question, principal=self.holder, scopes=None)
            case questions.AccessQuestion(probe="strangers"):
                return _OTHER_PRINCIPAL
            case questions.AccessQuestion(owner=owner, principal=principal):
                if {owner, principal} != {self.holder}:
                    return _OTHER_PRINCIPAL
                return self._unscoped(question)
            case questions.CallQuestion() | questions.MethodQuestion() if question.token != questions.NO_TOKEN:
                if question.principal not in (None, self.holder):
                    return _OTHER_PRINCIPAL
                asked = self._unscoped(question) if isinstance(question, questions.CallQuestion) else question
                found = self._refusal(question.token, question.variant) if question.token in DEFECTS else None
                return asked if found is None or isinstance(asked, str) else found
            case questions.CallQuestion(principal=str()):
                return replace(question, principal=self.holder, scopes=None)
            case questions.ParityQuestion() | questions.OperationQuestion(principal=str()):
                return replace(question, principal=self.holder)
            case _:
                return question

    def _unscoped(self, question: questions.CallQuestion | questions.AccessQuestion) -> questions.Question | str:
        if question.scopes is not None and question.scopes != self.scopes():
            return _OTHER_SCOPES
        return replace(question, scopes=None)

    def scopes(self) -> frozenset[str] | None:
        """Return the scopes that the token lists; None where it does not say."""
        listed = self.good.claims.get(self.profile.scope_claim)
        if isinstance(listed, str):
            return frozenset(listed.split())
        if isinstance(listed, list):
            return frozenset(one for one in listed if isinstance(one, str))
        return None

    def _made_known(self, minted: Minted) -> None:
        _keep_out(self.redactor, minted.token, minted.label.rsplit("#", 1)[0])

    def _refusal(self, defect: str, variant: str | None) -> str | None:
        found = DEFECTS[defect]
        if found.fetched or found.introspected:
            return _OWN_ISSUER
        reason = self._obstacle(defect, variant)
        return NO_DIFFERENCE if reason == "" else reason

    def _obstacle(self, defect: str, variant: str | None) -> str | None:
        wanted = (defect, variant or None)
        if wanted not in self._obstacles:
            self._obstacles[wanted] = obstacle(self.good, defect, variant, self.keys)
        return self._obstacles[wanted]


def genuine_minter(
    contract: Contract, holder: str, token: str, *, resource: str, clock: Clock, redactor: Redactor
) -> GenuineMinter:
    """Return the minter of a run with a genuine token, which `redactor` then keeps out of every output."""
    parts = parse_genuine(token)
    _keep_out(redactor, token, "token-genuine")
    profile = _profile(contract, parts, resource)
    now = clock()
    good = opaque_spec(token, profile, now) if parts is None else genuine_spec(parts, profile, now)
    return GenuineMinter(
        contract=contract,
        profile=profile,
        key=good.key,
        keys=strangers_keys(),
        clock=clock,
        redactor=redactor,
        holder=holder,
        good=good,
    )


def _keep_out(redactor: Redactor, token: str, name: str) -> None:
    """Register a token, and what stands behind its header: a tampered one holds the genuine payload or signature."""
    redactor.register(token, name)
    for part in _PART.findall(token.partition(".")[2]):
        if len(part) >= _SHORTEST_PART:
            redactor.register(part, name)


def _profile(contract: Contract, parts: GenuineToken | None, resource: str) -> TokenProfile:
    """Return how the server reads its tokens: what the contract says, and what the token itself shows."""
    claims: Mapping[str, object] = {} if parts is None else parts.claims
    issuer, audience = claims.get("iss"), claims.get("aud")
    stated = profile_of(contract, issuer if isinstance(issuer, str) else "", resource)
    listed = isinstance(claims.get(stated.scope_claim), list)
    typ = None if parts is None else parts.header.get("typ")
    algorithm = None if parts is None else parts.algorithm
    return replace(
        stated,
        audience=audience if isinstance(audience, str) else resource,
        scope_format=ScopeFormat.LIST if listed else ScopeFormat.STRING,
        typ=typ if isinstance(typ, str) else None,
        algorithm=algorithm or Algorithm.RS256,
        algorithms=frozenset(),
        opaque=parts is None,
    )


def _hidden(members: Mapping[str, object] | None) -> Mapping[str, object] | None:
    if members is None:
        return None
    return MappingProxyType({name: value if name in _SHOWN_MEMBERS else _HIDDEN for name, value in members.items()})
