"""The contract that a look at a server suggests, before anybody was asked and before it is text."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.contract.templates import expand, is_template, template_variables
from mcp_auth_contract.drafting.examples import Arguments, arguments_of, example_text
from mcp_auth_contract.drafting.hints import known_values
from mcp_auth_contract.drafting.seen import Seen
from mcp_auth_contract.drafting.toml import Unwritable, key, server_text
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.oauth.metadata import is_loopback_url

__all__ = ["Draft", "DraftPrincipal", "DraftPrompt", "DraftResource", "DraftTool", "draft_of", "is_scope"]

_MOST = 100
_MOST_SCOPES = 50
_LONGEST_NAME = 300
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7f]+")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_READING_VERBS = frozenset(
    {"count", "describe", "fetch", "find", "get", "list", "lookup", "query", "read", "search", "show", "view", "whoami"}
)
_EXPORTING_VERBS = frozenset({"backup", "download", "dump", "export"})
_PAGING = ("cursor", "page_token", "pageToken", "next_token")

_Thing = TypeVar("_Thing", "DraftTool", "DraftResource", "DraftPrompt")


@dataclass(frozen=True, slots=True)
class DraftPrincipal:
    """Somebody who calls the server. `answered` by the user, else an example."""

    name: str
    subject: str
    tenant: str | None
    answered: bool = False


@dataclass(frozen=True, slots=True)
class DraftTool:
    """A tool. `scopes` are as in the contract: None for any token, empty for none needed.

    Each `…_from` says how a value is known, in words; it is empty for a value that is a question. `effect_from` is
    empty for a guess, `guess` is then its reason. `cursor` is the optional argument by which it seems to page.
    """

    name: str
    said: str = ""
    scopes: tuple[str, ...] | None = None
    scopes_from: str = ""
    arguments: Arguments = field(default_factory=Arguments)
    effect: Effect = Effect.WRITE
    effect_from: str = ""
    guess: str = ""
    control: bool = False
    control_answered: bool = False
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class DraftResource:
    """A resource, or a template with a made-up value for each variable."""

    uri: str
    said: str = ""
    scopes: tuple[str, ...] | None = None
    scopes_from: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DraftPrompt:
    """A prompt, with made-up texts for the arguments that it requires."""

    name: str
    said: str = ""
    scopes: tuple[str, ...] | None = None
    scopes_from: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """A contract in the making. `left_out` tells in words what the server has and the draft does not.

    `authorized` is None where nobody has to be asked, for a server on this machine.
    """

    seen: Seen
    principals: tuple[DraftPrincipal, ...]
    scopes: tuple[str, ...] = ()
    tools: tuple[DraftTool, ...] = ()
    resources: tuple[DraftResource, ...] = ()
    prompts: tuple[DraftPrompt, ...] = ()
    left_out: tuple[str, ...] = ()
    authorized: bool | None = None


def is_scope(word: object) -> bool:
    """Whether a word is a scope-token (RFC 6749 section 3.3) of a reasonable length."""
    return isinstance(word, str) and _SCOPE.fullmatch(word) is not None


def draft_of(seen: Seen) -> Draft:
    """Return the contract that a look suggests: what is known, what is guessed, and what has to be asked."""
    left_out: list[str] = []
    known = known_values(seen)
    tools = _collected(seen, ("tools",), lambda entry: _tool(entry, seen, known), left_out)
    resources = _collected(seen, ("resources", "templates"), lambda entry: _resource(entry, seen, known), left_out)
    prompts = _collected(seen, ("prompts",), lambda entry: _prompt(entry, seen, known), left_out)
    needed = [thing.scopes for thing in tools] + [thing.scopes for thing in resources]
    needed += [thing.scopes for thing in prompts]
    named = [scope for scopes in needed for scope in scopes or ()]
    scopes = tuple(dict.fromkeys(one for one in (*seen.scopes, *named) if is_scope(one)))[:_MOST_SCOPES]
    url = seen.place.url
    away = seen.place.app is None and url is not None and not is_loopback_url(url.replace("${target.port}", "0"))
    return Draft(
        seen,
        (DraftPrincipal("alice", "alice", "t1"), DraftPrincipal("bob", "bob", "t1")),
        scopes,
        _with_control(tools),
        resources,
        prompts,
        tuple(left_out),
        authorized=False if away else None,
    )


def _collected(
    seen: Seen, kinds: Iterable[str], made: Callable[[JsonObject], "_Thing | None"], left_out: list[str]
) -> tuple[_Thing, ...]:
    """Return what the lists of some kinds hold: each name once, a hundred at most, and only what can be written."""
    kinds = tuple(kinds)
    entries = [entry for kind in kinds if kind in seen.lists for entry in seen.lists[kind].entries]
    found: dict[str, _Thing] = {}
    unusable = twice = 0
    for entry in entries:
        thing = made(entry)
        if thing is None:
            unusable += 1
        elif _name(thing) in found:
            twice += 1
        else:
            found[_name(thing)] = thing
    word = kinds[0]
    if unusable:
        left_out.append(f"{_count(unusable, word)} with a name that no contract can hold")
    if twice:
        left_out.append(f"{_count(twice, word)} listed more than once under one name")
    if len(found) > _MOST:
        left_out.append(f"{_count(len(found) - _MOST, word)} after the first {_MOST}")
    for kind in kinds:
        listed = seen.lists.get(kind)
        if listed is not None and listed.entries and not listed.complete:
            left_out.append(f"whatever follows in the list of {kind}, which did not end")
    return tuple(found.values())[:_MOST]


def _count(number: int, kind: str) -> str:
    return f"{number} {kind.removesuffix('s') if number == 1 else kind}"


def _name(thing: DraftTool | DraftResource | DraftPrompt) -> str:
    return thing.uri if isinstance(thing, DraftResource) else thing.name


def _usable(name: object) -> str | None:
    if not isinstance(name, str) or not name or len(name) > _LONGEST_NAME:
        return None
    try:
        server_text(name)
    except Unwritable:
        return None
    return name


def _said(entry: JsonObject) -> str:
    for member in ("description", "title"):
        text = entry.get(member)
        if isinstance(text, str) and text.strip():
            return text
    return ""


def _tool(entry: JsonObject, seen: Seen, known: Mapping[str, str]) -> DraftTool | None:
    name = _usable(entry.get("name"))
    if name is None:
        return None
    scopes, scopes_from = _scopes(name, entry, seen)
    effect, effect_from, guess = _effect(name, entry)
    schema = entry.get("inputSchema")
    arguments = arguments_of(schema, known)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    optional = [one for one in properties if one not in arguments.values] if isinstance(properties, Mapping) else []
    cursor = next((one for one in _PAGING if one in optional), None)
    return DraftTool(name, _said(entry), scopes, scopes_from, arguments, effect, effect_from, guess, cursor=cursor)


def _scopes(name: str, entry: JsonObject, seen: Seen) -> tuple[tuple[str, ...] | None, str]:
    """Return the scopes that a tool needs and how that is known, or None and nothing."""
    schemes = _schemes(entry)
    if any(one.get("type") == "noauth" for one in schemes):
        return (), "securitySchemes says noauth"
    stated = [one.get("scopes") for one in schemes if one.get("type") == "oauth2"]
    if stated:
        given = stated[0] if isinstance(stated[0], list) else []
        if len(given) <= _MOST_SCOPES and all(map(is_scope, given)):
            return tuple(dict.fromkeys(given)) or None, "as its securitySchemes says"
    if name in seen.open_tools:
        return (), "a call without a token worked"
    return _told(OperationKind.TOOL, name, seen)


def _told(kind: OperationKind, name: str, seen: Seen) -> tuple[tuple[str, ...] | None, str]:
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
    """Mark the tool that tells acceptance from refusal best: a read whose call needs no invented argument."""

    def rank(tool: DraftTool) -> tuple[bool, bool, int]:
        return bool(tool.arguments.missing), not tool.effect_from, len(tool.arguments.made_up)

    able = [tool for tool in tools if tool.effect is Effect.READ and tool.scopes != ()]
    if not able:
        return tools
    best = min(able, key=rank)  # the first of equals
    return tuple(replace(tool, control=tool is best) for tool in tools)


def _resource(entry: JsonObject, seen: Seen, known: Mapping[str, str]) -> DraftResource | None:
    uri = _usable(entry.get("uri", entry.get("uriTemplate")))
    if uri is None or not _URI.fullmatch(uri):
        return None
    names = template_variables(uri) if is_template(uri) else ()
    try:
        values = {name: known.get(name) or example_text(name) for name in names if key(name)}
    except Unwritable:
        return None
    return DraftResource(uri, _said(entry), *_told(OperationKind.RESOURCE, expand(uri, values), seen), values)


def _prompt(entry: JsonObject, seen: Seen, known: Mapping[str, str]) -> DraftPrompt | None:
    name = _usable(entry.get("name"))
    if name is None:
        return None
    told = _told(OperationKind.PROMPT, name, seen)
    names = _demanded(entry.get("arguments"))
    return DraftPrompt(name, _said(entry), *told, {one: known.get(one) or example_text(one) for one in names})


def _demanded(arguments: object) -> Iterator[str]:
    for argument in arguments[:_MOST] if isinstance(arguments, list) else ():
        name = _usable(argument.get("name")) if isinstance(argument, Mapping) else None
        if name is not None and "${" not in name and argument.get("required") is True:
            yield name
