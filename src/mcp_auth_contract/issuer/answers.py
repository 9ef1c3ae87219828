"""Sending an answer as a behaviour says: late, in drops, with another status or body."""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

from mcp_auth_contract.issuer.behaviours import Behaviour

_DROPS_PER_SECOND = 10


async def answer(behaviour: Behaviour, usual: bytes) -> Response:
    """Return the response after the behaviour's delay; `usual` is the body unless the behaviour has one."""
    if behaviour.delay > 0:
        await asyncio.sleep(behaviour.delay)
    body = usual if behaviour.body is None else behaviour.body
    headers = {"content-type": behaviour.content_type, **behaviour.headers}
    if behaviour.drip is None:
        return Response(body, status_code=behaviour.status, headers=headers)
    headers["content-length"] = str(len(body))
    return StreamingResponse(_drops(body, behaviour.drip), status_code=behaviour.status, headers=headers)


async def _drops(body: bytes, rate: float) -> AsyncIterator[bytes]:
    size = max(1, round(rate / _DROPS_PER_SECOND))
    for start in range(0, len(body), size):
        await asyncio.sleep(size / rate)
        yield body[start : start + size]
