"""Faults of the sample authorization server: each is one change of its rules."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from mcp_auth_contract_lab.provider.rules import Rules, allowed_redirect, exactly_or_other_port


@dataclass(frozen=True, slots=True)
class ProviderFault:
    """One fault: its name, a sentence, and the rules that it changes."""

    name: str
    summary: str
    changes: Mapping[str, Any]

    def of(self, rules: Rules) -> Rules:
        """Return rules with this fault."""
        return replace(rules, **self.changes)


_faults: dict[str, ProviderFault] = {}
FAULTS: Mapping[str, ProviderFault] = MappingProxyType(_faults)
"""By name."""


def _fault(name: str, summary: str, **changes: Any) -> None:
    _faults[name] = ProviderFault(name, summary, MappingProxyType(changes))


def _host_alone(sent: str, registered: str) -> bool:
    return urlsplit(sent).hostname == urlsplit(registered).hostname


def _without(*names: str) -> Any:
    return lambda given: {name: value for name, value in given.items() if name not in names}


def _with(**members: Any) -> Any:
    return lambda given: {**given, **members}


# The authorization endpoint

_fault("codes-never", "No authorization request gets a code.", issues_codes=False)
_fault("unknown-clients-redirected", "Clients that nobody registered are redirected.", redirects_unknown_clients=True)
_fault("redirect-anywhere", "Any redirect URI will do.", redirect_matches=lambda _sent, _registered: True)
_fault(
    "redirect-by-prefix",
    "A redirect URI has to begin like the registered one.",
    redirect_matches=lambda sent, registered: sent.startswith(registered) or exactly_or_other_port(sent, registered),
)
_fault("redirect-by-host", "A redirect URI has to be on the registered host.", redirect_matches=_host_alone)
_fault(
    "redirect-without-case",
    "Redirect URIs are compared without case.",
    redirect_matches=lambda sent, registered: exactly_or_other_port(sent.lower(), registered.lower()),
)
_fault(
    "redirect-without-slash",
    "A slash at the end of a redirect URI is ignored.",
    redirect_matches=lambda sent, registered: exactly_or_other_port(sent.rstrip("/"), registered),
)
_fault(
    "redirect-port-fixed",
    "A loopback redirect URI has to have the registered port.",
    redirect_matches=lambda sent, registered: sent == registered,
)
_fault("challenge-optional", "Public clients need no PKCE.", challenge_required=False)
_fault("challenge-plain", "The challenge method plain is accepted.", challenge_methods=frozenset({"S256", "plain"}))
_fault("challenge-of-any-method", "A challenge method that does not exist counts as S256.", any_challenge_method=True)
_fault("implicit-served", "The response type token is served.", response_types=frozenset({"code", "token"}))
_fault("response-type-ignored", "Any response type gets a code.", any_response_type=True)
_fault("response-type-assumed", "A missing response type counts as code.", default_response_type="code")
_fault("scopes-unchecked", "A scope that does not exist is granted.", scopes_checked=False)
_fault("resources-unchecked", "A resource that nobody knows is accepted.", resources_checked=False)
_fault("resource-syntax-unchecked", "What is no resource identifier is ignored.", resource_syntax_checked=False)
_fault("repeated-accepted", "Repeated parameters are accepted.", repeated_refused=False)
_fault("unknown-parameters-refused", "Parameters that nobody knows are refused.", unknown_refused=True)
_fault("empty-parameters-refused", "Parameters without a value are refused.", empty_refused=True)
_fault("state-cut", "The state is cut after 16 characters.", state=lambda state: state[:16])
_fault("state-lost", "The state is not returned.", state=lambda _state: None)
_fault("state-lost-in-errors", "Errors come without the state.", error_state=False)
_fault("iss-wrong", "The responses name another issuer.", iss=lambda issuer: f"{issuer}/")
_fault("iss-missing", "The responses name no issuer, which the metadata promises.", iss=lambda _issuer: None)
_fault("iss-missing-in-errors", "Errors name no issuer, which the metadata promises.", error_iss=False)
_fault(
    "iss-unannounced",
    "The metadata does not say that responses name the issuer.",
    metadata=_without("authorization_response_iss_parameter_supported"),
)
_fault(
    "iss-neither-sent-nor-announced",
    "The responses name no issuer.",
    iss=lambda _issuer: None,
    metadata=_without("authorization_response_iss_parameter_supported"),
)
_fault(
    "errors-all-alike",
    "Every error of the authorization endpoint is server_error.",
    error_code=lambda _error: "server_error",
)
_fault("pages-framed", "The login page can be framed.", page_headers={})
_fault(
    "password-repeated", "The redirect after the login is a 307, which repeats the password.", status_after_login=307
)

# The token endpoint

_fault("verifier-unchecked", "Any verifier will do.", verifier_checked=False)
_fault("verifier-optional", "A code with a challenge needs no verifier.", verifier_demanded=False)
_fault("verifier-plain", "The challenge itself is taken for the verifier.", plain_verifiers=True)
_fault(
    "downgraded",
    "A code without a challenge is good with any verifier.",
    challenge_required=False,
    unexpected_verifier_refused=False,
)
_fault("redirect-not-compared", "The redirect URI of the token request is ignored.", redirect_compared=False)
_fault("code-of-anybody", "A code is good for every client.", code_bound=False)
_fault("code-reusable", "A code is good until it expires.", code_used_once=False)
_fault("replay-without-effect", "A replayed code leaves its tokens alone.", replay_revokes=False)
_fault("token-by-get", "The token endpoint answers GET.", get_allowed=True)
_fault("secret-optional", "A client with a secret need not show it.", secret_demanded=False)
_fault("two-authentications-accepted", "A client may authenticate twice.", one_authentication=False)
_fault("unknown-client-400", "An unknown client gets 400.", client_status=400)
_fault("unknown-client-unchallenged", "An unknown client gets 401 without a challenge.", client_challenge=False)
_fault(
    "password-grant-served",
    "The password grant is served.",
    password_grant=True,
    metadata=lambda given: {**given, "grant_types_supported": [*given["grant_types_supported"], "password"]},
)
_fault("errors-as-200", "Errors of the token endpoint come with 200.", error_status=200)
_fault(
    "errors-as-html", "Errors of the token endpoint are HTML pages.", error_body=lambda _error: "<h1>Bad request</h1>"
)
_fault(
    "errors-all-invalid-request",
    "Every error of the token endpoint is invalid_request.",
    token_error=lambda _error: "invalid_request",
)
_fault("grant-type-assumed", "A missing grant type breaks the token endpoint.", grant_demanded=False)
_fault("token-type-missing", "The answer has no token_type.", token_answer=_without("token_type"))
_fault("token-answer-201", "Tokens come with 201.", token_status=201)
_fault("tokens-cacheable", "Tokens come with Cache-Control: private.", cache_control="private")
_fault("lifetime-untold", "The answer has no expires_in.", token_answer=_without("expires_in"))
_fault(
    "lifetime-as-text",
    "expires_in is a text.",
    token_answer=lambda given: {**given, "expires_in": str(given["expires_in"])},
)
_fault("tokens-long-lived", "Access tokens live for a month.", lifetime=30 * 24 * 3600)
_fault(
    "scope-reduced-silently",
    "Scopes are left out, and the answer does not say so.",
    granted=lambda asked: asked - {"invoices:write"},
    scope_in_answer=False,
)
_fault("scope-widened", "Every scope is granted.", granted=lambda asked: asked | {"invoices:admin"})
_fault(
    "audience-of-the-client",
    "The audience is the client.",
    claims=lambda claims: {**claims, "aud": claims["client_id"]},
)
_fault("token-without-jti", "Tokens of type at+jwt have no jti.", claims=_without("jti"))
_fault("refresh-refused", "Refresh tokens are issued and never accepted.", refresh_works=False)
_fault("refresh-not-rotated", "Refresh tokens of public clients stay as they are.", refresh_rotated=False)
_fault("reuse-undetected", "A refresh token that was used twice leaves its successors alone.", reuse_detected=False)
_fault("refresh-widens-scope", "A refresh gets scopes that were never granted.", refresh_scope_checked=False)
_fault("refresh-widens-resource", "A refresh gets tokens for any resource.", refresh_resource_checked=False)
_fault("refresh-of-anybody", "A refresh token is good for every client.", refresh_bound=False)
_fault(
    "refresh-loses-scope",
    "A refresh without scope gets one scope alone.",
    refresh_scopes=lambda scopes: frozenset(sorted(scopes)[:1]),
)
_fault(
    "refresh-loses-audience", "A refresh without resource gets a token for the issuer.", refresh_keeps_audience=False
)
_fault("credentials-refreshed", "Client credentials get a refresh token.", credentials_refresh=True)
_fault("credentials-optional", "Client credentials need no credentials.", credentials_demanded=False)
_fault(
    "credentials-audience-lost",
    "Tokens of client credentials are for the issuer.",
    credentials_audience=lambda _resource: "",
)

# Revocation, introspection, registration

_fault("revocation-without-effect", "Revoked refresh tokens stay good.", revokes=False)
_fault("revocation-of-access-tokens-without-effect", "Revoked access tokens stay active.", revokes_access_tokens=False)
_fault("revocation-by-anybody", "Every client may revoke every token.", revokes_of_others=True)
_fault("revocation-400", "The revocation of an unknown token gets 400.", unknown_revoked_status=400)
_fault("revocation-of-nothing", "A revocation without a token gets 200.", revocation_demands_token=False)
_fault("introspection-open", "Anybody may introspect.", introspection_gated=False)
_fault(
    "introspection-talkative",
    "Of unknown tokens more is told than that they are inactive.",
    inactive=_with(error="token not found"),
)
_fault("introspection-as-text", "Whether a token is active is told as a text.", inactive=_with(active="false"))
_fault("registration-200", "A registration gets 200.", registration_status=200)
_fault("registration-strict", "Members that nobody knows are refused.", members_known=True)
_fault(
    "registration-untold", "A registration does not return what was registered.", registered=_without("redirect_uris")
)
_fault("registration-with-null", "Members without a value are null.", registered=_with(client_uri=None))
_fault(
    "registration-with-secret",
    "Public clients get a secret.",
    registered=lambda given: {**given, "client_secret": "unwanted-0123456789", "client_secret_expires_at": 0},
)
_fault(
    "registration-secret-without-expiry",
    "A secret comes without its expiry.",
    registered=_without("client_secret_expires_at"),
)
_fault(
    "registration-of-scripts",
    "javascript: redirect URIs are registered.",
    redirect_allowed=lambda uri: str(uri).startswith("javascript:") or allowed_redirect(uri),
)
_fault(
    "registration-of-http",
    "http redirect URIs of any host are registered.",
    redirect_allowed=lambda uri: (str(uri).startswith("http://") and "#" not in str(uri)) or allowed_redirect(uri),
)
_fault(
    "registration-of-fragments",
    "Redirect URIs with a fragment are registered.",
    redirect_allowed=lambda uri: isinstance(uri, str) and allowed_redirect(uri.partition("#")[0]),
)
_fault(
    "registration-error-unnamed",
    "A refused registration has the error bad_request.",
    registration_error=lambda _error: "bad_request",
)
_fault("registration-missing", "There is no registration.", metadata=_without("registration_endpoint"))
