"""Live records: what a person saw of a server in a real host, kept in a file, and what a release makes of it."""
