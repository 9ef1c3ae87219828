"""One whole run: start the issuer and the server, look at it, ask every question once, judge, and make the report."""

from mcp_auth_contract.execution.anonymous_run import probe_url
from mcp_auth_contract.execution.contract_run import run_contract
from mcp_auth_contract.execution.options import Given, Options, Progress
from mcp_auth_contract.execution.provider_run import run_provider
from mcp_auth_contract.execution.sharding import Shard, plan_digest, sharded
from mcp_auth_contract.execution.variables import issuer_settings, issuer_values, mint_offline, resolved_for

__all__ = [
    "Given",
    "Options",
    "Progress",
    "Shard",
    "issuer_settings",
    "issuer_values",
    "mint_offline",
    "plan_digest",
    "probe_url",
    "resolved_for",
    "run_contract",
    "run_provider",
    "sharded",
]
