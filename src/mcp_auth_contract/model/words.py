"""Closed vocabularies of checks and contracts."""

from enum import StrEnum


class Level(StrEnum):
    """The specification's own keyword (RFC 2119); RECOMMENDED counts as SHOULD."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Impact(StrEnum):
    """What a broken clause costs, independent of its level."""

    AUTH_BYPASS = "auth-bypass"
    AUDIENCE_CONFUSION = "audience-confusion"
    PRIVILEGE_ESCALATION = "privilege-escalation"
    TENANT_LEAK = "tenant-leak"
    SESSION_HIJACK = "session-hijack"
    SECRET_DISCLOSURE = "secret-disclosure"  # noqa: S105  the name of an impact
    AVAILABILITY = "availability"
    INTEROP = "interop"
    HYGIENE = "hygiene"


class Effect(StrEnum):
    """What calling a tool does to the server's records."""

    READ = "read"
    WRITE = "write"
    EXPORT = "export"


class OperationKind(StrEnum):
    """The MCP primitives a scope can guard."""

    TOOL = "tool"
    RESOURCE = "resource"
    PROMPT = "prompt"
