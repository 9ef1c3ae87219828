"""What a server says of a View, and what it gives to whoever may show one."""

from dataclasses import dataclass

from mcp_auth_contract.answers import Attempt
from mcp_auth_contract.answers.answer import JsonObject
from mcp_auth_contract.checks.observing import Observation

NESTED, FLAT, OPENAI = "_meta.ui.resourceUri", '_meta["ui/resourceUri"]', '_meta["openai/outputTemplate"]'
"""The places of a tool's entry that lead to its View, as reports name them."""

SHOWING, PLAIN, BARE = "by a client that shows Views", "by a client that shows none", "without arguments"
"""The ways in which a View's tool is called."""


def meta_of(entry: JsonObject | None) -> JsonObject:
    """Return the `_meta` of an entry, an item or a result; empty where there is none."""
    meta = (entry or {}).get("_meta")
    return meta if isinstance(meta, dict) else {}


def ui_of(entry: JsonObject | None) -> JsonObject:
    """Return `_meta.ui`, empty where there is none."""
    said = meta_of(entry).get("ui")
    return said if isinstance(said, dict) else {}


def pointers_of(entry: JsonObject | None) -> dict[str, object]:
    """Return where a tool's entry leads, by place."""
    meta = meta_of(entry)
    found = {
        NESTED: ui_of(entry).get("resourceUri"),
        FLAT: meta.get("ui/resourceUri"),
        OPENAI: meta.get("openai/outputTemplate"),
    }
    return {place: uri for place, uri in found.items() if uri is not None}


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list says of one thing. `unread` is why the list is not known to its end, empty where it is."""

    entry: JsonObject | None
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """What resources/read brought: the item of the View, how many there are, and the document in it.

    `document` is None where there is none that can be read; `fault` says why. Neither holds a secret.
    """

    item: JsonObject | None = None
    items: int = 0
    document: str | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A call of a tool, made in a `way`, and the labels of the tokens and declared secrets that came back."""

    tool: str
    way: str
    attempt: Attempt
    leaked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewObserved(Observation):
    """The View of one tool, as a client gets it that shows Views.

    `uri` is where the tool leads, empty where it leads nowhere, `read` None where nothing was read. `leaked` are the
    labels of the secrets in what was read. `called` are the calls of the tool: by a client that shows Views, by one
    that does not (`plain` is what that one lists of the tool, None where nobody asked), and without arguments.
    """

    tool: str
    listed: Listed
    uri: str = ""
    resource: Listed = Listed(None)
    read: Attempt | None = None
    content: Content = Content()
    leaked: tuple[str, ...] = ()
    called: tuple[ToolAnswer, ...] = ()
    plain: Listed | None = None

    @property
    def pointers(self) -> dict[str, object]:
        """Where the tool's entry leads, by place."""
        return pointers_of(self.listed.entry)

    def answered(self, way: str) -> ToolAnswer | None:
        """Return the call that was made in a way; None where it was not made."""
        return next((one for one in self.called if one.way == way), None)


@dataclass(frozen=True, slots=True)
class Reader:
    """What one caller got of a View's resource. `name` is empty for a caller without a token.

    `canaries` are the records that are in it and where, each with whether the caller may read it; `names` are those of
    the texts that stand for the readers of this question (subject, tenant, canaries) which occur in the document.
    """

    name: str
    attempt: Attempt
    document: str | None = None
    canaries: tuple[tuple[str, str, bool], ...] = ()
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ViewReadersObserved(Observation):
    """A View's resource as several callers get it, the caller of the tool first and the one without a token last.

    `own` are the texts that stand for each reader, by name.
    """

    tool: str
    uri: str
    readers: tuple[Reader, ...] = ()
    own: tuple[tuple[str, frozenset[str]], ...] = ()
    unread: str = ""


@dataclass(frozen=True, slots=True)
class AppTool:
    """A tool that a View may call, tried with credentials that do not suffice.

    `declared` says that it is one of the contract. `plain` are the calls of a client that shows no Views, `apps` those
    of one that does, or that puts marks of the extension into its request.
    """

    name: str
    only: bool
    declared: bool
    plain: tuple[Attempt, ...] = ()
    apps: tuple[Attempt, ...] = ()
    good: ToolAnswer | None = None


@dataclass(frozen=True, slots=True)
class AppToolsObserved(Observation):
    """The tools of Views, and the visibility of every listed tool. `unread` is why the list is not known to its end."""

    tools: tuple[AppTool, ...]
    visible: tuple[tuple[str, object], ...] = ()
    unread: str = ""
