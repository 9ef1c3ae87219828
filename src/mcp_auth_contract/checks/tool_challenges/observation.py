"""What hosts that sign users in for single tools go by: challenges in results, and `securitySchemes` of tools."""

from dataclasses import dataclass
from typing import Any

from mcp_auth_contract.answers import Answer, Attempt, JsonObject
from mcp_auth_contract.checks.discovery.observation import Document
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.oauth.challenge import Challenges, parse_challenges

_MEMBER = "mcp/www_authenticate"


def challenged_in_result(answer: Answer) -> bool:
    """Whether the result has `_meta["mcp/www_authenticate"]`, whatever is in it."""
    meta = answer.result.get("_meta")
    return isinstance(meta, dict) and meta.get(_MEMBER) is not None


def result_texts(answer: Answer) -> tuple[str, ...] | None:
    """Return the texts of the challenges in a result: a string, or a list of strings (OpenAI Apps SDK).

    None for a value of another kind, and where there is none. A pair of single quotes around a text, as the Apps SDK's
    own example has it, is kept.
    """
    meta = answer.result.get("_meta")
    value = meta.get(_MEMBER) if isinstance(meta, dict) else None
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None


def result_challenges(answer: Answer) -> Challenges:
    """Return the challenges in a result as a lenient host reads them, without single quotes around them."""
    return parse_challenges([_unwrapped(text) for text in result_texts(answer) or ()])


def _unwrapped(text: str) -> str:
    inner = text.strip()
    return inner[1:-1] if len(inner) > 1 and inner[0] == inner[-1] == "'" else text


@dataclass(frozen=True, slots=True)
class ToolPointersObserved(Observation):
    """Where the challenges in the result of one call without a token lead.

    `asked` are the answers to the call, none where the control operation is no tool; `documents` holds one document
    per distinct `resource_metadata`.
    """

    asked: tuple[Answer, ...]
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class ToolDeclared:
    """A tool of the contract beside what tools/list says of it.

    `scopes` and `public` are the contract's. `entry` is None for a tool that is not listed. `called` are the attempts
    without a token, made where the contract or the entry says that the tool works so.
    """

    name: str
    scopes: frozenset[str]
    public: bool
    entry: JsonObject | None
    called: tuple[Attempt, ...] = ()

    @property
    def stated(self) -> object:
        """`securitySchemes` of the entry, None where it has none."""
        return None if self.entry is None else self.entry.get("securitySchemes")

    @property
    def mirrored(self) -> object:
        """`securitySchemes` of the entry's `_meta`, None where it has none."""
        meta = None if self.entry is None else self.entry.get("_meta")
        return meta.get("securitySchemes") if isinstance(meta, dict) else None

    @property
    def schemes(self) -> tuple[dict[str, Any], ...]:
        """The security schemes that a host reads: the entry's own, else those of its `_meta`."""
        value = self.mirrored if self.stated is None else self.stated
        return tuple(one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()

    @property
    def open(self) -> bool:
        """Whether a call without a token had an effect, in any way."""
        return any(attempt.accepted for attempt in self.called)


@dataclass(frozen=True, slots=True)
class ToolSchemesObserved(Observation):
    """The tools of the contract as tools/list shows them to a principal, page by page (`pages`)."""

    pages: tuple[Answer, ...]
    tools: tuple[ToolDeclared, ...]
