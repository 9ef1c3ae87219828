"""The part of a drafted contract about what can be called, and what belongs to whom."""

from collections.abc import Iterator, Sequence

from mcp_auth_contract.contract.templates import expand
from mcp_auth_contract.drafting.draft import Draft, DraftPrompt, DraftResource, DraftTool
from mcp_auth_contract.drafting.toml import comment, inline, question, quoted, server_text, shown
from mcp_auth_contract.model import Effect

__all__ = ["cursors", "prompts", "records", "resources", "tools"]

_OFFERED = 12


def tools(draft: Draft) -> Iterator[str]:
    """Yield the tools, or an example of one where none was seen."""
    if not draft.tools:
        if _hidden(draft, "tools") or not (draft.resources or draft.prompts):
            yield from question("which tools are there, and which scopes does each need?", _example_tool(draft))
        return
    yield from comment(
        "scopes: what a caller needs, all of them. Without the key any valid token will do; [] needs none."
    )
    if any(not tool.effect_from for tool in draft.tools):
        yield from comment('effect: "read" changes nothing, "export" reads many records at once, "write" changes some.')
    for number, tool in enumerate(draft.tools):
        if number:
            yield ""
        yield from _tool(tool, draft)


def _hidden(draft: Draft, kind: str) -> bool:
    return kind in draft.seen.closed


def _example_tool(draft: Draft) -> list[str]:
    scopes = server_list(draft.scopes[:1]) if draft.scopes else '["records:read"]'
    return ["[[tools]]", 'name = "get_record"', f"scopes = {scopes}", 'arguments = { id = "1" }', "control = true"]


def _tool(tool: DraftTool, draft: Draft) -> Iterator[str]:
    yield "[[tools]]"
    yield f"name = {server_text(tool.name)}{_remark(tool.said)}"
    yield from _scopes(tool.scopes, tool.scopes_from, draft)
    arguments = tool.arguments
    if arguments.missing:
        names = ", ".join(shown(name, 30) for name in arguments.missing[:_OFFERED])
        yield from question(f"it needs arguments that could not be made up: {names}")
    if arguments.made_up:
        yield from question("with which arguments does the call work for alice? These are guesses.")
    if arguments.values:
        yield f"arguments = {inline(arguments.values)}"
    if tool.effect_from:
        yield f"effect = {quoted(tool.effect)}  # {tool.effect_from}"
    else:
        yield from question(f"read, export or write? {tool.guess}")
        yield f"effect = {quoted(tool.effect)}"
    if tool.control:
        if not tool.control_answered:
            yield from question("does this call always work for alice, without side effects? Refusals are told by it.")
        yield "control = true"


def _remark(said: str) -> str:
    """The server's own words, behind a name."""
    return f"  # the server says: {shown(said, 80)}" if said and shown(said, 80) else ""


def _scopes(scopes: Sequence[str] | None, known: str, draft: Draft) -> Iterator[str]:
    if known:
        if scopes is None:
            yield from comment(f"Any valid token will do: {known}.")
        else:
            yield f"scopes = {server_list(scopes)}  # {known}"
        return
    offered = ", ".join(shown(scope, 60) for scope in draft.scopes[:_OFFERED])
    offered += ", …" if len(draft.scopes) > _OFFERED else ""
    offer = f" The server offers {offered}." if offered else ""
    if scopes is None:
        example = server_list(draft.scopes[:1]) if draft.scopes else '["records:read"]'
        yield from question(f"which scopes does it need?{offer}", [f"scopes = {example}"])
        return
    if tuple(scopes) == draft.seen.base:
        yield from question(f"nothing is served without what is written here; does it need more?{offer}")
    else:
        yield from question("are these all? Challenges named them, and the call then failed for another reason.")
    yield f"scopes = {server_list(scopes)}"


def server_list(words: Sequence[str]) -> str:
    """Return a list of a server's words."""
    return f"[{', '.join(map(server_text, words))}]"


