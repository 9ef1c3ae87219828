"""Where the tokens of a run come from: the kit's own issuer, or one genuine token of somebody else's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from mcp_auth_contract.checks.genuine import NO_DIFFERENCE, GenuineMinter, genuine_minter
from mcp_auth_contract.checks.issuer_control import IssuerControl
from mcp_auth_contract.checks.minting import Minter, profile_of
from mcp_auth_contract.clock import Clock
from mcp_auth_contract.contract import Contract, control_operation, operations, principal_for
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution.genuine_plan import as_askable
from mcp_auth_contract.execution.issuer_control import Powers
from mcp_auth_contract.execution.options import Given
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.issuer.control import IssuerName
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.plan import Plan
from mcp_auth_contract.suggest import suggest
from mcp_auth_contract.tokens import parse_genuine
from mcp_auth_contract.wire import Redactor

_SHORT_LIFE_S = 60.0
_OTHER_REASONS = (None, NO_DIFFERENCE)

Variants: TypeAlias = Callable[[str], Sequence[str]]


class Credentials(Protocol):
    """The tokens of one run. `own_issuers` are the URLs of the kit's own, `ca_files` what to trust for them."""

    @property
    def own_issuers(self) -> frozenset[str]: ...
    @property
    def issuer_control(self) -> IssuerControl | None: ...
    @property
    def ca_files(self) -> tuple[str, ...]: ...

    def minter(self, resource: str, clock: Clock) -> Minter:
        """Return what mints tokens about a resource, by the server's clock."""
        ...

    def variants(self, minter: Minter, principal: str) -> Variants | None:
        """Return what names the variants of a defect to plan for; None for all there are."""
        ...

    def limited(self, plan: Plan) -> tuple[Plan, tuple[str, ...]]:
        """Return a plan as far as these tokens allow it, and what the report has to say about that."""
        ...


@dataclass(frozen=True, slots=True)
class OwnIssuer(Credentials):
    """Tokens of the kit's own issuer, whose keys are at hand: everything can be asked."""

    contract: Contract
    issuer: EmbeddedIssuer
    redactor: Redactor

    @property
    def own_issuers(self) -> frozenset[str]:
        return frozenset(self.issuer.url_of(name) for name in IssuerName)

    @property
    def issuer_control(self) -> IssuerControl:
        return Powers(self.issuer)

    @property
    def ca_files(self) -> tuple[str, ...]:
        return () if self.issuer.ca_file is None else (str(self.issuer.ca_file),)

    def minter(self, resource: str, clock: Clock) -> Minter:
        return Minter(
            self.contract,
            profile_of(self.contract, self.issuer.url, resource),
            self.issuer.signing_key(),
            self.issuer.key_of,
            clock,
            self.redactor,
            self.issuer.listening_url,
            Powers(self.issuer).register,
        )

    def variants(self, minter: Minter, principal: str) -> Variants:
        return lambda defect: minter.variants(defect, principal)

    def limited(self, plan: Plan) -> tuple[Plan, tuple[str, ...]]:
        return plan, ()


@dataclass(frozen=True, slots=True)
class GivenToken:
    """One genuine token, from the environment variable `variable`: tampering and transport are all there is to ask."""

    made: GenuineMinter
    variable: str
    own_issuers: frozenset[str] = frozenset()
    issuer_control: IssuerControl | None = None
    ca_files: tuple[str, ...] = ()

    def minter(self, _resource: str, _clock: Clock) -> Minter:
        return self.made

    def variants(self, _minter: Minter, _principal: str) -> None:
        return None

    def limited(self, plan: Plan) -> tuple[Plan, tuple[str, ...]]:
        asked = as_askable(plan, self.made.contract, self.made.askable)
        pairs = zip(plan.cases, asked.cases, strict=True)
        left_out = sum(
            1 for before, after in pairs if before.inapplicable is None and after.inapplicable not in _OTHER_REASONS
        )
        need, were = ("case that needs", "was") if left_out == 1 else ("cases that need", "were")
        note = f"run with a genuine token from ${self.variable}: {left_out} {need} the issuer's key {were} not run"
        return asked, (note, *self._expiry())

    def _expiry(self) -> tuple[str, ...]:
        left = seconds_left(self.made)
        if left is None or left >= _SHORT_LIFE_S:
            return ()
        return (f"the token had {left:.0f} s left at the start; a run that outlives it is inconclusive",)


def given_token(contract: Contract, given: Given, clock: Clock, redactor: Redactor) -> GivenToken:
    """Return the credentials of a run of a resolved contract with a genuine token.

    Raises UsageError for a token that has expired or speaks for somebody else, a principal that the contract does not
    know, and one who can make no control call.
    """
    holder = _holder(contract, given)
    prepared = _for_holder(_for_token(contract, given.token), holder)
    target = prepared.target
    resource = target.resource or target.endpoint
    made = genuine_minter(prepared, holder, given.token, resource=resource, clock=clock, redactor=redactor)
    left = seconds_left(made)
    if left is not None and left <= 0:
        raise UsageError(f"--token-env {given.variable}: the token expired {-left:.0f} s ago; put a new one there")
    return GivenToken(made, given.variable)


def seconds_left(minter: GenuineMinter) -> float | None:
    """Return how long the token is still valid by the clock of now; None where it does not say."""
    expires = minter.good.claims.get("exp")
    if not isinstance(expires, int | float) or isinstance(expires, bool):
        return None
    return expires - minter.clock()


def _holder(contract: Contract, given: Given) -> str:
    """Return whom the token speaks for: the principal that was named, else the one with the token's subject.

    Where no principal has it, or several have, it is the one who makes the control call.
    """
    parts = parse_genuine(given.token)
    subject = None if parts is None else parts.claims.get(contract.claims.subject)
    alike = [name for name, one in contract.principals.items() if one.subject == subject]
    named = given.principal
    if named is None:
        return alike[0] if len(alike) == 1 else principal_for(contract, control_operation(contract))
    if named not in contract.principals:
        raise UsageError(f'--principal: the contract has no principal "{named}"; {suggest(named, contract.principals)}')
    if alike and named not in alike:
        raise UsageError(
            f"--principal {named}: the token in {given.variable} speaks for {' or '.join(alike)}, by its claim "
            f"{contract.claims.subject}; name that principal, or put a token of {named} there"
        )
    return named


def _for_token(contract: Contract, token: str) -> Contract:
    """Return the contract with a table issuer that says what the token shows."""
    parts = parse_genuine(token)
    shown: dict[str, object] = {"tokens": "opaque" if parts is None else "jwt"}
    if parts is not None and parts.algorithm is not None:
        shown["algorithms"] = (str(parts.algorithm),)
    return contract.model_copy(update={"issuer": contract.issuer.model_copy(update=shown)})


def _for_holder(contract: Contract, holder: str) -> Contract:
    """Return the contract with the holder first in every choice, and a control call that the holder can make."""
    others = {name: one for name, one in contract.principals.items() if name != holder}
    first = contract.model_copy(update={"principals": {holder: contract.principals[holder], **others}})
    if principal_for(first, control_operation(first)) == holder:
        return first
    for wanted in operations(first):
        if wanted.kind is not OperationKind.TOOL or wanted.public or wanted.effect is Effect.WRITE:
            continue
        if principal_for(first, wanted) == holder:
            tools = tuple(tool.model_copy(update={"control": tool.name == wanted.name}) for tool in first.tools)
            return first.model_copy(update={"tools": tools})
    raise UsageError(f'--principal: "{holder}" may call no tool that reads; name another, or declare such a tool')
