"""The server under test: an application in this process, a process that the kit starts, or a URL where one is."""

from mcp_auth_contract.target.application import LoadedApp, lifespan, loaded
from mcp_auth_contract.target.frozen import FrozenTime
from mcp_auth_contract.target.process import StartedProcess, free_port, wait_for_port

__all__ = ["FrozenTime", "LoadedApp", "StartedProcess", "free_port", "lifespan", "loaded", "wait_for_port"]
