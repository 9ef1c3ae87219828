"""What probes work with: the conversation, the tokens, and the live sessions that they share."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.issuer_control import IssuerControl
from mcp_auth_contract.checks.minting import Minter
from mcp_auth_contract.checks.outputs import Outputs
from mcp_auth_contract.checks.presentation import bearer
from mcp_auth_contract.clock import Clock, RealTime, TimeControl, system_clock
from mcp_auth_contract.contract import Contract, Operation, operations, principal_for
from mcp_auth_contract.model import Revision
from mcp_auth_contract.oauth.metadata import Difference, difference
from mcp_auth_contract.provider.tenant import Tenant
from mcp_auth_contract.wire import LISTS, Conversation, Handshake, HeaderPair, Listing, Redactor, list_all

ANSWERABLE: Mapping[str, Any] = MappingProxyType({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
"""What the kit says that it can be asked: servers may ask nothing else (MCP 2026-07-28, MRTR)."""


@dataclass(slots=True)
class Context:
    """What one run's probes work with.

    `issued` mints tokens, None for an anonymous look at a server. `resource` is the identifier clients know, which a
    proxy may serve at another origin than `conversation.endpoint`; `own_issuers` are the kit's own. `outputs` is what
    the server gives away beside its answers. `clock` is the kit's own, while tokens are minted by the server's.
    `provider` is the real authorization server of a provider run. `secrets` are the texts that no View may get.
    """

    conversation: Conversation
    resource: str
    revisions: tuple[Revision, ...]
    issued: Minter | None = None
    own_issuers: frozenset[str] = frozenset()
    control: Operation | None = None
    issuer: IssuerControl | None = None
    provider: Tenant | None = None
    time: TimeControl = field(default_factory=RealTime)
    outputs: Outputs = field(default_factory=Outputs)
    clock: Clock = system_clock
    secrets: Redactor | None = None
    listed: dict[tuple[Revision, str, str, frozenset[str]], frozenset[str] | None] = field(default_factory=dict)
    _schemas: dict[tuple[Revision, str], "asyncio.Task[Listing]"] = field(default_factory=dict)
    _live: dict[tuple[Revision, str], "asyncio.Task[Handshake]"] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        """The URL that requests go to."""
        return self.conversation.endpoint

    @property
    def minter(self) -> Minter:
        """What mints the tokens; a fault of the plan where there is no contract to mint them by."""
        if self.issued is None:
            raise ValueError("this needs a contract: an anonymous look at a server has no tokens")
        return self.issued

    @property
    def tenant(self) -> Tenant:
        """The authorization server of a provider run; a fault of the plan elsewhere."""
        if self.provider is None:
            raise ValueError("this needs a provider run")
        return self.provider

    @property
    def contract(self) -> Contract:
        """The contract of the run."""
        return self.minter.contract

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What a handshake says that the kit can be asked: whatever the contract has answers for."""
        return ANSWERABLE if self.issued is not None and self.contract.inputs else {}

    async def schema(self, revision: Revision, tool: str) -> Mapping[str, Any] | None:
        """Return the inputSchema of a tool as it is listed for whoever may call it; None where no list shows it.

        Only the stateless era needs it: only there header fields mirror arguments. Each list is read once.
        """
        operation = next((one for one in operations(self.contract) if one.name == tool), None)
        if operation is None or not revision.stateless:
            return None
        key = (revision, self.minter.caller(principal_for(self.contract, operation)))
        if key not in self._schemas:
            reading = list_all(
                self.conversation, revision, LISTS["tools"], self._bearer(key[1]), note="what the tools are called with"
            )
            self._schemas[key] = asyncio.create_task(reading)
        # Shielded: a cancelled case must not cancel the list that others wait for.
        listing = await asyncio.shield(self._schemas[key])
        schema = next((one.get("inputSchema") for one in listing.entries if one.get("name") == tool), None)
        return schema if isinstance(schema, dict) else None

    async def live(self, revision: Revision, principal: str | None) -> Handshake | None:
        """Return the principal's open session in a stateful revision, shaken hands on once and shared.

        None in the stateless era, for anonymous probes, and when the handshake is refused.
        """
        if revision.stateless or principal is None or self.issued is None:
            return None
        key = (revision, principal)
        if key not in self._live:
            opening = self.conversation.open_session(
                revision, self._bearer(principal), capabilities=self.capabilities, note="live session"
            )
            self._live[key] = asyncio.create_task(opening)
        # Shielded: a cancelled case must not cancel the session that others share.
        task = self._live[key]
        handshake = await asyncio.shield(task)
        if not handshake.open:
            if self._live.get(key) is task:  # tried again next time: a refusal may pass, as a rate limit does
                del self._live[key]
            return None
        return handshake

    async def reopen(self, revision: Revision, principal: str | None) -> Handshake | None:
        """Open the principal's session anew: servers forget sessions that were idle for long."""
        if principal is not None:
            self._live.pop((revision, principal), None)
        return await self.live(revision, principal)

    async def close(self) -> None:
        """End the shared sessions."""
        for reading in self._schemas.values():
            reading.cancel()
        await asyncio.gather(*self._schemas.values(), return_exceptions=True)
        tasks, self._live = self._live, {}
        for (_, principal), task in tasks.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                await self.conversation.close_session(task.result(), self._bearer(principal))
            else:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def fetch(
        self, url: str, *, headers: tuple[HeaderPair, ...] = (), accept: str = "application/json"
    ) -> Answer:
        """GET a document without credentials; the resource's own origin is asked where the endpoint really is."""
        return await self.conversation.http.fetch(self._located(url), accept=accept, headers=headers)

    def _bearer(self, principal: str) -> tuple[HeaderPair, ...]:
        return bearer(self.minter.mint(principal, "good").token).headers

    def _located(self, url: str) -> str:
        if difference(_origin(self.resource), _origin(self.endpoint)) is Difference.NONE:
            return url
        if _origin(url) == _origin(self.resource) != "":
            return _origin(self.endpoint) + url[len(_origin(url)) :]
        return url


def _origin(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    return f"{scheme}://{rest.split('/', 1)[0]}" if mark else ""
