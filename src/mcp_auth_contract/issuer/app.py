"""The authorization servers as one ASGI app: metadata and keys of several issuers, told apart by path."""

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.issuer.behaviours import (
    INTROSPECTION_MOVED_PATH,
    JWKS_MOVED_PATH,
    JWKS_STRANGER_PATH,
    Behaviour,
    answer,
    settled,
)
from mcp_auth_contract.issuer.control import Control, IssuerName
from mcp_auth_contract.issuer.introspection import ClientAuthentication, IntrospectionAnswer, Memory
from mcp_auth_contract.issuer.odd_keys import CERTIFICATE, LISTENING_PATH, self_signed
from mcp_auth_contract.tokens.keys import Algorithm, KeyFinder, Role
from mcp_auth_contract.tokens.spec import compact_json

_BODY_LIMIT = 64 * 1024
_NAMES = {"token", "token_type_hint", "client_id", "client_secret", "client_assertion", "client_assertion_type"}


class Form:
    """The parameters in the order in which they came; never shown."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order; one that no introspection request has is "other"."""
        return tuple(name if name in _NAMES else "other" for name, _ in self._pairs)

    def get(self, name: str) -> str | None:
        """Return the first value, or None."""
        return next((value for key, value in self._pairs if key == name), None)

    def single(self, name: str) -> str | None:
        """Return the value of a parameter that comes once, or None (RFC 6749 §3.2 forbids repeating one)."""
        values = [value for key, value in self._pairs if key == name]
        return values[0] if len(values) == 1 else None

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


