"""The few questions that `init` asks on a terminal. Enter leaves each at what is offered."""

import re
from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.init.draft import Draft, DraftPrincipal, DraftTool, is_scope
from mcp_auth_contract.init.toml import shown
from mcp_auth_contract.model import Effect

Ask = Callable[[str], str]
"""Shows a text and returns the line that was answered, without white space around it."""

_MOST_TOOLS = 20
_FROM = "as answered"
_NOTHING = "-"


def interview(draft: Draft, ask: Ask) -> Draft:
    """Return the draft with the user's answers; what `ask` raises when there are no more goes through."""
    if draft.authorized is not None:
        answer = ask("May you test this server? A run sends it faulty requests. [y/N] ")
        draft = replace(draft, authorized=answer.lower() in ("y", "yes"))
    draft = replace(draft, principals=_principals(draft.principals, ask))
    draft = _with_scopes(draft, ask)
    return _with_control(draft, ask)


def _principals(known: tuple[DraftPrincipal, ...], ask: Ask) -> tuple[DraftPrincipal, ...]:
    asked: list[DraftPrincipal] = []
    for one in known:
        who = "a user that the server knows" if not asked else "another one, who must not see what is the first one's"
        while True:
            subject = ask(f"Subject of {one.name}, {who} [{one.subject}]: ") or one.subject
            said = ask(f"Tenant of {one.name}, {_NOTHING} for none [{one.tenant}]: ")
            tenant = None if said == _NOTHING else said or one.tenant
            if all((subject, tenant) != (other.subject, other.tenant) for other in asked):
                break
            ask("That is the same user once more. Press Enter, and name another. ")
        asked.append(DraftPrincipal(one.name, subject, tenant, answered=True))
    return tuple(asked)


def _with_scopes(draft: Draft, ask: Ask) -> Draft:
    unknown = [tool for tool in draft.tools if not tool.scopes_from][:_MOST_TOOLS]
    answered: dict[str, DraftTool] = {}
    offered = ", ".join(shown(scope, 60) for scope in draft.scopes[:10])
    hint = f'{f"{offered}; " if offered else ""}"any" token, {_NOTHING} for none, Enter leaves it open'
    for tool in unknown:
        answered[tool.name] = _scopes(tool, hint, ask)
        hint = f"as above, {_NOTHING}, or Enter"
    tools = tuple(answered.get(tool.name, tool) for tool in draft.tools)
    named = [scope for tool in answered.values() for scope in tool.scopes or ()]
    return replace(draft, tools=tools, scopes=tuple(dict.fromkeys((*draft.scopes, *named))))


def _scopes(tool: DraftTool, hint: str, ask: Ask) -> DraftTool:
    while True:
        answer = ask(f"Scopes that {shown(tool.name, 60)} needs ({hint}): ")
        words = re.split(r"[\s,]+", answer)
        if not answer:
            return tool
        if answer == _NOTHING:
            return replace(tool, scopes=(), scopes_from=_FROM, control=False)
        if answer.lower() == "any":
            return replace(tool, scopes=None, scopes_from=_FROM)
        if all(map(is_scope, words)):
            return replace(tool, scopes=tuple(dict.fromkeys(words)), scopes_from=_FROM)
        hint = "scopes have no quotes and no \\; separate them by spaces"


def _with_control(draft: Draft, ask: Ask) -> Draft:
    able = {tool.name: tool for tool in draft.tools if tool.scopes != ()}
    if not able:
        return draft
    reads = [name for name, tool in able.items() if tool.effect is Effect.READ]
    guess = next((name for name, tool in able.items() if tool.control), reads[0] if reads else "")
    hint = f"[{shown(guess, 60)}]" if guess else "(Enter leaves it open)"
    while True:
        chosen = ask(f"A tool whose call always works and changes nothing {hint}: ") or guess
        if chosen in able or not chosen:
            break
        hint = "(write a tool's name as the server lists it)"
    tools = {tool.name: replace(tool, control=False) for tool in draft.tools}
    if chosen in tools:
        tool = replace(tools[chosen], control=True, control_answered=True)
        writes = tool.effect is Effect.WRITE
        tools[chosen] = replace(tool, effect=Effect.READ, effect_from=_FROM) if writes else tool
    return replace(draft, tools=tuple(tools.values()))
