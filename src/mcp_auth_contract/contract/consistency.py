"""What the tables of a contract demand of each other."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from mcp_auth_contract.contract.models import Contract, RecordPath, Resource, Tool
from mcp_auth_contract.contract.operations import control_operation, operations
from mcp_auth_contract.contract.problems import Problem
from mcp_auth_contract.contract.templates import template_variables
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.suggest import suggest

_REGISTERED = frozenset({"aud", "exp", "iat", "iss", "jti", "nbf"})
"""Claims of RFC 7519 section 4.1 that the kit sets in every token."""


def inconsistencies(contract: Contract, *, resolved: bool) -> list[Problem]:
    """Return what two places of the contract say against each other; a name with a variable in it may be right."""
    problems = [
        *_names(contract),
        *_control(contract),
        *_templates(contract, resolved=resolved),
        *_tools(contract, resolved=resolved),
        *_once_each(contract),
        *_inputs(contract),
        *_apps(contract),
        *_claims(contract),
        *_records(contract),
        *_paths(contract, resolved=resolved),
        *_canaries(contract, resolved=resolved),
    ]
    return problems if resolved else [problem for problem in problems if "${" not in str(problem)]


def _names(contract: Contract) -> Iterator[Problem]:
    for table in ("tools", "resources", "prompts", "records"):
        names = [one.uri if isinstance(one, Resource) else one.name for one in getattr(contract, table)]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                yield Problem(f"{table}[{name}]", f"declared {names.count(name)} times", "keep one of them")


def _control(contract: Contract) -> Iterator[Problem]:
    declared = operations(contract)
    named = [tool.name for tool in contract.tools if tool.control]
    if not declared:
        yield Problem("tools", "no tool, resource or prompt is declared", "add one, [[tools]] with a name and scopes")
        return
    if len(named) > 1:
        yield Problem("tools", f"control = true is set for {', '.join(named)}", "set it for one tool")
        return
    if all(operation.public for operation in declared):
        what = "everything is open without a token, so no call shows whether a token is accepted"
        yield Problem("tools", what, "declare one operation with scopes")
        return
    control = control_operation(contract)
    if control.public:
        what = "this tool is open without a token, so it cannot show whether a token is accepted"
        yield Problem(f"tools[{control.name}].control", what, "move control = true to a tool with scopes")
    elif control.effect is Effect.WRITE and not contract.policy.writes:
        what = "the control call would write, which policy.writes does not allow"
        repair = "declare a read that needs scopes, or set policy.writes = true"
        yield Problem(f"tools[{control.name}]", what, repair)


def _templates(contract: Contract, *, resolved: bool) -> Iterator[Problem]:
    for resource in contract.resources:
        if not resolved and "${" in resource.uri:
            continue
        variables = template_variables(resource.uri)
        key = f"resources[{resource.uri}].arguments"
        for variable in variables:
            if variable not in resource.arguments:
                yield Problem(key, f"no value for {{{variable}}} of the template", f'write {variable} = "…"')
        for name in resource.arguments:
            if name not in variables:
                yield Problem(key, f"{name} is no variable of the URI", f"remove it or write {{{name}}} in uri")


def _tools(contract: Contract, *, resolved: bool) -> Iterator[Problem]:
    names = [tool.name for tool in contract.tools]
    for tool in contract.tools:
        if tool.idempotency is not None and tool.effect is Effect.READ:
            key = f"tools[{tool.name}].idempotency"
            yield Problem(key, "belongs to a tool that writes", 'write effect = "write" or remove it')
    if not resolved and "${" in "".join(names):
        return
    for key, tool_name in _tools_named(contract):
        if tool_name not in names:
            yield _undeclared(key, "tool", tool_name, names, "[[tools]]")


def _tools_named(contract: Contract) -> Iterator[tuple[str, str]]:
    """Yield the keys outside of records that name a tool, and the name."""
    for position, cursor in enumerate(contract.cursors, 1):
        yield f"cursors[{position}].tool", cursor.tool
    for position, handle in enumerate(contract.handles, 1):
        yield f"handles[{position}].tool", handle.tool
        if handle.used_by is not None:
            yield f"handles[{position}].used_by", handle.used_by
    for position, asking in enumerate(contract.inputs, 1):
        yield f"inputs[{position}].tool", asking.tool
    for position, view in enumerate(contract.views, 1):
        yield f"views[{position}].tool", view.tool


def _once_each(contract: Contract) -> Iterator[Problem]:
    """A case of these tables is known by its call, so that each call stands there once."""
    made = [(handle.tool, str(handle.arguments)) for handle in contract.handles]
    asked = [(asking.tool, "") for asking in contract.inputs]
    shown = [(view.tool, "") for view in contract.views]
    for table, calls in (("handles", made), ("inputs", asked), ("views", shown)):
        for position, call in enumerate(calls, 1):
            if call in calls[: position - 1]:
                yield Problem(f"{table}[{position}].tool", "declared twice", "keep one of them", f'"{call[0]}"')


def _apps(contract: Contract) -> Iterator[Problem]:
    if contract.apps is not None and not contract.views:
        yield Problem("apps", "there is no View for it to hold for", 'add [[views]] with tool = "…", or remove it')
    for position, view in enumerate(contract.views, 1):
        declared = next((tool for tool in contract.tools if tool.name == view.tool), None)
        if declared is not None and declared.visibility == ("app",):
            what = "only a View is offered this tool, so that no call of it shows one"
            yield Problem(f"views[{position}].tool", what, "name the tool that shows the View", f'"{view.tool}"')


def _inputs(contract: Contract) -> Iterator[Problem]:
    for position, asking in enumerate(contract.inputs, 1):
        declared = next((tool for tool in contract.tools if tool.name == asking.tool), None)
        if declared is not None and asking.other is not None and dict(asking.other) == dict(declared.arguments):
            key = f"inputs[{position}].other"
            yield Problem(key, f"repeats the arguments of tools[{asking.tool}]", "name another call, or remove it")
        for name, response in asking.responses.items():
            if not isinstance(response, Mapping):
                key = f"inputs[{position}].responses.{name}"
                yield Problem(key, "not an object", 'write it like { action = "accept" }')


def _claims(contract: Contract) -> Iterator[Problem]:
    claims = contract.claims
    roles = {key: getattr(claims, key) for key in ("subject", "tenant", "scope", "client")}
    for (one, name), (other, same) in combinations(roles.items(), 2):
        if name == same:
            yield Problem(f"claims.{other}", f"the claim {name} is already {one}", "name another claim")
    for key, name in roles.items():
        if name in _REGISTERED:
            yield Problem(f"claims.{key}", f"the claim {name} has a meaning of its own", "name another claim")
    own = {f"principals.{name}.claims": one.claims for name, one in contract.principals.items()}
    tables = {"claims.extra": claims.extra} | own
    for table, constants in tables.items():
        for name in constants:
            if name in _REGISTERED:
                yield Problem(f"{table}.{name}", "the kit sets this claim in every token", "remove it")
            elif name in roles.values():
                role = next(key for key, claim in roles.items() if claim == name)
                owner = "scopes" if role == "scope" else role
                yield Problem(f"{table}.{name}", f"this claim holds the {role}", f"use {owner} of the principal")
    everywhere = {*_REGISTERED, claims.subject, claims.scope, claims.client, *claims.extra}
    for name in claims.required:
        for key, principal in contract.principals.items() if name not in everywhere else ():
            if principal.tenant is None if name == claims.tenant else name not in principal.claims:
                repair = f"give principals.{key} the claim, or add it to claims.extra"
                yield Problem("claims.required", f"the tokens of {key} do not carry {name}", repair)


def _records(contract: Contract) -> Iterator[Problem]:
    for record in contract.records:
        key = f"records[{record.name}]"
        for field, names in (("owner", (record.owner,)), ("readers", record.readers)):
            for name in names:
                if name not in contract.principals:
                    yield _undeclared(f"{key}.{field}", "principal", name, contract.principals, "[principals.NAME]")
        if not record.reads and not record.lists:
            repair = "add reads or lists, so that a run can show that its owner receives it"
            yield Problem(key, "no call reads or lists it", repair)
        owner = contract.principals.get(record.owner)
        for name, principal in contract.principals.items():
            # A server cannot tell two principals apart that differ in nothing but scopes: both read the record.
            same = owner is not None and principal.model_copy(update={"scopes": owner.scopes}) == owner
            if same and not record.may_read(name):
                what = f"{name} has the same identity as the owner {record.owner} but is no reader"
                yield Problem(f"{key}.readers", what, f'add "{name}" to readers')


def _paths(contract: Contract, *, resolved: bool) -> Iterator[Problem]:
    unsure = not resolved and "${" in "".join(name for kind in OperationKind for name in contract.declared(kind))
    for record in contract.records:
        for field in ("reads", "lists", "writes"):
            for position, path in enumerate(getattr(record, field), 1):
                yield from _path(contract, f"records[{record.name}].{field}[{position}]", path, unsure=unsure)


def _path(contract: Contract, key: str, path: RecordPath, *, unsure: bool) -> Iterator[Problem]:
    declared, writes = contract.declaration(path.kind, path.name), ".writes[" in key
    effect = declared.effect if isinstance(declared, Tool) else Effect.READ
    if declared is None:
        if not unsure:
            names = contract.declared(path.kind)
            yield _undeclared(f"{key}.{path.kind}", path.kind, path.name, names, f"[[{path.kind}s]]")
    elif writes and path.tool is None:
        yield Problem(key, "only a tool can write", "name a tool")
    elif writes and effect is Effect.READ:
        yield Problem(key, f"the effect of {path.name} is read", f'set effect = "write" at tools[{path.name}]')
    elif not writes and effect is Effect.WRITE:
        yield Problem(key, f"the effect of {path.name} is write", "move it to writes")
    elif declared.public:
        yield Problem(key, f"{path.name} is open without a token, so the canary is no secret", "remove the path")


def _canaries(contract: Contract, *, resolved: bool) -> Iterator[Problem]:
    for one, other in combinations(contract.records, 2):
        if not resolved and "${" in one.canary + other.canary:
            continue
        if one.canary in other.canary or other.canary in one.canary:
            what = f"cannot be distinguished from the canary of {one.name}"
            yield Problem(f"records[{other.name}].canary", what, "let no canary contain another")
    for record, field, path in contract.paths():
        for secret in contract.records:
            sent = f"{path.name} {dict(path.arguments or {})}"
            if secret.canary in sent:
                what = f"sends the canary of {secret.name}, so an answer that repeats the question looks like a leak"
                yield Problem(f"records[{record.name}].{field}", what, "ask for the record by something else")


def _undeclared(key: str, kind: str, name: str, known: Iterable[str], header: str) -> Problem:
    return Problem(key, f"no such {kind}", suggest(name, known, f"declare it under {header}"), f'"{name}"')
