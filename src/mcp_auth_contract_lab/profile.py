"""The legal ways in which a sound server may differ; no check may fail on one."""

from enum import StrEnum


class Profile(StrEnum):
    """A legal variation, by the name that the command line takes. Several may be combined."""

    ROOT_METADATA = "root-metadata"
    ROOT_AND_PATH_METADATA = "root-and-path-metadata"
    HEADER_ONLY_METADATA = "header-only-metadata"
    SCP_LIST = "scp-list"
    NO_SESSIONS = "no-sessions"
    NO_STREAM = "no-stream"
    SSE = "sse"
    HIDDEN_TOOLS = "hidden-tools"
    HIDDEN_AND_UNKNOWN = "hidden-and-unknown"
    PAGINATED = "paginated"
    PUBLIC_DISCOVERY = "public-discovery"
    SEVERAL_CHALLENGES = "several-challenges"
    LOWER_CASE_SCHEME = "lower-case-scheme"
    TOKEN_PARAMETERS = "token-parameters"  # noqa: S105  unquoted challenge parameters (RFC 9110 §5.6.2)
    ERROR_ON_MISSING_TOKEN = "error-on-missing-token"  # noqa: S105  the name of a variation
    EMPTY_REFUSALS = "empty-refusals"
    MALFORMED_401 = "malformed-401"
    HELD_SCOPES = "held-scopes"
    FOREIGN_SESSION_403 = "foreign-session-403"
    LEGACY_ONLY = "legacy-only"
    MODERN_ONLY = "modern-only"
    LEEWAY_60 = "leeway-60"
    ANY_TYP = "any-typ"
    OWN_AS = "own-as"
    SLASH_REDIRECT = "slash-redirect"
    TOOL_CHALLENGE = "tool-challenge"
    EITHER_CHALLENGE = "either-challenge"
    INVALID_TOKEN_401 = "invalid-token-401"  # noqa: S105  the name of a variation
    PUBLIC_STREAM = "public-stream"
    OPAQUE = "opaque"
    AUDITED = "audited"
    NO_TASKS = "no-tasks"
    FOREIGN_HANDLES_403 = "foreign-handles-403"
    FOREIGN_HANDLES_404 = "foreign-handles-404"
    SINGLE_USE = "single-use"
    STRICT_KEYS = "strict-keys"
    ASKS_ALWAYS = "asks-always"
    MIRRORED_ARGUMENTS = "mirrored-arguments"
