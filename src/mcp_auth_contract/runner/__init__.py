"""The runner: questions asked once, cases between controls, results that lose nothing."""

from mcp_auth_contract.runner.run import Run
from mcp_auth_contract.runner.sharding import Shard, plan_digest, sharded

__all__ = ["Run", "Shard", "plan_digest", "sharded"]
