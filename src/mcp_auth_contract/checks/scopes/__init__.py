"""Scopes: what is asked for, what suffices, and ways past them."""
