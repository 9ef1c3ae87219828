"""The checks, one room a subject: `probe` asks, `observation` holds what was seen, `judges` decide.

A judge has no socket, no token and no issuer; `registry` finds every probe and judge where it is defined.
"""
