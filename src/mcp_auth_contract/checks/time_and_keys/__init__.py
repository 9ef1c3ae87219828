"""Expiry, leeway, and the life of the issuer's keys."""
