"""Protected-resource metadata and where it is found (RFC 9728)."""
