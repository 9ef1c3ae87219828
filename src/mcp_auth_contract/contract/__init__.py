"""The contract file: what the kit has to know about a server, checked before anything is sent."""

from mcp_auth_contract.contract.access import (
    Access,
    Ways,
    accesses,
    handle_calls,
    keyed,
    no_access,
    operation_of,
    tool_call,
)
from mcp_auth_contract.contract.interpolate import VARIABLES, environment_secrets, resolve, resolve_issuer
from mcp_auth_contract.contract.load import at_url, load_contract, read_contract, table_in
from mcp_auth_contract.contract.models import (
    Contract,
    Cursor,
    Handle,
    Input,
    Principal,
    Record,
)
from mcp_auth_contract.contract.operations import (
    Operation,
    control_operation,
    implying,
    operations,
    principal_for,
    private_canaries,
    satisfies,
)
from mcp_auth_contract.contract.pointers import pointed_at
from mcp_auth_contract.contract.schema import contract_schema
from mcp_auth_contract.contract.server import Claims, Issuer, Policy, Target
from mcp_auth_contract.contract.strangers import namesake_of, nearest, stranger_named, strangers

__all__ = [
    "VARIABLES",
    "Access",
    "Claims",
    "Contract",
    "Cursor",
    "Handle",
    "Input",
    "Issuer",
    "Operation",
    "Policy",
    "Principal",
    "Record",
    "Target",
    "Ways",
    "accesses",
    "at_url",
    "contract_schema",
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
    "pointed_at",
    "principal_for",
    "private_canaries",
    "read_contract",
    "resolve",
    "resolve_issuer",
    "satisfies",
    "stranger_named",
    "strangers",
    "table_in",
    "tool_call",
]
