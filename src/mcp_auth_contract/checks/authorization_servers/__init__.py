"""What the listed authorization servers publish (RFC 8414, OpenID Connect Discovery)."""
