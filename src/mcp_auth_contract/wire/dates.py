"""Dates in header fields, which a server may write as it likes."""

from datetime import UTC
from email.utils import parsedate_to_datetime

_LAST = 7_258_118_400.0
"""The beginning of the year 2200: no clock is right that has come so far, and no token lives until then."""


def seconds_of(date: str) -> float | None:
    """Return an HTTP date (RFC 9110 §5.6.7) in seconds since 1970; None for any other text and for other centuries."""
    try:
        parsed = parsedate_to_datetime(date)
        # A zone of -0000 is read as none; HTTP knows UTC alone.
        seconds = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, AttributeError):
        return None
    return seconds if 0 <= seconds < _LAST else None
