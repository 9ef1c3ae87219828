"""A client of a real authorization server: it signs in, asks for tokens, and keeps what it is given to itself."""
