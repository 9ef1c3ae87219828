"""One check on its way to cases: over which operations, scopes, records and tokens it is asked."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from mcp_auth_contract.catalogue import Axis, Check, Need, ScopeChoice
from mcp_auth_contract.checks.probing import Probe
from mcp_auth_contract.checks.questions import (
    GOOD,
    NO_TOKEN,
    AccessQuestion,
    BypassQuestion,
    CallQuestion,
    FormQuestion,
    MethodQuestion,
    OperationQuestion,
    ParityQuestion,
    Question,
    ScopeQuestion,
    SurfaceQuestion,
)
from mcp_auth_contract.checks.registry import PROBES
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
    tool_call,
)
from mcp_auth_contract.model import Effect, Level, OperationKind, Revision
from mcp_auth_contract.plan.case import Base, Case
from mcp_auth_contract.plan.needs import unmet
from mcp_auth_contract.plan.ways import FORBIDDEN, forbidden_write, has_no_effect, undecided, ways_of
from mcp_auth_contract.tokens.defects import DEFECTS

UNKNOWN_SCOPES = frozenset({"openid", "unknown:probe"})
"""Scopes that a token may hold besides those of the contract: one of OpenID Connect, and one that nobody knows."""


_OF_MESSAGES = frozenset({"app", "challenge", "isolation", "leak", "scope", "tool-challenge"})
"""The families of checks about what is done with messages, for which each era has code of its own."""


def runs_on(check: Check, revision: Revision, revisions: tuple[Revision, ...], every_revision: bool) -> bool:
    """Whether a check runs on a revision: the first it applies to, and each other one if it is a core check.

    What one era may get right and the other wrong runs on the first revision of each.
    """
    if not check.applies_to(revision):
        return False
    earlier = [one for one in revisions[: revisions.index(revision)] if check.applies_to(one)]
    if every_revision or check.core or not earlier:
        return True
    other_era = all(one.stateless is not revision.stateless for one in earlier)
    return other_era and (_of_messages(check) or _of_tokens(check))


def _of_messages(check: Check) -> bool:
    return check.family in _OF_MESSAGES or bool(check.presentations)


def _of_tokens(check: Check) -> bool:
    """Whether it is about the verification of tokens, which an era may have forgotten: one variant tells."""
    return check.level is Level.MUST and check.family == "token" and any(token in DEFECTS for token in check.tokens)


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
        """Yield the cases in the order of the revisions; one that is not applicable where the check does not apply."""
        check = self.check
        if not any(check.applies_to(revision) for revision in self.revisions):
            yield Case(check.id, check, None, None, inapplicable=_out_of_range(check, self.revisions))
            return
        if reason := unmet(self.check, self.contract):
            yield Case(check.id, check, None, None, inapplicable=reason)
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
            yield Case(check.id, check, None, None, inapplicable=self._meaningless())
        elif not cases and (nothing := self._nothing_there()):
            yield Case(check.id, check, None, None, inapplicable=nothing)
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

    @property
    def _probe(self) -> Probe:
        return PROBES[self.check.probe]

    def _once(self) -> Case:
        control = control_operation(self.contract)
        principal = principal_for(self.contract, control)
        question = Question(probe=self.check.probe)
        if self._probe.question is ParityQuestion:
            question = ParityQuestion(probe=self.check.probe, operation=control, principal=principal)
        elif self._probe.question is SurfaceQuestion:
            question = SurfaceQuestion(
                probe=self.check.probe, revision=self.revisions[0], principal=principal, scopes=self._every()
            )
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
        if check.over is Axis.VIEWS:
            for view in self.contract.views:
                yield from self._about(revision, tool_call(self.contract, view.tool, view.arguments), None)
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
            question = AccessQuestion(
                probe=check.probe,
                revision=revision,
                operation=access.operation,
                principal=access.principal,
                scopes=access.scopes,
                owner=access.owner,
                record=access.record,
            )
            label = f"{access.record or access.owner}:{access.principal}:{access.operation.name}"
            known[label] += 1
            # The same tool may lead to a record with other arguments.
            label = label if known[label] == 1 else f"{label}:{known[label]}"
            tool = forbidden_write(check, self.contract, access)
            inapplicable = FORBIDDEN if tool is not None and self.contract.writes_decided else None
            unasked = undecided(tool) if tool is not None and inapplicable is None else None
            name = f"{check.id}[{label}]"
            yield Case(name, check, revision, question, inapplicable=inapplicable, unasked=unasked)

    def _about(self, revision: Revision, operation: Operation, missing: str | None) -> Iterator[Case]:
        check = self.check
        scopeless = (ScopeChoice.NONE, ScopeChoice.UNRELATED, ScopeChoice.SUPERSET)
        if check.scopes in scopeless and not operation.scopes and check.over is not Axis.FREE_OPERATIONS:
            return
        inapplicable = unasked = None
        if Need.TOOL_CHALLENGE in check.needs and check.probe == "call" and operation.kind is not OperationKind.TOOL:
            inapplicable = f"a challenge in a tool result is no answer to a {operation.kind} request"
        base = None
        if Need.CONTROL in check.needs:
            # A tool with a View may have something else for clients that show none, such as those of control calls.
            bracketed = control_operation(self.contract) if check.over is Axis.VIEWS else operation
            base = self._base(revision, bracketed)
        if operation.effect is Effect.WRITE and not self.contract.policy.writes:
            if self.contract.writes_decided:
                inapplicable = FORBIDDEN
            elif not has_no_effect(check):
                unasked = undecided(operation.name)
            elif base is not None:
                base = self._base(revision, control_operation(self.contract), principal_scopes=True)
        for label, question in self._questions(revision, operation, missing):
            own = base
            if own is not None and own.question == question:
                # A call cannot be its own control: what must hold before it is the contract's control call.
                own = self._base(revision, control_operation(self.contract), principal_scopes=True)
            tokenless = None
            if Need.GATED in check.needs:
                tokenless = CallQuestion(
                    probe="call", revision=revision, operation=operation, principal=question.principal
                )
            parts = [operation.name, *([missing] if missing else []), *label]
            name = f"{check.id}[{':'.join(parts)}]"
            baseline = self._baseline(question)
            yield Case(name, check, revision, question, own, tokenless, baseline, missing, inapplicable, unasked)

    def _baseline(self, question: OperationQuestion) -> CallQuestion | None:
        if self.check.baseline is None or not isinstance(question, CallQuestion):
            return None
        offered = self.variants(self.check.baseline)
        variant = question.variant if question.variant in offered else next(iter(offered), "")
        return replace(question, token=self.check.baseline, variant=variant or None, presentation="bearer", tries=1)

    def _base(self, revision: Revision, operation: Operation, *, principal_scopes: bool = False) -> Base:
        every = (Axis.OPERATIONS, Axis.MISSING_SCOPES, Axis.IMPLIED_SCOPES)
        exact = self.check.over in every and not principal_scopes
        return Base(
            CallQuestion(
                probe="call",
                revision=revision,
                operation=operation,
                principal=principal_for(self.contract, operation),
                token=GOOD,
                scopes=frozenset(operation.scopes) if exact else None,
            )
        )

    def _questions(
        self, revision: Revision, operation: Operation, missing: str | None
    ) -> Iterator[tuple[list[str], OperationQuestion]]:
        """Yield what the check asks about an operation, each with the words that tell it from the others."""
        check, kind = self.check, self._probe.question
        about: OperationQuestion = OperationQuestion(
            probe=check.probe,
            revision=revision,
            operation=operation,
            principal=principal_for(self.contract, operation),
        )
        common = {each.name: getattr(about, each.name) for each in fields(about)}
        if kind is OperationQuestion:
            yield [], about
        elif kind is ScopeQuestion:
            yield [], ScopeQuestion(**common, scopes=self._token_scopes(operation, missing))
        elif kind is CallQuestion:
            scopes = self._scopes(operation, missing)
            for named, token, variant in self._tokens(revision):
                for presentation in check.presentations or ("bearer",):
                    yield (
                        [*named, presentation] if check.presentations else named,
                        CallQuestion(
                            **common,
                            token=token,
                            variant=variant,
                            scopes=scopes,
                            presentation=presentation,
                            tries=check.tries,
                        ),
                    )
        else:
            for form in check.forms:
                if not self._probe.exists(form, operation, revision):
                    continue
                if kind is MethodQuestion:
                    for named, token, variant in self._tokens(revision):
                        yield [form, *named], MethodQuestion(**common, form=form, token=token, variant=variant)
                elif kind is BypassQuestion:
                    yield [form], BypassQuestion(**common, form=form, scopes=self._token_scopes(operation, missing))
                else:
                    yield [form], FormQuestion(**common, form=form)

    def _tokens(self, revision: Revision) -> Iterator[tuple[list[str], str, str | None]]:
        """Yield the tokens of the check, variant by variant, each with its words; where one will do, the first."""
        tokens = self.check.tokens or (NO_TOKEN,)
        whole = self.check.core or _of_messages(self.check) or self._first(revision)
        for token in tokens:
            variants = self.variants(token) if token in DEFECTS else ("",)
            for variant in variants if whole else variants[:1]:
                named = [token] if len(tokens) > 1 else []
                yield [*named, variant] if variant else named, token, variant or None

    def _first(self, revision: Revision) -> bool:
        """Whether everything is asked in a revision: in the first to which the check applies, or in all."""
        return self.every_revision or revision is next(filter(self.check.applies_to, self.revisions), None)

    def _token_scopes(self, operation: Operation, missing: str | None) -> frozenset[str]:
        scopes = self._scopes(operation, missing)
        if scopes is None:
            raise ValueError(f"{self.check.id}: the probe {self.check.probe} needs scopes")
        return scopes

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
