"""The service that the lab tells of each export, where it has one."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.fetching import Unreachable, exchange
from mcp_auth_contract_lab.incoming import Incoming

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

_TOOL = "export_invoices"


@dataclass(frozen=True, slots=True)
class Upstream:
    """Steps: the header fields of a request to the upstream, made on behalf of one from a client."""

    # The upstream knows the lab, not its callers (MCP authorization, access token privilege restriction).
    headers: Callable[[Incoming], Mapping[str, str]] = lambda _incoming: {
        "Authorization": "Bearer the-credential-of-the-lab"
    }


async def tell_upstream(lab: "Lab", incoming: Incoming, message: Any) -> None:
    """Tell the upstream of an export that was made; one that does not answer is no trouble."""
    if lab.settings.upstream_uri is None or not isinstance(message, dict):
        return
    if message.get("method") != "tools/call" or rpc.params_of(message).get("name") != _TOOL:
        return
    headers = lab.behaviour.upstream.headers(incoming)
    with suppress(Unreachable):
        await asyncio.to_thread(exchange, f"{lab.settings.upstream_uri}/exports", headers=headers)
