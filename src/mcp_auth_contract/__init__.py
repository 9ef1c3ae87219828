"""An authentication contract test kit for protected MCP servers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_auth_contract.api import (
        Contract,
        ContractError,
        Error,
        Fail,
        Gate,
        Inconclusive,
        KitError,
        Level,
        NotApplicable,
        Pass,
        Report,
        Result,
        Unreachable,
        UsageError,
        load_contract,
        mint_token,
        read_report,
        run,
        write_report,
    )

__all__ = [
    "Contract",
    "ContractError",
    "Error",
    "Fail",
    "Gate",
    "Inconclusive",
    "KitError",
    "Level",
    "NotApplicable",
    "Pass",
    "Report",
    "Result",
    "Unreachable",
    "UsageError",
    "__version__",
    "load_contract",
    "mint_token",
    "read_report",
    "run",
    "write_report",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import the public interface when it is first asked for, so that the version and the plugin stay quick."""
    if name in __all__:
        return getattr(import_module("mcp_auth_contract.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
