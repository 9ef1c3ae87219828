"""One whole run: start the issuer and the server, look at it, run the plan, and make the report."""

from mcp_auth_contract.execute.anonymous_run import probe_url
from mcp_auth_contract.execute.contract_run import run_contract
from mcp_auth_contract.execute.options import Given, Options, Progress
from mcp_auth_contract.execute.resolving import issuer_settings, issuer_values, mint_offline, resolved_for

__all__ = [
    "Given",
    "Options",
    "Progress",
    "issuer_settings",
    "issuer_values",
    "mint_offline",
    "probe_url",
    "resolved_for",
    "run_contract",
]
