"""The catalogue of checks: data files in a closed vocabulary."""

from mcp_auth_contract.catalogue.check import Axis, Check, Need, ScopeChoice
from mcp_auth_contract.catalogue.load import FAMILIES, load_builtin

__all__ = ["FAMILIES", "Axis", "Check", "Need", "ScopeChoice", "load_builtin"]
