"""What is wrong with protected-resource metadata (RFC 9728)."""
