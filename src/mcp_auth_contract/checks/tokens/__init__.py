"""Calls with one token, presented in one way, and how they are refused."""
