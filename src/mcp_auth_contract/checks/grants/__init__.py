"""What a real authorization server does with clients: codes, tokens, revocation, introspection, registration."""
