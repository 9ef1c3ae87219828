"""Tokens and records where they do not belong, over a whole run."""
