"""The server under test: a process that the kit starts, or a URL where one already is."""

from mcp_auth_contract.target.process import StartedProcess, free_port, wait_for_port

__all__ = ["StartedProcess", "free_port", "wait_for_port"]
