"""The part of a drafted contract about what can be called, and what belongs to whom."""

from collections.abc import Iterator, Mapping

from mcp_auth_contract.contract.templates import expand
from mcp_auth_contract.init.draft import Draft, DraftOperation, DraftTool
from mcp_auth_contract.init.toml import Section, shown
from mcp_auth_contract.model import Effect, OperationKind

_OFFERED = 12
_UNSEEN: Mapping[str, Mapping[str, object]] = {
    "resources": {"uri": "record://{id}", "arguments": {"id": "1"}},
    "prompts": {"name": "summarise_record"},
}
_GUESSED = {
    OperationKind.TOOL: "with which arguments does the call work for alice? These are guesses.",
    OperationKind.RESOURCE: "which values lead to something that alice may read? These are guesses.",
    OperationKind.PROMPT: "which texts does it work with for alice? These are guesses.",
}


def operation_sections(draft: Draft) -> Iterator[Section]:
    """Yield the tools, resources and prompts, or an example where they were not shown; then records and cursors."""
    if draft.tools:
        yield _about_tools(draft)
    elif "tools" in draft.seen.closed or not (draft.resources or draft.prompts):
        example = {"name": "get_record", "scopes": _scope_example(draft), "arguments": {"id": "1"}, "control": True}
        yield _asked("which tools are there, and which scopes does each need?", "tools", example)
    for tool in draft.tools:
        yield _tool(tool, draft)
    for table, named, operations in (("resources", "uri", draft.resources), ("prompts", "name", draft.prompts)):
        if not operations and not draft.tools and table in draft.seen.closed:
            yield _asked(f"which {table} are there?", table, _UNSEEN[table])
        for operation in operations:
            yield _operation(table, named, operation, draft)
    yield _record(draft)
    for tool in draft.tools:
        if tool.cursor is not None and tool.effect is not Effect.WRITE:
            example = {"tool": tool.name, "argument": tool.cursor, "result": "/structuredContent/nextCursor"}
            question = "where does its result hold the next page token? It must not carry over to somebody else."
            yield _asked(question, "cursors", example)
            break


def _asked(question: str, table: str, example: Mapping[str, object]) -> Section:
    """A question whose answer is an entry of a table."""
    entry, asked = Section(table, entry=True), Section()
    for name, given in example.items():
        entry.set(name, given)
    asked.ask(question, entry)
    return asked


def _about_tools(draft: Draft) -> Section:
    about = Section()
    about.remark("scopes: what a caller needs, all of them. Without the key any valid token will do; [] needs none.")
    if any(not tool.effect_from for tool in draft.tools):
        about.remark('effect: "read" changes nothing, "export" reads many records at once, "write" changes some.')
    return about


def _tool(tool: DraftTool, draft: Draft) -> Section:
    section = _operation("tools", "name", tool, draft)
    if tool.effect_from:
        section.set("effect", str(tool.effect), tool.effect_from)
    else:
        section.ask(f"read, export or write? {tool.guess}")
        section.set("effect", str(tool.effect))
    if tool.control:
        if not tool.control_answered:
            section.ask("does this call always work for alice, without side effects? Refusals are told by it.")
        section.set("control", given=True)
    return section


def _operation(table: str, named: str, operation: DraftOperation, draft: Draft) -> Section:
    section = Section(table, entry=True)
    said = shown(operation.said, 80)
    section.set(named, operation.name, f"the server says: {said}" if said else "")
    _scopes(section, operation, draft)
    arguments = operation.arguments
    if arguments.missing:
        names = ", ".join(shown(name, 30) for name in arguments.missing[:_OFFERED])
        section.ask(f"it needs arguments that could not be made up: {names}")
    if arguments.made_up:
        section.ask(_GUESSED[operation.kind])
    if arguments.values:
        section.set("arguments", arguments.values)
    return section


def _scopes(section: Section, operation: DraftOperation, draft: Draft) -> None:
    scopes, known = operation.scopes, operation.scopes_from
    offered = ", ".join(shown(scope, 60) for scope in draft.scopes[:_OFFERED])
    offer = f" The server offers {offered}{', …' if len(draft.scopes) > _OFFERED else ''}." if offered else ""
    if scopes is None and known:
        section.remark(f"Any valid token will do: {known}.")
    elif scopes is None:
        section.ask(f"which scopes does it need?{offer}", {"scopes": _scope_example(draft)})
    else:
        if not known and scopes == draft.seen.base:
            section.ask(f"nothing is served without what is written here; does it need more?{offer}")
        elif not known:
            section.ask("are these all? Challenges named them, and the call then failed for another reason.")
        section.set("scopes", scopes, known)


def _scope_example(draft: Draft) -> tuple[str, ...]:
    return draft.scopes[:1] or ("records:read",)


def _record(draft: Draft) -> Section:
    """An example of a record in comments, reached by what the server has."""
    reads, lists, asked = list(_reads(draft)), list(_lists(draft)), Section()
    example = Section("records", entry=True)
    for name, given in (("name", "record of alice"), ("owner", "alice"), ("canary", "alice-only-7f3a")):
        example.set(name, given)
    if reads:
        example.set_lines("reads", reads)
    if lists or not reads:
        example.set("lists", lists or [{"tool": "list_records"}])
    asked.ask(
        "what belongs to one of them alone? Put a text into it that nobody else may ever receive, the canary, and name "
        "every way that leads to it. Do the same for bob, so that each can ask for what is the other's.",
        example,
    )
    return asked


def _reads(draft: Draft) -> Iterator[Mapping[str, object]]:
    """Yield the first way of each kind to one record: a call that takes arguments."""
    for tool in _reading(draft):
        if tool.arguments.values:
            yield {"tool": tool.name, "arguments": tool.arguments.values}
            break
    for resource in draft.resources:
        if "${" not in resource.name:
            yield {"resource": expand(resource.name, resource.arguments.values)}
            break
    for prompt in draft.prompts:
        if prompt.arguments.values:
            yield {"prompt": prompt.name, "arguments": prompt.arguments.values}
            break


def _lists(draft: Draft) -> Iterator[Mapping[str, object]]:
    for tool in _reading(draft):
        if not tool.arguments.values:
            yield {"tool": tool.name}
            break


def _reading(draft: Draft) -> Iterator[DraftTool]:
    usable = (tool for tool in draft.tools if tool.effect is not Effect.WRITE and tool.scopes != ())
    return (tool for tool in usable if not tool.arguments.missing)
