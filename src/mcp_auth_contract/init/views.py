"""Views of MCP Apps in a draft: which tools show one, what they may ask for, and which tools only Views are offered."""

from collections.abc import Iterable, Iterator, Mapping

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.checks.apps.observation import pointers_of, ui_of
from mcp_auth_contract.init.toml import Section, Unwritable, value

_READERS = ("model", "app")
_PERMISSIONS = ("camera", "microphone", "geolocation", "clipboardWrite")
_ORIGINS = {
    "connectDomains": "connect",
    "resourceDomains": "resource",
    "frameDomains": "frame",
    "baseUriDomains": "base_uri",
}
"""By the key of the server's metadata: the key of `apps.csp`."""

_MOST = 20
_LONGEST = 300


def visibility_of(entry: JsonObject) -> tuple[str, ...]:
    """Return whom a tool says that it is for; empty where it says nothing that a contract can hold."""
    said = ui_of(entry).get("visibility")
    words = tuple(one for one in _READERS if isinstance(said, list) and one in said)
    return words if isinstance(said, list) and len(words) == len(said) else ()


def view_of(entry: JsonObject) -> str | None:
    """Return the View that a tool leads to; None for one that the contract cannot name, such as a View's helper."""
    if visibility_of(entry) == ("app",):
        return None
    uris = (uri for uri in pointers_of(entry).values() if isinstance(uri, str))
    return next((uri for uri in uris if 0 < len(uri) <= _LONGEST), None)


def views_in(entries: Iterable[JsonObject]) -> tuple[str, ...]:
    """Return the Views that tools lead to, the first twenty."""
    found = dict.fromkeys(uri for entry in entries if (uri := view_of(entry)) is not None)
    return tuple(found)[:_MOST]


def sections(tools: Mapping[str, str], views: Mapping[str, JsonObject]) -> Iterator[Section]:
    """Yield the tables of the Views: `tools` leads from a tool to its View, `views` holds what was read of each."""
    if not tools:
        return
    apps = Section("apps")
    known = [views[uri] for uri in dict.fromkeys(tools.values()) if uri in views]
    if not known:
        apps.ask("which origins and permissions may Views ask for? None could be read.", {"permissions": []})
    else:
        origins, permissions = [_csp(one) for one in known], [_permissions(one) for one in known]
        if any(one != origins[0] or two != permissions[0] for one, two in zip(origins, permissions, strict=True)):
            apps.remark("Its Views declare different origins or permissions, so that none are written here.")
        else:
            apps.ask("are these all that a View may ask for? As the server declares them.")
            apps.set("csp", origins[0])
            apps.set("permissions", permissions[0])
    example = Section()
    example.set("secrets", ["${env:UPSTREAM_KEY}"], variables=True)
    apps.ask("which secrets of the server may no View ever get, besides every token?", example)
    yield apps
    for number, tool in enumerate(tools):
        view = Section("views", entry=True)
        view.set("tool", tool)
        if number == 0:
            private = {"private": ["/_meta/notes"]}
            view.ask("which values of its result are for the View alone, and not for the model?", private)
        yield view


def _csp(meta: JsonObject) -> dict[str, list[str]]:
    csp = meta.get("csp")
    given = csp if isinstance(csp, Mapping) else {}
    found = {ours: _texts(given.get(theirs)) for theirs, ours in _ORIGINS.items()}
    return {key: origins for key, origins in found.items() if origins}


def _permissions(meta: JsonObject) -> list[str]:
    said = meta.get("permissions")
    return [one for one in _PERMISSIONS if isinstance(said, Mapping) and one in said]


def _texts(listed: object) -> list[str]:
    texts = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    return list(dict.fromkeys(one for one in texts if 0 < len(one) <= _LONGEST and _writable(one)))[:_MOST]


def _writable(text: str) -> bool:
    try:
        value(text)
    except Unwritable:
        return False
    return True
