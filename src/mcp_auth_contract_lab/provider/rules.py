"""What the sample authorization server does, as steps that a fault replaces."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

KNOWN_SCOPES = ("invoices:read", "invoices:write", "invoices:export", "offline_access")

USER = "alice"
PASSWORD = "correct-horse-battery-staple"  # noqa: S105  of nobody
PUBLIC_CLIENT = "desktop-app"
CONFIDENTIAL_CLIENT = "web-app"
CLIENT_SECRET = "web-app-secret-0123456789abcdef"  # noqa: S105  of nobody
OTHER_CLIENT = "other-app"
REDIRECT_URI = "http://127.0.0.1:8765/callback"

_UNFRAMED = {"content-security-policy": "frame-ancestors 'none'"}


def exactly_or_other_port(sent: str, registered: str) -> bool:
    """Whether a redirect URI is the registered one; of a loopback address the port is free (OAuth 2.1 §8.4.2)."""
    if sent == registered:
        return True
    one, other = urlsplit(sent), urlsplit(registered)
    loopback = other.hostname in ("127.0.0.1", "::1") and "@" not in one.netloc
    return loopback and one.hostname == other.hostname and one._replace(netloc="") == other._replace(netloc="")


def allowed_redirect(uri: object) -> bool:
    """Whether a redirect URI may be registered."""
    if not isinstance(uri, str) or "#" in uri or "*" in uri:
        return False
    parts = urlsplit(uri)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost"))


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Rules:
    """How each request is dealt with; the defaults are sound."""

    # metadata
    metadata: Callable[[dict[str, Any]], dict[str, Any]] = _same
    # authorization endpoint
    redirect_matches: Callable[[str, str], bool] = exactly_or_other_port
    redirects_unknown_clients: bool = False
    issues_codes: bool = True
    challenge_required: bool = True
    challenge_methods: frozenset[str] = frozenset({"S256"})
    any_challenge_method: bool = False
    response_types: frozenset[str] = frozenset({"code"})
    any_response_type: bool = False
    default_response_type: str = ""
    scopes_checked: bool = True
    resources_checked: bool = True
    resource_syntax_checked: bool = True
    repeated_refused: bool = True
    unknown_refused: bool = False
    empty_refused: bool = False
    state: Callable[[str], str | None] = _same
    error_state: bool = True
    iss: Callable[[str], str | None] = _same
    error_iss: bool = True
    error_code: Callable[[str], str] = _same
    page_headers: Mapping[str, str] = field(
        default_factory=lambda: {"content-security-policy": "frame-ancestors 'none'"}
    )
    status_after_login: int = 303
    login_moves: bool = False
    # token endpoint
    verifier_checked: bool = True
    verifier_demanded: bool = True
    plain_verifiers: bool = False
    unexpected_verifier_refused: bool = True
    redirect_compared: bool = True
    code_bound: bool = True
    code_used_once: bool = True
    replay_revokes: bool = True
    get_allowed: bool = False
    secret_demanded: bool = True
    one_authentication: bool = True
    client_status: int = 401
    client_challenge: bool = True
    password_grant: bool = False
    password_error: str = "unsupported_grant_type"  # noqa: S105  an error
    error_status: int = 400
    error_body: Callable[[str], object] = _same
    token_error: Callable[[str], str] = _same
    grant_demanded: bool = True
    token_answer: Callable[[dict[str, Any]], dict[str, Any]] = _same
    token_status: int = 200
    cache_control: str = "no-store"
    lifetime: int = 600
    granted: Callable[[frozenset[str]], frozenset[str]] = _same
    scope_in_answer: bool = True
    claims: Callable[[dict[str, Any]], dict[str, Any]] = _same
    # refresh
    refresh_rotated: bool = True
    reuse_detected: bool = True
    refresh_scope_checked: bool = True
    refresh_resource_checked: bool = True
    refresh_bound: bool = True
    refresh_works: bool = True
    refresh_scopes: Callable[[frozenset[str]], frozenset[str]] = _same
    refresh_keeps_audience: bool = True
    credentials_refresh: bool = False
    credentials_demanded: bool = True
    credentials_audience: Callable[[str], str] = _same
    # revocation and introspection
    revokes: bool = True
    revokes_access_tokens: bool = True
    revokes_of_others: bool = False
    unknown_revoked_status: int = 200
    revocation_demands_token: bool = True
    introspection_gated: bool = True
    inactive: Callable[[dict[str, Any]], dict[str, Any]] = _same
    # registration
    redirect_allowed: Callable[[object], bool] = allowed_redirect
    registration_status: int = 201
    registration_error: Callable[[str], str] = _same
    registered: Callable[[dict[str, Any]], dict[str, Any]] = _same
    members_known: bool = False
    deletes_clients: bool = True
