"""Sound variants of the sample authorization server, which have to stay green: what the specifications leave open."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mcp_auth_contract_lab.provider.faults import ProviderFault

_profiles: dict[str, ProviderFault] = {}
PROFILES: Mapping[str, ProviderFault] = MappingProxyType(_profiles)
"""By name."""


def _profile(name: str, summary: str, **changes: Any) -> None:
    _profiles[name] = ProviderFault(name, summary, MappingProxyType(changes))


def _without(*names: str) -> Any:
    return lambda given: {name: value for name, value in given.items() if name not in names}


_profile("login-moves", "The login form is redirected to a path with a slash at its end first.", login_moves=True)
_profile("login-302", "The redirect after the login is a 302.", status_after_login=302)
_profile(
    "password-grant-disabled",
    "The password grant is known, and no client may use it.",
    password_error="unauthorized_client",  # noqa: S106  an error
)
_profile(
    "scopes-untold",
    "Responses do not repeat the scopes where they are those that were asked for.",
    scope_in_answer=False,
)
_profile("no-store-and-more", "Cache-Control has other directives besides no-store.", cache_control="private, No-Store")
_profile("an-hour", "Access tokens live for an hour.", lifetime=3600)
_profile("frames-by-the-old-header", "Framing is refused by X-Frame-Options.", page_headers={"x-frame-options": "DENY"})
_profile(
    "no-introspection",
    "There is no introspection endpoint.",
    metadata=_without("introspection_endpoint"),
)
_profile("no-revocation", "There is no revocation endpoint.", metadata=_without("revocation_endpoint"))
_profile(
    "more-claims",
    "Tokens carry other claims as well, and several audiences.",
    claims=lambda claims: {**claims, "aud": [claims["aud"], "https://other.example.com"], "tenant": "t1"},
)
