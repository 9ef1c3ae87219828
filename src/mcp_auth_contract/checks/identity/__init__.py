"""Whose records come back when identities meet: names in requests, callers at once, token sequences."""
