"""The endpoints of the sample authorization server."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mcp_auth_contract_lab.provider.rules import (
    CLIENT_SECRET,
    CONFIDENTIAL_CLIENT,
    KNOWN_SCOPES,
    OTHER_CLIENT,
    PASSWORD,
    PUBLIC_CLIENT,
    REDIRECT_URI,
    USER,
    Rules,
)

_KNOWN = frozenset({
    "response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method", "scope",
    "resource", "login_hint",
})  # fmt: skip
_CREDENTIAL_FREE = {"access-control-allow-origin": "*"}


@dataclass(slots=True)
class _Grant:
    """What a user has granted, and all that came of it. `family` is dead once a replay is seen."""

    client: str
    scopes: frozenset[str]
    resource: str
    subject: str
    redirect_uri: str = ""
    challenge: str = ""
    method: str = ""
    dead: bool = False
    used: bool = False


@dataclass(slots=True)
class _Refused(Exception):
    """An error of an endpoint for clients."""

    error: str
    status: int = 0


@dataclass(slots=True)
class SampleProvider:
    """The state of one sample authorization server at `issuer`, for the resources that it knows.

    `claims` are those that each token of the user carries besides the usual ones.
    """

    issuer: str
    resources: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)
    claims: Mapping[str, Any] = field(default_factory=dict)
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    logins: int = 0
    _key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    _sessions: set[str] = field(default_factory=set)
    _waiting: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _codes: dict[str, _Grant] = field(default_factory=dict)
    _refresh: dict[str, _Grant] = field(default_factory=dict)
    _spent: dict[str, _Grant] = field(default_factory=dict)
    _access: dict[str, _Grant] = field(default_factory=dict)
    _revoked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        known = {"redirect_uris": [REDIRECT_URI]}
        self.clients[PUBLIC_CLIENT] = {**known, "client_secret": ""}
        self.clients[OTHER_CLIENT] = {**known, "client_secret": ""}
        self.clients[CONFIDENTIAL_CLIENT] = {**known, "client_secret": CLIENT_SECRET}

    def secrets(self) -> tuple[str, ...]:
        """Return every secret that was handed out."""
        return (*self._sessions, *self._codes, *self._refresh, *self._spent, *self._access)

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self._metadata),
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/jwks", self._jwks),
                Route("/authorize", self._authorize),
                Route("/login", self._login_moved if self.rules.login_moves else self._login, methods=["POST"]),
                Route("/login/", self._login, methods=["POST"]),
                Route("/token", self._token, methods=["GET", "POST"]),
                Route("/revoke", self._revoke, methods=["POST"]),
                Route("/introspect", self._introspect, methods=["POST"]),
                Route("/register", self._register, methods=["POST"]),
                Route("/register/{client}", self._delete, methods=["DELETE"]),
            ]
        )

    async def _metadata(self, _request: Request) -> Response:
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "revocation_endpoint": f"{self.issuer}/revoke",
            "introspection_endpoint": f"{self.issuer}/introspect",
            "jwks_uri": f"{self.issuer}/jwks",
            "scopes_supported": list(KNOWN_SCOPES),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "protected_resources": list(self.resources),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }
        return JSONResponse(self.rules.metadata(document), headers=_CREDENTIAL_FREE)

    async def _jwks(self, _request: Request) -> Response:
        members = json.loads(RSAAlgorithm.to_jwk(self._key.public_key()))
        kept = {name: members[name] for name in ("kty", "n", "e")}
        return JSONResponse({"keys": [{**kept, "kid": "provider-1", "use": "sig", "alg": "RS256"}]})

    # The authorization endpoint

    async def _authorize(self, request: Request) -> Response:
        pairs = parse_qsl(request.url.query, keep_blank_values=True)
        if request.cookies.get("session", "") not in self._sessions:
            ticket = secrets.token_urlsafe(24)
            self._waiting[ticket] = pairs
            return self._page(
                f'<form method="post" action="/login"><input type="hidden" name="ticket" value="{ticket}">'
                '<input name="username"><input type="password" name="password"><button>Sign in</button></form>'
            )
        return self._decided(pairs, 303)

    async def _login_moved(self, _request: Request) -> Response:
        return RedirectResponse("/login/", 307)

    async def _login(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        self.logins += 1
        pairs = self._waiting.pop(form.get("ticket", ""), None)
        if pairs is None or (form.get("username"), form.get("password")) != (USER, PASSWORD):
            return self._page("<p>That was wrong.</p>", 401)
        session = secrets.token_urlsafe(24)
        self._sessions.add(session)
        response = self._decided(pairs, self.rules.status_after_login)
        response.set_cookie("session", session, httponly=True, samesite="lax")
        return response

    def _page(self, content: str, status: int = 200) -> Response:
        return HTMLResponse(f"<!doctype html><title>Sample</title>{content}", status, dict(self.rules.page_headers))

    def _decided(self, pairs: list[tuple[str, str]], status: int) -> Response:
        rules, sent = self.rules, {name: value for name, value in pairs if value}
        client = self.clients.get(sent.get("client_id", ""))
        uri = sent.get("redirect_uri", "")
        if client is None and not rules.redirects_unknown_clients:
            return self._page("<p>This client is not known.</p>", 400)
        registered = REDIRECT_URI if client is None else client["redirect_uris"][0]
        if client is not None and not rules.redirect_matches(uri, registered):
            return self._page("<p>This redirect URI is not registered.</p>", 400)
        error = "unauthorized_client" if client is None else self._fault(pairs, sent)
        state = rules.state(sent["state"]) if "state" in sent else None
        answer: dict[str, str | None] = {"state": state, "iss": rules.iss(self.issuer)}
        fragment = False
        if error:
            answer |= {"error": rules.error_code(error)}
            answer |= {} if rules.error_state else {"state": None}
            answer |= {} if rules.error_iss else {"iss": None}
        elif sent.get("response_type") == "token" and "token" in rules.response_types:
            answer |= {"access_token": secrets.token_urlsafe(24), "token_type": "Bearer"}
            fragment = True
        else:
            answer |= {"code": self._code(sent)}
        query = urlencode({name: value for name, value in answer.items() if value is not None})
        base, mark, rest = uri.partition("#")
        sign = "#" if fragment else "&" if "?" in base else "?"
        return RedirectResponse(f"{base}{sign}{query}{mark}{rest}", status)

    def _fault(self, pairs: list[tuple[str, str]], sent: Mapping[str, str]) -> str:
        """Return the error of an authorization request of a known client, empty for none."""
        rules = self.rules
        names = [name for name, _ in pairs if name != "resource"]
        if rules.repeated_refused and len(set(names)) < len(names):
            return "invalid_request"
        if rules.unknown_refused and set(names) - _KNOWN:
            return "invalid_request"
        if rules.empty_refused and any(not value for _, value in pairs):
            return "invalid_request"
        kind = sent.get("response_type") or rules.default_response_type
        if not kind:
            return "invalid_request"
        if kind not in rules.response_types and not rules.any_response_type:
            return "unsupported_response_type"
        if not rules.issues_codes:
            return "access_denied"
        if kind == "token":
            return ""
        return self._challenge_fault(sent) or self._scope_fault(sent) or self._resource_fault(sent)

    def _challenge_fault(self, sent: Mapping[str, str]) -> str:
        rules = self.rules
        if "code_challenge" not in sent:
            return "invalid_request" if rules.challenge_required else ""
        method = sent.get("code_challenge_method", "plain")
        unknown = method not in ("plain", "S256") and rules.any_challenge_method
        return "" if method in rules.challenge_methods or unknown else "invalid_request"

    def _scope_fault(self, sent: Mapping[str, str]) -> str:
        unknown = set(sent.get("scope", "").split()) - set(KNOWN_SCOPES)
        return "invalid_scope" if unknown and self.rules.scopes_checked else ""

    def _resource_fault(self, sent: Mapping[str, str]) -> str:
        resource = sent.get("resource", "")
        if resource and ("#" in resource or "://" not in resource):
            return "invalid_target" if self.rules.resource_syntax_checked else ""
        unknown = resource and resource not in self.resources
        return "invalid_target" if unknown and self.rules.resources_checked else ""

    def _code(self, sent: Mapping[str, str]) -> str:
        code = secrets.token_urlsafe(24)
        asked = frozenset(sent.get("scope", "invoices:read").split())
        self._codes[code] = _Grant(
            sent["client_id"],
            self.rules.granted(asked),
            sent.get("resource", self.resources[0]),
            USER,
            sent["redirect_uri"],
            sent.get("code_challenge", ""),
            sent.get("code_challenge_method", "plain"),
        )
        return code

    # The token endpoint

    async def _token(self, request: Request) -> Response:
        rules = self.rules
        if request.method == "GET" and not rules.get_allowed:
            return Response(status_code=405, headers={"allow": "POST"})
        try:
            sent = await self._form(request)
            answer = self._granted(request, sent)
        except _Refused as refused:
            return self._error(refused)
        return JSONResponse(rules.token_answer(answer), rules.token_status, {"cache-control": rules.cache_control})

    async def _form(self, request: Request) -> dict[str, str]:
        text = request.url.query if request.method == "GET" else (await request.body()).decode()
        pairs = parse_qsl(text, keep_blank_values=True)
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise _Refused("invalid_request")
        return {name: value for name, value in pairs if value}

    def _error(self, refused: _Refused) -> Response:
        rules = self.rules
        headers = {"cache-control": "no-store"}
        body = rules.error_body(refused.error)
        if isinstance(body, str) and body.startswith("<"):
            return HTMLResponse(body, 400)
        if refused.error == "invalid_client":
            if rules.client_challenge and rules.client_status == 401:
                headers["www-authenticate"] = 'Basic realm="sample"'
            return JSONResponse({"error": refused.error}, rules.client_status, headers)
        return JSONResponse({"error": rules.token_error(refused.error)}, refused.status or rules.error_status, headers)

    def _authenticated(self, request: Request, sent: Mapping[str, str], *, demanded: bool = True) -> str:
        """Return the client of a request; raises where it does not authenticate as it should."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        name, secret = sent.get("client_id", ""), sent.get("client_secret", "")
        if scheme.lower() == "basic":
            if secret and self.rules.one_authentication:
                raise _Refused("invalid_request")
            name, _, secret = base64.b64decode(given).decode().partition(":")
            name, secret = unquote(name), unquote(secret)
        client = self.clients.get(name)
        if client is None:
            raise _Refused("invalid_client")
        wrong = client["client_secret"] and not secrets.compare_digest(client["client_secret"], secret)
        if wrong and demanded and (secret or self.rules.secret_demanded):
            raise _Refused("invalid_client")
        return name

    def _granted(self, request: Request, sent: dict[str, str]) -> dict[str, Any]:
        rules, kind = self.rules, sent.get("grant_type")
        optional = kind == "client_credentials" and not rules.credentials_demanded
        client = self._authenticated(request, sent, demanded=not optional)
        match kind:
            case "authorization_code":
                return self._exchanged(client, sent)
            case "refresh_token":
                return self._refreshed(client, sent)
            case "client_credentials":
                return self._own(client, sent, optional)
            case "password":
                raise _Refused("invalid_request" if rules.password_grant else rules.password_error)
            case None:
                raise _Refused("invalid_request", 0 if rules.grant_demanded else 500)
            case _:
                raise _Refused("unsupported_grant_type")

    def _exchanged(self, client: str, sent: Mapping[str, str]) -> dict[str, Any]:
        rules, grant = self.rules, self._codes.get(sent.get("code", ""))
        if grant is None:
            raise _Refused("invalid_grant")
        if rules.code_bound and grant.client != client:
            raise _Refused("invalid_grant")
        if rules.redirect_compared and sent.get("redirect_uri", grant.redirect_uri) != grant.redirect_uri:
            raise _Refused("invalid_grant")
        self._verify(grant, sent.get("code_verifier", ""))
        if grant.used and rules.code_used_once:
            grant.dead = grant.dead or rules.replay_revokes
            raise _Refused("invalid_grant")
        grant.used = True
        return self._issued(grant, refresh=True)

    def _verify(self, grant: _Grant, verifier: str) -> None:
        rules = self.rules
        if not grant.challenge:
            if verifier and rules.unexpected_verifier_refused:
                raise _Refused("invalid_grant")
            return
        if not verifier:
            if rules.verifier_demanded:
                raise _Refused("invalid_grant")
            return
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        fitting = {verifier} if grant.method == "plain" else {digest}
        if rules.plain_verifiers:
            fitting.add(verifier)
        if rules.verifier_checked and grant.challenge not in fitting:
            raise _Refused("invalid_grant")

    def _refreshed(self, client: str, sent: Mapping[str, str]) -> dict[str, Any]:
        rules, token = self.rules, sent.get("refresh_token", "")
        if (spent := self._spent.get(token)) is not None:
            spent.dead = spent.dead or rules.reuse_detected
            raise _Refused("invalid_grant")
        grant = self._refresh.get(token)
        if grant is None or grant.dead or not rules.refresh_works:
            raise _Refused("invalid_grant")
        if rules.refresh_bound and grant.client != client:
            raise _Refused("invalid_grant")
        asked = frozenset(sent["scope"].split()) if "scope" in sent else rules.refresh_scopes(grant.scopes)
        if asked - grant.scopes and rules.refresh_scope_checked:
            raise _Refused("invalid_scope")
        resource = sent.get("resource", grant.resource if rules.refresh_keeps_audience else self.issuer)
        if "resource" in sent and resource != grant.resource and rules.refresh_resource_checked:
            raise _Refused("invalid_target")
        rotated = rules.refresh_rotated and not self.clients[grant.client]["client_secret"]
        if rotated:
            self._spent[token] = self._refresh.pop(token)
        return self._issued(grant, refresh=rotated, scopes=asked, resource=resource, kept="" if rotated else token)

    def _own(self, client: str, sent: Mapping[str, str], optional: bool) -> dict[str, Any]:
        if not self.clients[client]["client_secret"] and not optional:
            raise _Refused("unauthorized_client")
        resource = self.rules.credentials_audience(sent.get("resource", self.resources[0])) or self.issuer
        grant = _Grant(client, frozenset({"invoices:read"}), resource, client)
        return self._issued(grant, refresh=self.rules.credentials_refresh)

    def _issued(
        self,
        grant: _Grant,
        *,
        refresh: bool,
        scopes: frozenset[str] | None = None,
        resource: str = "",
        kept: str = "",
    ) -> dict[str, Any]:
        rules, now = self.rules, int(time.time())
        granted = grant.scopes if scopes is None else scopes
        claims = {
            "iss": self.issuer,
            "sub": grant.subject,
            "aud": resource or grant.resource,
            "client_id": grant.client,
            "iat": now,
            "exp": now + rules.lifetime,
            "jti": secrets.token_hex(8),
            "scope": " ".join(sorted(granted)),
            **(self.claims if grant.subject == USER else {}),
        }
        token = jwt.encode(rules.claims(claims), self._key, "RS256", headers={"typ": "at+jwt", "kid": "provider-1"})
        self._access[token] = grant
        answer: dict[str, Any] = {"access_token": token, "token_type": "Bearer", "expires_in": rules.lifetime}
        if rules.scope_in_answer:
            answer["scope"] = " ".join(sorted(granted))
        if refresh or kept:
            answer["refresh_token"] = kept or secrets.token_urlsafe(32)
            self._refresh[answer["refresh_token"]] = grant
        return answer

    # Revocation and introspection

    async def _revoke(self, request: Request) -> Response:
        rules = self.rules
        try:
            sent = await self._form(request)
            client = self._authenticated(request, sent)
        except _Refused as refused:
            return self._error(refused)
        token = sent.get("token", "")
        if not token and rules.revocation_demands_token:
            return self._error(_Refused("invalid_request", 400))
        grant = self._refresh.get(token) or self._access.get(token)
        if grant is None:
            status = rules.unknown_revoked_status if token else 200
            return JSONResponse({"error": "invalid_request"}, status) if status != 200 else Response(status_code=200)
        if grant.client == client or rules.revokes_of_others:
            if token in self._refresh and rules.revokes:
                grant.dead = True
            if token in self._access and rules.revokes_access_tokens:
                self._revoked.add(token)
        return Response(status_code=200)

    async def _introspect(self, request: Request) -> Response:
        try:
            sent = await self._form(request)
            client = self._authenticated(request, sent) if self.rules.introspection_gated else CONFIDENTIAL_CLIENT
        except _Refused as refused:
            return self._error(refused)
        if not self.clients[client]["client_secret"]:
            return self._error(_Refused("invalid_client"))
        token = sent.get("token", "")
        grant = self._access.get(token)
        if grant is None or grant.dead or token in self._revoked:
            return JSONResponse(self.rules.inactive({"active": False}))
        claims = jwt.decode(token, options={"verify_signature": False})
        return JSONResponse({"active": True, **claims})

    # Registration

    async def _register(self, request: Request) -> Response:
        rules = self.rules
        try:
            document = json.loads(await request.body())
        except ValueError:
            return JSONResponse({"error": "invalid_client_metadata"}, 400)
        uris = document.get("redirect_uris") if isinstance(document, dict) else None
        if not isinstance(uris, list) or not uris:
            return JSONResponse({"error": rules.registration_error("invalid_redirect_uri")}, 400)
        if not all(map(rules.redirect_allowed, uris)):
            return JSONResponse({"error": rules.registration_error("invalid_redirect_uri")}, 400)
        if rules.members_known and "mcp_auth_contract" in document:
            return JSONResponse({"error": rules.registration_error("invalid_client_metadata")}, 400)
        name = secrets.token_urlsafe(12)
        kept = {one: document[one] for one in document if one != "mcp_auth_contract"}
        public = document.get("token_endpoint_auth_method") == "none"
        secret = "" if public else secrets.token_urlsafe(24)
        self.clients[name] = {"redirect_uris": uris, "client_secret": secret, "manage": secrets.token_urlsafe(24)}
        answer = {
            **kept,
            "client_id": name,
            "client_id_issued_at": int(time.time()),
            "registration_client_uri": f"{self.issuer}/register/{name}",
            "registration_access_token": self.clients[name]["manage"],
            **({} if public else {"client_secret": secret, "client_secret_expires_at": 0}),
        }
        return JSONResponse(rules.registered(answer), rules.registration_status, {"cache-control": "no-store"})

    async def _delete(self, request: Request) -> Response:
        client = self.clients.get(request.path_params["client"], {})
        if request.headers.get("authorization") != f"Bearer {client.get('manage')}":
            return Response(status_code=401, headers={"www-authenticate": "Bearer"})
        if self.rules.deletes_clients:
            del self.clients[request.path_params["client"]]
        return Response(status_code=204)
