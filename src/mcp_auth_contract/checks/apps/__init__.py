"""Views of MCP Apps, as far as the server's own answers tell: their documents, their tools, and what reaches them."""
