"""Handles, tasks and request state in the hands of another principal or request."""