async def read_form(request: Request) -> Form:
    """Return the form; an empty one for a body that is too long."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_LIMIT:
            return Form([])
    return Form(parse_qsl(body.decode("utf-8", errors="replace"), keep_blank_values=True))


def client_authentication(authorization: str | None, form: Form) -> ClientAuthentication:
    """Return how the client identified itself; any credentials do (RFC 6749 §2.3.1)."""
    scheme, _, value = (authorization or "").partition(" ")
    if scheme.lower() == "basic" and _names_a_client(value):
        return ClientAuthentication.BASIC
    if form.get("client_id") and "client_secret" in form:
        return ClientAuthentication.POST
    if scheme or "client_assertion" in form:
        return ClientAuthentication.OTHER
    return ClientAuthentication.NONE


def _names_a_client(value: str) -> bool:
    try:
        decoded = base64.b64decode(value.strip(), validate=True)
    except (binascii.Error, ValueError):
        return False
    return decoded.find(b":") > 0


Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def _metadata(url: str, *, trusted: bool) -> dict[str, object]:
    """Return the authorization-server metadata (RFC 8414 §2) of the issuer with this identifier."""
    members: dict[str, object] = {
        "issuer": url,
        "authorization_endpoint": f"{url}/authorize",
        "token_endpoint": f"{url}/token",
        "jwks_uri": f"{url}/jwks",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code"],
        "token_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
    }
    for endpoint, path in (("introspection", "introspect"), ("revocation", "revoke")) if trusted else ():
        members[f"{endpoint}_endpoint"] = f"{url}/{path}"
        members[f"{endpoint}_endpoint_auth_methods_supported"] = ["client_secret_basic", "client_secret_post"]
    return members


class _Remembering:
    """Records each HTTP request before it is routed, so that unknown paths are seen too."""

    def __init__(self, app: ASGIApp, memory: Memory) -> None:
        self._app = app
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
            self._memory.record(scope["method"], scope["path"], headers)
        await self._app(scope, receive, send)


def issuer_app(
    base_url: str,
    control: Control,
    memory: Memory,
    keys: KeyFinder,
    algorithms: tuple[Algorithm, ...] = (Algorithm.RS256,),
    clock: Clock = system_clock,
) -> Starlette:
    """Return the app that serves every issuer of `IssuerName`.

    Each has RFC 8414 metadata at the inserted location, OpenID metadata at the inserted and the appended one,
    and a JWKS. No client is registered and no user signs in here, so the authorization and token endpoints
    refuse every request, with the error that RFC 6749 §4.1.2.1 and §5.2 have for it. Tokens are minted by
    the kit. The trusted issuer introspects and revokes the tokens that `control` knows; `keys` finds those of
    the stranger, which the listening post serves.
    """
    # What OpenID Connect Discovery 1.0 §3 requires besides.
    besides: dict[str, object] = {
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [str(alg) for alg in algorithms],
    }
    routes: list[Route] = []
    for name in IssuerName:
        members = _metadata(f"{base_url}{name.path}", trusted=name is IssuerName.TRUSTED)
        oauth, openid = _document(members), _document(members | besides)
        inserted = "/.well-known/openid-configuration"
        routes += [
            Route(f"/.well-known/oauth-authorization-server{name.path}", oauth),
            Route(f"{inserted}{name.path}", openid),
            Route(f"{name.path}/jwks", _jwks(control, name)),
            Route(f"{name.path}/authorize", _authorize, methods=["GET", "POST"]),
            Route(f"{name.path}/token", _token, methods=["POST"]),
        ]
        if name.path:
            routes.append(Route(f"{name.path}{inserted}", openid))
    stranger = _served(lambda: compact_json({"keys": [keys(Role.STRANGER, alg).public_jwk() for alg in algorithms]}))
    pem = "application/pem-certificate-chain"
    certificate = _served(lambda: self_signed(keys(Role.STRANGER, Algorithm.RS256), clock()), pem)
    routes += [
        Route("/introspect", _introspect(control, moved=False), methods=["POST"]),
        Route(INTROSPECTION_MOVED_PATH, _introspect(control, moved=True), methods=["POST"]),
        Route("/revoke", _revoke(control), methods=["POST"]),
        Route(JWKS_MOVED_PATH, _served(lambda: compact_json(control.state().jwks()))),
        Route(JWKS_STRANGER_PATH, stranger),
        Route(f"{LISTENING_PATH}/{{name}}", stranger),
        Route(f"{LISTENING_PATH}/{{name}}/{CERTIFICATE}", certificate),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(_Remembering, memory=memory)])
    app.router.redirect_slashes = False
    return app


def _document(members: Mapping[str, object]) -> Endpoint:
    body = compact_json(members)

    async def endpoint(_: Request) -> Response:
        return Response(body, media_type="application/json")

    return endpoint


def _served(make: Callable[[], bytes], media_type: str = "application/json") -> Endpoint:
    """Serve what may take a while to make, for keys are made when they are first needed."""

    async def endpoint(_: Request) -> Response:
        return Response(await asyncio.to_thread(make), media_type=media_type)

    return endpoint


def _jwks(control: Control, name: IssuerName) -> Endpoint:
    async def endpoint(_: Request) -> Response:
        # The other requests do not wait for keys that are made now.
        if not control.started(name):
            await asyncio.to_thread(control.state, name)
        state = await settled(lambda: control.state(name), lambda state: state.behaviour.hang, control.change)
        return await answer(state.behaviour, compact_json(state.jwks()))

    return endpoint


def _introspect(control: Control, *, moved: bool) -> Endpoint:
    known = control.introspection

    async def endpoint(request: Request) -> Response:
        form = await read_form(request)
        token = form.single("token")
        known.record(token, client_authentication(request.headers.get("authorization"), form), form.names)

        def current() -> tuple[Behaviour, IntrospectionAnswer | None]:
            usual = Behaviour() if moved else known.behaviour
            return usual, None if token is None else known.answer_for(token)

        def waits(state: tuple[Behaviour, IntrospectionAnswer | None]) -> bool:
            of_all, of_one = state
            return of_all.hang or (of_one is not None and of_one.hang and not moved)

        of_all, of_one = await settled(current, waits, control.change)
        if of_all != Behaviour():
            return await answer(of_all, b"" if of_one is None else of_one.usual())
        if of_one is None:
            return _refusal("invalid_request", "token is missing, or there more than once")
        # Whoever followed the redirect gets the answer, or following would never be seen.
        return await answer(Behaviour() if moved else of_one, of_one.usual())

    return endpoint


def _revoke(control: Control) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        token = (await read_form(request)).single("token")
        if token is None:
            return _refusal("invalid_request", "token is missing, or there more than once")
        control.introspection.revoke(token)
        return Response(status_code=200)

    return endpoint


def _refusal(error: str, description: str) -> Response:
    return Response(
        compact_json({"error": error, "error_description": description}),
        status_code=400,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )


async def _authorize(request: Request) -> Response:
    # An unknown client is told so on the spot: its redirect URI cannot be trusted (RFC 6749 §4.1.2.1).
    given = request.query_params if request.method == "GET" else await read_form(request)
    response_type = given.get("response_type")
    if response_type is None:
        return _refusal("invalid_request", "response_type is missing")
    if response_type != "code":
        return _refusal("unsupported_response_type", "only code is supported")
    return _refusal("unauthorized_client", "no client is registered with this issuer")


async def _token(request: Request) -> Response:
    form = await read_form(request)
    match form.get("grant_type"):
        case None:
            return _refusal("invalid_request", "grant_type is missing")
        case "authorization_code" if "code" not in form:
            return _refusal("invalid_request", "code is missing")
        case "authorization_code":
            return _refusal("invalid_grant", "no such code was issued")
        case _:
            return _refusal("unsupported_grant_type", "only authorization_code is supported")
