"""The runner: questions asked once, cases between controls, results that lose nothing."""

from mcp_auth_contract.runner.reproduce import reproduction
from mcp_auth_contract.runner.result import ControlSeen, Coverage, Gate, Report, Result, TargetSeen
from mcp_auth_contract.runner.run import Run

__all__ = ["ControlSeen", "Coverage", "Gate", "Report", "Result", "Run", "TargetSeen", "reproduction"]
