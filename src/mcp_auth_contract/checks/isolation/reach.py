"""Arguments that reach further: an id with a tenant or a path in it, a search with wildcards and operators."""

from collections.abc import Iterator

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.isolation.observation import ReachObserved
from mcp_auth_contract.checks.isolation.probe import asked, canary_of, owner_and_other, record_of
from mcp_auth_contract.checks.isolation.writes import naming
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import AccessQuestion
from mcp_auth_contract.contract import Contract, Operation, Record, Ways, operation_of
from mcp_auth_contract.model import OperationKind


@probe("Does an argument in another form reach another principal's record?", ways=Ways.REACHES)
async def ask_reach(question: AccessQuestion, context: Context) -> ReachObserved:
    """Let another principal take the way as it is, and then with arguments that name more than an id or a word."""
    operation, contract = question.operation, context.contract
    owner, other = owner_and_other(question, context)
    record, canary = record_of(contract, question.record), canary_of(contract, question.record)
    first = await asked(owner, operation, "control", until=canary)
    plain = await asked(other, operation, "plain")
    # What is asked for may be repeated in the answer, and would look like the record.
    forms = [one for one in _forms(contract, record, operation) if canary.text not in one[0]]
    tried = tuple([await asked(other, called, form) for form, called in forms])
    own = (first, await asked(owner, operation, "control again", until=canary))
    return ReachObserved(question.owner, question.principal, canary, own, plain, tried)


def _forms(contract: Contract, record: Record, operation: Operation) -> Iterator[tuple[str, Operation]]:
    """Yield the value that is asked for, and the call that asks for it."""
    owner = contract.principals[record.owner]
    if any(operation_of(contract, path) == operation for path in record.reads):
        for value, make in naming(record, operation):
            for form in dict.fromkeys(_ids(value, owner.subject, owner.tenant)):
                yield form, make(form)
        return
    name = next((name for name, value in operation.arguments.items() if isinstance(value, str)), None)
    if name is None or operation.kind is OperationKind.RESOURCE:
        return
    for form in dict.fromkeys(_queries(operation.arguments[name], owner.subject, owner.tenant)):
        yield form, operation.calling({**operation.arguments, name: form})


def _ids(plain: str, subject: str, tenant: str | None) -> Iterator[str]:
    """Yield an id with its owner in it, and in other spellings."""
    for place in (tenant, subject, None if tenant is None else f"{tenant}/{subject}"):
        if place is not None:
            yield f"{place}/{plain}"
            yield f"../{place}/{plain}"
    place = tenant or subject
    yield f"{place}:{plain}"
    yield f"..%2f{place}%2f{plain}"
    yield f"{plain}?tenant={place}"
    yield f"./{plain}"
    yield f"{plain}%00"
    yield f"%{ord(plain[0]):02x}{plain[1:]}"
    yield plain.swapcase()


def _queries(plain: str, subject: str, tenant: str | None) -> Iterator[str]:
    """Yield searches for everything, and for what is another's, as the languages of databases write them."""
    yield from ("*", "%", ".*", "", "' OR '1'='1", f"{plain}' OR '1'='1' --", f"{plain} OR 1=1", '{"$ne": null}')
    yield f"owner:{subject}"
    if tenant is not None:
        yield f"tenant:{tenant}"
