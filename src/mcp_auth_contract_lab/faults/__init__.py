"""The faults by name: the same server with one step wrong."""

from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults import (
    algorithms,
    audiences,
    challenges,
    claims,
    documents,
    encryption,
    endpoint,
    extensions,
    handles,
    identity,
    introspection,
    isolation,
    issuers,
    json_texts,
    keys,
    kinds,
    leaks,
    memory,
    presentation,
    remembered,
    scope_matrix,
    scope_syntax,
    scopes,
    selection,
    sender,
    serialization,
    servers,
    sessions,
    signatures,
    subjects,
    times,
    tool_challenges,
    workers,
)

__all__ = ["FAULTS"]

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        fault.name: fault
        for fault in (
            *signatures.FAULTS,
            *claims.FAULTS,
            *issuers.FAULTS,
            *audiences.FAULTS,
            *presentation.FAULTS,
            *endpoint.FAULTS,
            *scopes.FAULTS,
            *challenges.FAULTS,
            *documents.FAULTS,
            *servers.FAULTS,
            *memory.FAULTS,
            *workers.FAULTS,
            *keys.FAULTS,
            *introspection.FAULTS,
            *serialization.FAULTS,
            *json_texts.FAULTS,
            *algorithms.FAULTS,
            *selection.FAULTS,
            *extensions.FAULTS,
            *encryption.FAULTS,
            *kinds.FAULTS,
            *times.FAULTS,
            *subjects.FAULTS,
            *scope_syntax.FAULTS,
            *scope_matrix.FAULTS,
            *sender.FAULTS,
            *identity.FAULTS,
            *remembered.FAULTS,
            *sessions.FAULTS,
            *leaks.FAULTS,
            *isolation.FAULTS,
            *handles.FAULTS,
            *tool_challenges.FAULTS,
        )
    }
)
