"""The View of the sample server (MCP Apps), and the steps in which it may differ."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.tools import VIEW, Tool

UI = "io.modelcontextprotocol/ui"
"""The extension's name."""

MIME_TYPE = "text/html;profile=mcp-app"
DOCUMENT = (Path(__file__).parent / "view.html").read_text("utf-8")

ASSETS = "https://assets.example.com"
"""The one origin that the View may load images from."""

META: Mapping[str, Any] = MappingProxyType(
    {
        "ui": {"csp": {"connectDomains": [], "resourceDomains": [ASSETS]}, "prefersBorder": True},
        "openai/widgetCSP": {"connect_domains": [], "resource_domains": [ASSETS]},
        "openai/widgetPrefersBorder": True,
    }
)
"""What the resource says of itself, to hosts of MCP Apps and to those of the OpenAI Apps SDK."""


def same_for_all(_principal: Principal) -> str:
    """The document is a template: the same for every caller."""
    return DOCUMENT


@dataclass(frozen=True, slots=True)
class ViewRules:
    """Steps: what the View's document is to a caller, and what is made of the entries that name it.

    `listed` and `read` edit the entry in resources/list (None leaves it out) and the contents of resources/read,
    `described` a tool's entry, `answered` the result of a View's tool; it is told whether the client shows Views.
    """

    offered: bool = False
    uri: str = VIEW
    document: Callable[[Principal], str] = same_for_all
    listed: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda entry: entry
    read: Callable[[dict[str, Any]], list[dict[str, Any]]] = lambda item: [item]
    described: Callable[[Tool], dict[str, Any]] = Tool.describe
    answered: Callable[[Principal, str, dict[str, Any], bool], dict[str, Any]] = lambda _by, _tool, told, _apps: told

    def entry(self) -> dict[str, Any] | None:
        """Return the entry in resources/list."""
        return self.listed({"uri": self.uri, "name": "invoice view", "mimeType": MIME_TYPE, "_meta": dict(META)})

    def contents(self, principal: Principal) -> list[dict[str, Any]]:
        """Return what a reader gets."""
        text = self.document(principal)
        return self.read({"uri": self.uri, "mimeType": MIME_TYPE, "text": text, "_meta": dict(META)})


def shows_views(capabilities: object) -> bool:
    """Whether a client says that it shows Views of this kind (MCP Apps, capability negotiation)."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    said = extensions.get(UI) if isinstance(extensions, dict) else None
    types = said.get("mimeTypes") if isinstance(said, dict) else None
    return isinstance(types, list) and MIME_TYPE in types
