"""The contract file: what the kit has to know about a server, checked before anything is sent."""

from mcp_auth_contract.contract.access import (
    Access,
    Ways,
    accesses,
    handle_calls,
    keyed,
    namesake_of,
    nearest,
    no_access,
    operation_of,
    stranger_named,
    strangers,
    tool_call,
)
from mcp_auth_contract.contract.load import (
    at_url,
    environment_secrets,
    load_contract,
    read_contract,
    resolve,
    resolve_issuer,
)
from mcp_auth_contract.contract.models import Contract, Input, Principal, Record
from mcp_auth_contract.contract.operations import (
    Operation,
    control_operation,
    implying,
    operations,
    principal_for,
    private_canaries,
    satisfies,
)
from mcp_auth_contract.contract.server import Issuer, Policy

__all__ = [
    "Access",
    "Contract",
    "Input",
    "Issuer",
    "Operation",
    "Policy",
    "Principal",
    "Record",
    "Ways",
    "accesses",
    "at_url",
    "control_operation",
    "environment_secrets",
    "handle_calls",
    "implying",
    "keyed",
    "load_contract",
    "namesake_of",
    "nearest",
    "no_access",
    "operation_of",
    "operations",
    "principal_for",
    "private_canaries",
    "read_contract",
    "resolve",
    "resolve_issuer",
    "satisfies",
    "stranger_named",
    "strangers",
    "tool_call",
]
