"""Introspection over time (RFC 7662)."""
