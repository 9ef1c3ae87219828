"""What a judge may know besides the observation: the ground truth of the contract, as plain values."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from mcp_auth_contract.model import Revision


@dataclass(frozen=True, slots=True)
class AppsFacts:
    """What the contract says of Views (MCP Apps).

    `csp` holds the declared origins by key of `_meta.ui.csp`; it and `permissions` are None where anything will do.
    `visibility` is that of the tools that declare one, `private` are JSON Pointers into the result of the case's tool.
    """

    csp: Mapping[str, frozenset[str]] | None = None
    permissions: frozenset[str] | None = None
    visibility: Mapping[str, frozenset[str]] = field(default_factory=dict)
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """Ground truth for one case.

    `revision` is None for cases about the whole server; `revisions` are those the run covers. `needed` are the scopes
    of the operation, `missing` the one that the token lacks; `canaries` are texts that the call brings to the case's
    principal and to nobody else. `wider` holds for each of these scopes the ones that contain it by `policy.implies`,
    itself included. `has_contract` is False for an anonymous probe of a URL, where nothing is known of the
    target but its address. `apps` is what the contract says of Views, None where it names none.
    """

    endpoint: str
    resource: str
    revisions: tuple[Revision, ...]
    revision: Revision | None = None
    challenge: Literal["http", "tool", "either"] = "http"
    public: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    missing: str | None = None
    loopback: bool = False
    has_contract: bool = True
    canaries: frozenset[str] = frozenset()
    wider: Mapping[str, frozenset[str]] = field(default_factory=dict)
    apps: AppsFacts | None = None

    @property
    def newest(self) -> Revision:
        """The newest revision of the run."""
        return max(self.revisions)

    @property
    def in_band(self) -> bool:
        """Whether a refusal may come inside a tool result (`policy.challenge` is tool or either)."""
        return self.challenge != "http"

    def covers(self, granted: Collection[str], scope: str) -> bool:
        """Whether the granted scopes hold this one, or one that implies it."""
        return any(one in granted for one in self.wider.get(scope, (scope,)))
