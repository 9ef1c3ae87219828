"""What was seen: answers, their reading, and the one frozen value that each probe returns."""

from mcp_auth_contract.observations.answer import Answer, JsonObject, Trouble
from mcp_auth_contract.observations.observed import (
    Attempt,
    AuthorizationServer,
    AuthorizationServersObserved,
    CallObserved,
    Document,
    DoorObserved,
    Heard,
    Location,
    ParityObserved,
    PreflightObserved,
    ResourceMetadataObserved,
    SessionEndObserved,
    TokenShown,
)
from mcp_auth_contract.observations.reading import (
    Accepted,
    Ambiguous,
    Doubt,
    Reading,
    Refusal,
    Refused,
    describe,
    read,
)
from mcp_auth_contract.observations.timeline import LeewayObserved, LeewayProbe, Step, TimelineObserved
from mcp_auth_contract.observations.union import Observation

__all__ = [
    "Accepted",
    "Ambiguous",
    "Answer",
    "Attempt",
    "AuthorizationServer",
    "AuthorizationServersObserved",
    "CallObserved",
    "Document",
    "DoorObserved",
    "Doubt",
    "Heard",
    "JsonObject",
    "LeewayObserved",
    "LeewayProbe",
    "Location",
    "Observation",
    "ParityObserved",
    "PreflightObserved",
    "Reading",
    "Refusal",
    "Refused",
    "ResourceMetadataObserved",
    "SessionEndObserved",
    "Step",
    "TimelineObserved",
    "TokenShown",
    "Trouble",
    "describe",
    "read",
]
