"""Steps of faults that change an answer after the endpoint has made it soundly."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from starlette.responses import Response

from mcp_auth_contract_lab.fault import Change
from mcp_auth_contract_lab.incoming import Incoming

if TYPE_CHECKING:
    from mcp_auth_contract_lab.app import Lab

__all__ = ["Edit", "edited"]

Edit: TypeAlias = Callable[[Incoming, Response], Awaitable[Response]]
"""Makes another answer of one, or returns it as it is."""


def edited(edit: Edit) -> Change:
    """Change what the endpoint answers, after it has answered soundly."""

    async def intercept(lab: "Lab", incoming: Incoming) -> Response | None:
        if not lab.behaviour.endpoint.matches(incoming.path) or incoming.header("origin") is not None:
            return None
        return await edit(incoming, await lab.guarded(incoming))

    return lambda behaviour: replace(behaviour, endpoint=replace(behaviour.endpoint, intercept=intercept))
