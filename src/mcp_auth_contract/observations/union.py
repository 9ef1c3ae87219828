"""Everything that a probe may return."""

from mcp_auth_contract.observations.handles import (
    HandleObserved,
    OwnStateObserved,
    RequestStateObserved,
    TaskObserved,
)
from mcp_auth_contract.observations.identity import IdentityObserved, ListingsObserved
from mcp_auth_contract.observations.isolation import (
    AuditObserved,
    CursorObserved,
    MissingObserved,
    RecordObserved,
    WriteObserved,
)
from mcp_auth_contract.observations.leaks import ExchangesObserved, UpstreamObserved
from mcp_auth_contract.observations.observed import (
    AuthorizationServersObserved,
    CallObserved,
    DoorObserved,
    ParityObserved,
    PreflightObserved,
    ResourceMetadataObserved,
    SessionEndObserved,
)
from mcp_auth_contract.observations.scopes import BypassObserved, RoundsObserved, SurfaceObserved
from mcp_auth_contract.observations.sessions import CacheScopeObserved, SessionIdsObserved, SessionObserved
from mcp_auth_contract.observations.timeline import LeewayObserved, TimelineObserved
from mcp_auth_contract.observations.tool_challenges import ToolPointersObserved, ToolSchemesObserved

__all__ = ["Observation"]

Observation = (
    AuditObserved
    | AuthorizationServersObserved
    | BypassObserved
    | CacheScopeObserved
    | CallObserved
    | CursorObserved
    | DoorObserved
    | ExchangesObserved
    | HandleObserved
    | IdentityObserved
    | LeewayObserved
    | ListingsObserved
    | MissingObserved
    | OwnStateObserved
    | ParityObserved
    | PreflightObserved
    | RecordObserved
    | RequestStateObserved
    | ResourceMetadataObserved
    | RoundsObserved
    | SessionEndObserved
    | SessionIdsObserved
    | SessionObserved
    | SurfaceObserved
    | TaskObserved
    | TimelineObserved
    | ToolPointersObserved
    | ToolSchemesObserved
    | UpstreamObserved
    | WriteObserved
)
