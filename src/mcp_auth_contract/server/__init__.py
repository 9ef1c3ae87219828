"""The server under test: an application in this process, a process that the kit starts, or a URL where one is."""

from mcp_auth_contract.server.application import lifespan, loaded, overheard
from mcp_auth_contract.server.frozen import FrozenTime
from mcp_auth_contract.server.process import StartedProcess, free_port, wait_for_port
from mcp_auth_contract.server.upstream import LogFiles, LogText, Upstream

__all__ = [
    "FrozenTime",
    "LogFiles",
    "LogText",
    "StartedProcess",
    "Upstream",
    "free_port",
    "lifespan",
    "loaded",
    "overheard",
    "wait_for_port",
]
