"""What caches may keep (MCP 2026-07-28, caching)."""
