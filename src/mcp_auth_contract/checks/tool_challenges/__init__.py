"""Challenges in tool results, and security schemes of tools."""
