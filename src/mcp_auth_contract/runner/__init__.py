"""The runner: questions asked once, cases between controls, results that lose nothing."""

from mcp_auth_contract.runner.reproduce import reproduction
from mcp_auth_contract.runner.result import ControlSeen, Coverage, Gate, Report, Result, TargetSeen
from mcp_auth_contract.runner.run import Run
from mcp_auth_contract.runner.sharding import Shard, ShardSeen, plan_digest, sharded
from mcp_auth_contract.runner.waiver import Waiver

__all__ = [
    "ControlSeen",
    "Coverage",
    "Gate",
    "Report",
    "Result",
    "Run",
    "Shard",
    "ShardSeen",
    "TargetSeen",
    "Waiver",
    "plan_digest",
    "reproduction",
    "sharded",
]
