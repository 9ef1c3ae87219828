"""An authentication contract test kit for protected MCP servers."""

__all__ = ["__version__"]

__version__ = "0.1.0"
