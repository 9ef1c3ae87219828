"""The contract that an inspection suggests, before any question is answered and before it is text."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.contract.fields import ABSOLUTE_URI, SCOPE_TOKEN
from mcp_auth_contract.contract.templates import expand, template_variables
from mcp_auth_contract.init.arguments import Arguments, arguments_of, example_text, known_values
from mcp_auth_contract.init.inspection import MOST_SCOPES, Inspection
from mcp_auth_contract.init.toml import Unwritable, key, value
from mcp_auth_contract.init.views import view_of, visibility_of
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.oauth.metadata import is_loopback_url

_MOST = 100
_LONGEST_NAME = 300
_LONGEST_SCOPE = 200
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_READING_VERBS = frozenset(
    {"count", "describe", "fetch", "find", "get", "list", "lookup", "query", "read", "search", "show", "view", "whoami"}
)
_EXPORTING_VERBS = frozenset({"backup", "download", "dump", "export"})
_PAGING = ("cursor", "page_token", "pageToken", "next_token")


@dataclass(frozen=True, slots=True)
class DraftPrincipal:
    """A user of the server. `answered` on the terminal, else an example."""

    name: str
    subject: str
    tenant: str | None
    answered: bool = False


@dataclass(frozen=True, slots=True)
class DraftOperation:
    """A tool, a resource or template of resources by its URI, or a prompt.

    `said` is the server's description. `scopes` are as in the contract: None for any token, empty for none needed;
    `scopes_from` says how they are known, in words, and is empty where they are a question.
    """

    kind: OperationKind
    name: str
    said: str
    scopes: tuple[str, ...] | None
    scopes_from: str
    arguments: Arguments = field(default_factory=Arguments)


@dataclass(frozen=True, slots=True)
class DraftTool(DraftOperation):
    """A tool. `effect_from` says how the effect is known; it is empty for a guess, and `guess` is then its reason.

    `cursor` is the optional argument by which it seems to page. `visibility` is whom it says that it is for, empty
    where it does not say, and `view` the View that it shows (MCP Apps).
    """

    effect: Effect = Effect.WRITE
    effect_from: str = ""
    guess: str = ""
    control: bool = False
    control_answered: bool = False
    cursor: str | None = None
    visibility: tuple[str, ...] = ()
    view: str | None = None


_Drafted = TypeVar("_Drafted", bound=DraftOperation)


@dataclass(frozen=True, slots=True)
class Draft:
    """A contract in the making. `left_out` tells in words what the server has and the draft does not.

    `authorized` is None for a server on this machine, which needs no confirmation.
    """

    seen: Inspection
    principals: tuple[DraftPrincipal, ...]
    scopes: tuple[str, ...] = ()
    tools: tuple[DraftTool, ...] = ()
    resources: tuple[DraftOperation, ...] = ()
    prompts: tuple[DraftOperation, ...] = ()
    left_out: tuple[str, ...] = ()
    authorized: bool | None = None


def is_scope(word: object) -> bool:
    """Whether a word is a scope-token (RFC 6749 section 3.3) of a reasonable length."""
    return isinstance(word, str) and len(word) <= _LONGEST_SCOPE and SCOPE_TOKEN.fullmatch(word) is not None


def scopes_in(listed: object) -> tuple[str, ...]:
    """Return the scopes in a list that a server gave, each once, the first fifty."""
    words = filter(is_scope, listed) if isinstance(listed, list | tuple) else ()
    return tuple(dict.fromkeys(words))[:MOST_SCOPES]


def draft_contract(seen: Inspection) -> Draft:
    """Return the contract that an inspection suggests: what is known, what is guessed, and what has to be asked."""
    left_out: list[str] = []
    known = known_values(seen)
    tools = _collected(seen, ("tools",), lambda entry: _tool(entry, seen, known), left_out)
    resources = _collected(seen, ("resources", "templates"), lambda entry: _resource(entry, seen, known), left_out)
    prompts = _collected(seen, ("prompts",), lambda entry: _prompt(entry, seen, known), left_out)
    shown = {tool.view for tool in tools}
    resources = tuple(one for one in resources if one.name not in shown)  # these are declared by their tools
    needed = [scope for one in (*tools, *resources, *prompts) for scope in one.scopes or ()]
    url = seen.settings.url
    away = seen.settings.app is None and url is not None and not is_loopback_url(url.replace("${target.port}", "0"))
    return Draft(
        seen,
        (DraftPrincipal("alice", "alice", "t1"), DraftPrincipal("bob", "bob", "t1")),
        scopes_in((*seen.scopes, *needed)),
        _with_control(tools),
        resources,
        prompts,
        tuple(left_out),
        authorized=False if away else None,
    )


def _collected(
    seen: Inspection, kinds: tuple[str, ...], made: Callable[[JsonObject], _Drafted | None], left_out: list[str]
) -> tuple[_Drafted, ...]:
    """Return what the lists of some kinds hold: each name once, a hundred at most, and only what can be written."""
    entries = [made(entry) for kind in kinds if kind in seen.lists for entry in seen.lists[kind].entries]
    usable = [one for one in entries if one is not None]
    found: dict[str, _Drafted] = {}
    for one in usable:
        found.setdefault(one.name, one)
    for number, why in (
        (len(entries) - len(usable), "with a name that no contract can hold"),
        (len(usable) - len(found), "listed more than once under one name"),
        (len(found) - _MOST, f"after the first {_MOST}"),
    ):
        if number > 0:
            left_out.append(f"{number} {kinds[0].removesuffix('s') if number == 1 else kinds[0]} {why}")
    for kind in kinds:
        listed = seen.lists.get(kind)
        if listed is not None and listed.entries and not listed.complete:
            left_out.append(f"whatever follows in the list of {kind}, which did not end")
    return tuple(found.values())[:_MOST]


def _usable(name: object) -> str | None:
    if not isinstance(name, str) or not name or len(name) > _LONGEST_NAME:
        return None
    try:
        value(name)
    except Unwritable:
        return None
    return name


def _said(entry: JsonObject) -> str:
    texts = (entry.get(member) for member in ("description", "title"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _tool(entry: JsonObject, seen: Inspection, known: Mapping[str, str]) -> DraftTool | None:
    name = _usable(entry.get("name"))
    if name is None:
        return None
    schema = entry.get("inputSchema")
    arguments = arguments_of(schema, known)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    optional = [one for one in properties if one not in arguments.values] if isinstance(properties, Mapping) else []
    cursor = next((one for one in _PAGING if one in optional), None)
    scopes, scopes_from = _scopes(name, entry, seen)
    effect, effect_from, guess = _effect(name, entry)
    return DraftTool(
        *(OperationKind.TOOL, name, _said(entry), scopes, scopes_from, arguments),
        *(effect, effect_from, guess),
        cursor=cursor,
        visibility=visibility_of(entry),
        view=view_of(entry),
    )


def _scopes(name: str, entry: JsonObject, seen: Inspection) -> tuple[tuple[str, ...] | None, str]:
    """Return the scopes that a tool needs and how that is known, or None and nothing."""
    schemes = _schemes(entry)
    if any(one.get("type") == "noauth" for one in schemes):
        return (), "securitySchemes says noauth"
    stated = [one.get("scopes") for one in schemes if one.get("type") == "oauth2"]
    if stated:
        given = stated[0] if isinstance(stated[0], list) else []
        if len(given) <= MOST_SCOPES and all(map(is_scope, given)):
            return scopes_in(given) or None, "as its securitySchemes says"
    if name in seen.open_tools:
        return (), "a call without a token worked"
    return _challenged(OperationKind.TOOL, name, seen)


def _challenged(kind: OperationKind, name: str, seen: Inspection) -> tuple[tuple[str, ...] | None, str]:
    """Return the scopes that challenges named, and how far that goes."""
    needed = seen.needed.get((kind, name))
    if needed is None:
        return seen.base or None, ""
    if not needed.scopes:
        return None, "one without scopes was enough" if needed.all else ""
    return needed.scopes, "as its challenge says" if needed.all else ""


def _schemes(entry: JsonObject) -> list[JsonObject]:
    meta = entry.get("_meta")
    stated = entry.get("securitySchemes")
    if stated is None and isinstance(meta, Mapping):
        stated = meta.get("securitySchemes")
    return [one for one in stated if isinstance(one, Mapping)] if isinstance(stated, list) else []


def _effect(name: str, entry: JsonObject) -> tuple[Effect, str, str]:
    """Return what a tool does, how that is known, and for a guess its reason."""
    hints = entry.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    words = [word.lower() for word in _WORDS.findall(name)]
    if hints.get("readOnlyHint") is True:
        if set(words) & _EXPORTING_VERBS:
            return Effect.EXPORT, "", "It only reads, and its name sounds like much."
        return Effect.READ, "as its readOnlyHint says", ""
    if hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True:
        return Effect.WRITE, "as its annotations say", ""
    if words and words[0] in _READING_VERBS:
        return Effect.READ, "", "Its name sounds like reading."
    return Effect.WRITE, "", "Nothing says that it only reads."


def _with_control(tools: tuple[DraftTool, ...]) -> tuple[DraftTool, ...]:
    """Mark the tool that shows best whether a token is accepted: a read whose call needs no invented argument."""

    def rank(tool: DraftTool) -> tuple[bool, bool, int]:
        return bool(tool.arguments.missing), not tool.effect_from, len(tool.arguments.made_up)

    able = [tool for tool in tools if tool.effect is Effect.READ and tool.scopes != ()]
    best = min(able, key=rank, default=None)  # the first of equals
    return tuple(replace(tool, control=tool is best) for tool in tools)


def _resource(entry: JsonObject, seen: Inspection, known: Mapping[str, str]) -> DraftOperation | None:
    uri = _usable(entry.get("uri", entry.get("uriTemplate")))
    if uri is None or not ABSOLUTE_URI.fullmatch(uri):
        return None
    try:
        values = {name: known.get(name) or example_text(name) for name in template_variables(uri) if key(name)}
    except Unwritable:
        return None
    scopes = _challenged(OperationKind.RESOURCE, expand(uri, values), seen)
    return DraftOperation(OperationKind.RESOURCE, uri, _said(entry), *scopes, Arguments(values, tuple(values)))


def _prompt(entry: JsonObject, seen: Inspection, known: Mapping[str, str]) -> DraftOperation | None:
    name = _usable(entry.get("name"))
    if name is None:
        return None
    values = {one: known.get(one) or example_text(one) for one in _demanded(entry.get("arguments"))}
    scopes = _challenged(OperationKind.PROMPT, name, seen)
    return DraftOperation(OperationKind.PROMPT, name, _said(entry), *scopes, Arguments(values, tuple(values)))


def _demanded(arguments: object) -> Iterator[str]:
    for argument in arguments[:_MOST] if isinstance(arguments, list) else ():
        name = _usable(argument.get("name")) if isinstance(argument, Mapping) else None
        if name is not None and "${" not in name and argument.get("required") is True:
            yield name
