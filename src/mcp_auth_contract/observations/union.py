"""Everything that a probe may return."""

from mcp_auth_contract.observations.observed import (
    AuthorizationServersObserved,
    CallObserved,
    DoorObserved,
    ParityObserved,
    PreflightObserved,
    ResourceMetadataObserved,
    SessionEndObserved,
)
from mcp_auth_contract.observations.timeline import LeewayObserved, TimelineObserved

__all__ = ["Observation"]

Observation = (
    AuthorizationServersObserved
    | CallObserved
    | DoorObserved
    | LeewayObserved
    | ParityObserved
    | PreflightObserved
    | ResourceMetadataObserved
    | SessionEndObserved
    | TimelineObserved
)
