"""The faults by name: the same server with one step wrong."""

from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract.lab.fault import Fault
from mcp_auth_contract.lab.faults import (
    challenges,
    claims,
    documents,
    doors,
    presentation,
    scopes,
    servers,
    signatures,
)

__all__ = ["FAULTS"]

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        fault.name: fault
        for fault in (
            *signatures.FAULTS,
            *claims.FAULTS,
            *presentation.FAULTS,
            *doors.FAULTS,
            *scopes.FAULTS,
            *challenges.FAULTS,
            *documents.FAULTS,
            *servers.FAULTS,
        )
    }
)
