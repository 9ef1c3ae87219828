"""One check on its way to cases: over which operations, scopes, records and tokens it is asked."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from mcp_auth_contract.catalogue import Axis, Check, Need, ScopeChoice
from mcp_auth_contract.contract import (
    Contract,
    Operation,
    accesses,
    control_operation,
    implying,
    no_access,
    operations,
    principal_for,
    satisfies,
)
from mcp_auth_contract.model import Effect, OperationKind, Revision
from mcp_auth_contract.plan.case import Base, Case
from mcp_auth_contract.plan.ways import forbidden_write, ways_of
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.scopes.bypass_words import bypass_asks
from mcp_auth_contract.checks.vocabulary import PROBES
from mcp_auth_contract.tokens.defects import DEFECTS

__all__ = ["UNKNOWN_SCOPES", "Expansion", "method_exists", "runs_on"]

_STATELESS_METHODS = frozenset({"server/discover"})
_STATEFUL_METHODS = frozenset({"initialize", "ping"})
UNKNOWN_SCOPES = frozenset({"openid", "unknown:probe"})
"""Scopes that a token may hold besides those of the contract: one of OpenID Connect, and one that nobody knows."""


def runs_on(check: Check, revision: Revision, revisions: tuple[Revision, ...], every_revision: bool) -> bool:
    """Whether a check runs on a revision: the first it applies to, and each other one if it is a core check."""
    if not check.applies_to(revision):
        return False
    earlier = revisions[: revisions.index(revision)]
    return every_revision or check.core or not any(check.applies_to(one) for one in earlier)


def _out_of_range(check: Check, revisions: tuple[Revision, ...]) -> str:
    since = f"from {check.since} " if check.since else ""
    until = f"up to {check.until} " if check.until else ""
    return f"applies {since}{until}only; this run covers {', '.join(revisions)}"


@dataclass(frozen=True, slots=True)
class Expansion:
    """One check on its way to cases. `variants` names the variants of a defect that make a difference."""

    check: Check
    contract: Contract
    revisions: tuple[Revision, ...]
    every_revision: bool
    variants: Callable[[str], Sequence[str]]

    def cases(self) -> Iterator[Case]:
        """Yield the cases in the order of the revisions; one that is settled already where the check does not apply."""
        check = self.check
        if not any(check.applies_to(revision) for revision in self.revisions):
            yield Case(check.id, check, None, None, settled=_out_of_range(check, self.revisions))
            return
        if reason := self._unmet():
            yield Case(check.id, check, None, None, settled=reason)
            return
        if check.over is Axis.ONCE:
            yield self._once()
            return
        cases = [
            case
            for revision in self.revisions
            if runs_on(check, revision, self.revisions, self.every_revision)
            for case in self._on(revision)
        ]
        if not cases and any(token in DEFECTS for token in check.tokens):
            yield Case(check.id, check, None, None, settled=self._meaningless())
        elif not cases and (nothing := self._nothing_there()):
            yield Case(check.id, check, None, None, settled=nothing)
        yield from cases

    def _nothing_there(self) -> str | None:
        """Why a check over scopes has no case; None for one whose absence needs no word."""
        if self.check.over is Axis.RECORDS:
            return "; ".join(no_access(self.contract, ways) for ways in ways_of(self.check))
        if self.check.over is Axis.IMPLIED_SCOPES:
            return "no scope that an operation needs is part of another one (policy.implies)"
        if self.check.over is Axis.FREE_OPERATIONS:
            return "every operation of the contract needs a scope"
        if self.check.scopes is ScopeChoice.UNRELATED:
            return "no operation of the contract that this could be asked of needs a scope"
        return None

    def _meaningless(self) -> str:
        if self.contract.issuer.tokens == "opaque":
            return "no opaque token can have this fault"
        return "the fault makes no difference for the issuer, the audience and the claims of this contract"

    def _unmet(self) -> str | None:
        claims = self.contract.claims
        needs = self.check.needs
        if Need.AUDIT in needs and self.contract.audit is None:
            return "the contract names no audit log"
        if Need.SUBJECT in needs and claims.subject not in claims.required:
            return f'claims.required does not name the subject claim "{claims.subject}"'
        if Need.TENANT in needs and claims.tenant not in claims.required:
            return f'claims.required does not name the tenant claim "{claims.tenant}"'
        opaque = self.contract.issuer.tokens == "opaque"
        if opaque and (Need.JWT in needs or Need.RSA in needs):
            return 'the tokens are opaque (issuer.tokens = "opaque")'
        if Need.OPAQUE in needs and not opaque:
            return 'the tokens are JWTs (issuer.tokens = "jwt")'
        if Need.TOOL_CHALLENGE in needs and self.contract.policy.challenge == "http":
            return 'refusals are HTTP statuses here (policy.challenge = "http")'
        if Need.TOOL_CHALLENGE in needs and not any(tool.scopes != () for tool in self.contract.tools):
            return "the contract declares no protected tool"
        if Need.RSA in needs and self.contract.issuer.algorithms[0] not in ("RS256", "PS256"):
            return f"the issuer signs with {self.contract.issuer.algorithms[0]}, not with an RSA key"
        return None

    def _once(self) -> Case:
        control = control_operation(self.contract)
        question = Question(self.check.probe)
        if self.check.probe == "parity":
            question = replace(question, operation=control, principal=principal_for(self.contract, control))
        if self.check.probe == "surface":
            principal = principal_for(self.contract, control)
            question = replace(question, revision=self.revisions[0], principal=principal, scopes=self._every())
        base = self._base(self.revisions[0], control) if Need.CONTROL in self.check.needs else None
        return Case(self.check.id, self.check, None, question, base)

    def _on(self, revision: Revision) -> Iterator[Case]:
        check = self.check
        if check.over is Axis.RECORDS:
            yield from self._records(revision)
            return
        if check.over is Axis.CONTROL:
            yield from self._about(revision, control_operation(self.contract), None)
            return
        if check.over is Axis.FREE_OPERATIONS:
            for operation in operations(self.contract):
                if not operation.scopes:
                    yield from self._about(revision, operation, None)
            return
        guarded = [operation for operation in operations(self.contract) if not operation.public]
        if Need.TOOL_CHALLENGE in check.needs:
            guarded = [operation for operation in guarded if operation.kind is OperationKind.TOOL]
        for operation in guarded:
            if check.over is Axis.IMPLIED_SCOPES:
                for broad in sorted(self._broader(operation)):
                    yield from self._about(revision, operation, broad)
            elif check.over is Axis.OPERATIONS:
                yield from self._about(revision, operation, None)
            else:
                for scope in operation.scopes:
                    yield from self._about(revision, operation, scope)

    def _records(self, revision: Revision) -> Iterator[Case]:
        """One case for each way of a principal to a record; the probe brings its controls along."""
        check, known = self.check, Counter[str]()
        for access in (access for ways in ways_of(check) for access in accesses(self.contract, ways)):
            question = Question(
                check.probe,
                revision=revision,
                operation=access.operation,
                principal=access.principal,
                token="good",  # noqa: S106  the name of the unbroken token
                scopes=access.scopes,
                owner=access.owner,
                record=access.record,
            )
            label = f"{access.record or access.owner}:{access.principal}:{access.operation.name}"
            known[label] += 1
            # The same tool may lead to a record with other arguments.
            label = label if known[label] == 1 else f"{label}:{known[label]}"
            settled = forbidden_write(check, self.contract, access)
            yield Case(f"{check.id}[{label}]", check, revision, question, settled=settled)

    def _about(self, revision: Revision, operation: Operation, missing: str | None) -> Iterator[Case]:
        check = self.check
        scopeless = (ScopeChoice.NONE, ScopeChoice.UNRELATED, ScopeChoice.SUPERSET)
        if check.scopes in scopeless and not operation.scopes and check.over is not Axis.FREE_OPERATIONS:
            return
        settled = None
        if Need.TOOL_CHALLENGE in check.needs and check.probe == "call" and operation.kind is not OperationKind.TOOL:
            settled = f"a challenge in a tool result is no answer to a {operation.kind} request"
        if operation.effect is Effect.WRITE and not self.contract.policy.writes:
            settled = "the contract allows no writes (policy.writes = false)"
        base = self._base(revision, operation) if Need.CONTROL in check.needs else None
        for label, question in self._questions(revision, operation, missing):
            own = base
            if own is not None and own.question == question:
                # A call cannot be its own control: what must hold before it is the contract's control call.
                own = self._base(revision, control_operation(self.contract), principal_scopes=True)
            gate = None
            if Need.GATED in check.needs:
                gate = Question("call", revision=revision, operation=operation, principal=question.principal)
            parts = [operation.name, *([missing] if missing else []), *label]
            name = f"{check.id}[{':'.join(parts)}]"
            twin = self._twin(question)
            yield Case(name, check, revision, question, own, gate, twin, missing, settled)

    def _twin(self, question: Question) -> Question | None:
        if self.check.twin is None:
            return None
        offered = self.variants(self.check.twin)
        variant = question.variant if question.variant in offered else next(iter(offered), "")
        return replace(question, token=self.check.twin, variant=variant or None, carrier="bearer", tries=1)

    def _base(self, revision: Revision, operation: Operation, *, principal_scopes: bool = False) -> Base:
        every = (Axis.OPERATIONS, Axis.MISSING_SCOPES, Axis.IMPLIED_SCOPES)
        exact = self.check.over in every and not principal_scopes
        return Base(
            Question(
                "call",
                revision=revision,
                operation=operation,
                principal=principal_for(self.contract, operation),
                token="good",  # noqa: S106  the name of the unbroken token
                scopes=frozenset(operation.scopes) if exact else None,
            )
        )

    def _questions(
        self, revision: Revision, operation: Operation, missing: str | None
    ) -> Iterator[tuple[list[str], Question]]:
        check = self.check
        common = Question(
            check.probe,
            revision=revision,
            operation=operation,
            principal=principal_for(self.contract, operation),
            scopes=self._scopes(operation, missing),
            tries=check.tries,
        )
        if PROBES[check.probe].takes == frozenset():
            yield [], common
            return
        for word in check.variants or ("",):
            if check.probe == "method" and not method_exists(word, revision):
                continue
            if check.probe == "bypass" and not bypass_asks(word, operation.kind, revision):
                continue
            for token in check.tokens or ("none",):
                for variant in self.variants(token) if token in DEFECTS else ("",):
                    for carrier in check.carriers or ("bearer",):
                        named = [word] if word else []
                        named += [token] if len(check.tokens) > 1 else []
                        named += [variant] if variant else []
                        named += [carrier] if len(check.carriers) > 0 else []
                        yield named, replace(common, token=token, variant=variant or None, carrier=carrier, word=word)

    def _scopes(self, operation: Operation, missing: str | None) -> frozenset[str] | None:
        match self.check.scopes:
            case ScopeChoice.PRINCIPAL:
                return None
            case ScopeChoice.EXACT:
                return frozenset(operation.scopes)
            case ScopeChoice.NONE:
                return frozenset()
            case ScopeChoice.MISSING:
                return self._every() - implying(self.contract, missing or "")
            case ScopeChoice.SUPERSET:
                return self._every() | UNKNOWN_SCOPES
            case ScopeChoice.BROADER:
                broad = frozenset({missing or ""})
                return broad | {one for one in operation.scopes if not satisfies(self.contract, broad, (one,))}
            case ScopeChoice.UNRELATED:
                return self._every().difference(*(implying(self.contract, one) for one in operation.scopes))

    def _every(self) -> frozenset[str]:
        """Every scope that an operation of the contract needs."""
        return frozenset(scope for each in operations(self.contract) for scope in each.scopes)

    def _broader(self, operation: Operation) -> set[str]:
        """The scopes that imply one of an operation's, and are none of them."""
        wider = set[str]().union(*(implying(self.contract, one) for one in operation.scopes))
        return wider - set(operation.scopes)


def method_exists(word: str, revision: Revision) -> bool:
    """Whether a revision has a method of the protocol."""
    gone = _STATEFUL_METHODS if revision.stateless else _STATELESS_METHODS
    return word not in gone