def resources(draft: Draft) -> Iterator[str]:
    """Yield the resources and templates, or an example where they were not shown."""
    if not draft.resources:
        if _hidden(draft, "resources") and not draft.tools:
            yield from question(
                "which resources are there?", ["[[resources]]", 'uri = "record://{id}"', 'arguments = { id = "1" }']
            )
        return
    for number, resource in enumerate(draft.resources):
        if number:
            yield ""
        yield from _resource(resource, draft)


def _resource(resource: DraftResource, draft: Draft) -> Iterator[str]:
    yield "[[resources]]"
    yield f"uri = {server_text(resource.uri)}{_remark(resource.said)}"
    yield from _scopes(resource.scopes, resource.scopes_from, draft)
    if resource.arguments:
        yield from question("which values lead to something that alice may read? These are guesses.")
        yield f"arguments = {inline(resource.arguments)}"


def prompts(draft: Draft) -> Iterator[str]:
    """Yield the prompts, or an example where they were not shown."""
    if not draft.prompts:
        if _hidden(draft, "prompts") and not draft.tools:
            yield from question("which prompts are there?", ["[[prompts]]", 'name = "summarise_record"'])
        return
    for number, prompt in enumerate(draft.prompts):
        if number:
            yield ""
        yield from _prompt(prompt, draft)


def _prompt(prompt: DraftPrompt, draft: Draft) -> Iterator[str]:
    yield "[[prompts]]"
    yield f"name = {server_text(prompt.name)}{_remark(prompt.said)}"
    yield from _scopes(prompt.scopes, prompt.scopes_from, draft)
    if prompt.arguments:
        yield from question("which texts does it work with for alice? These are guesses.")
        yield f"arguments = {inline(prompt.arguments)}"


def records(draft: Draft) -> Iterator[str]:
    """Yield an example of a record in comments, reached by what the server has."""
    reads = [f"{{ {way} }}" for way in _reads(draft)]
    lists = [f"{{ {way} }}" for way in _lists(draft)]
    example = ["[[records]]", 'name = "record of alice"', 'owner = "alice"', 'canary = "alice-only-7f3a"']
    if reads:
        example += ["reads = [", *(f"    {way}," for way in reads), "]"]
    if lists or not reads:
        listed = ", ".join(lists) or '{ tool = "list_records" }'
        example.append(f"lists = [{listed}]")
    yield from question(
        "what belongs to one of them alone? Put a text into it that nobody else may ever receive, the canary, and name "
        "every way that leads to it. Do the same for bob, so that each can ask for what is the other's.",
        example,
    )


def _reads(draft: Draft) -> Iterator[str]:
    """The first way of each kind to one record: a call that takes arguments."""
    for tool in _reading(draft):
        if tool.arguments.values:
            yield f"tool = {server_text(tool.name)}, arguments = {inline(tool.arguments.values)}"
            break
    for resource in draft.resources:
        if "${" not in resource.uri:
            yield f"resource = {server_text(expand(resource.uri, resource.arguments))}"
            break
    for prompt in draft.prompts:
        if prompt.arguments:
            yield f"prompt = {server_text(prompt.name)}, arguments = {inline(prompt.arguments)}"
            break


def _lists(draft: Draft) -> Iterator[str]:
    for tool in _reading(draft):
        if not tool.arguments.values:
            yield f"tool = {server_text(tool.name)}"
            break


def _reading(draft: Draft) -> Iterator[DraftTool]:
    usable = (tool for tool in draft.tools if tool.effect is not Effect.WRITE and tool.scopes != ())
    return (tool for tool in usable if not tool.arguments.missing)


def cursors(draft: Draft) -> Iterator[str]:
    """Yield an example of a page token in comments, for the first tool that seems to take one."""
    for tool in draft.tools:
        if tool.cursor is not None and tool.effect is not Effect.WRITE:
            yield from question(
                "where does its result hold the next page token? It must not carry over to somebody else.",
                [
                    "[[cursors]]",
                    f"tool = {server_text(tool.name)}",
                    f"argument = {server_text(tool.cursor)}",
                    'result = "/structuredContent/nextCursor"',
                ],
            )
            return
