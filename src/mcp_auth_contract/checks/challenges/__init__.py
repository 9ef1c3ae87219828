"""Challenges of the methods of the protocol, and their form (RFC 9110, RFC 6750)."""
