"""Will an MCP host connect? What each host needs is data (scenarios/hosts.toml); what the server shows is observed."""
