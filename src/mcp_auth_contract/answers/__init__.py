"""What a server answered, and how it reads: accepted, refused in some way, or ambiguous."""

from mcp_auth_contract.answers.answer import WITHHELD, Answer, JsonObject, TransportFailure
from mcp_auth_contract.answers.attempt import Attempt
from mcp_auth_contract.answers.reading import (
    Accepted,
    AmbiguityReason,
    Ambiguous,
    Reading,
    Refusal,
    Refused,
    describe,
    read,
)

__all__ = [
    "WITHHELD",
    "Accepted",
    "AmbiguityReason",
    "Ambiguous",
    "Answer",
    "Attempt",
    "JsonObject",
    "Reading",
    "Refusal",
    "Refused",
    "TransportFailure",
    "describe",
    "read",
]
