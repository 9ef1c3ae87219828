"""The authorization servers as one ASGI app: metadata and keys of several issuers, told apart by path."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_auth_contract.issuer.control import Control, IssuerName
from mcp_auth_contract.issuer.memory import Memory
from mcp_auth_contract.tokens.keys import Algorithm
from mcp_auth_contract.tokens.spec import compact_json

__all__ = ["IssuerSite", "issuer_app"]

_BODY_LIMIT = 64 * 1024

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class IssuerSite:
    """What one issuer says of itself. `base_url` is the port's URL, without a trailing slash."""

    base_url: str
    name: IssuerName
    algorithms: tuple[Algorithm, ...]

    @property
    def url(self) -> str:
        """The issuer identifier (RFC 8414 §2)."""
        return f"{self.base_url}{self.name.path}"

    def metadata(self) -> dict[str, object]:
        """Return the authorization-server metadata (RFC 8414 §2)."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code"],
            "token_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
        }

    def openid_configuration(self) -> dict[str, object]:
        """Return the same with what OpenID Connect Discovery 1.0 §3 requires besides."""
        return {
            **self.metadata(),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [str(alg) for alg in self.algorithms],
        }


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
    base_url: str, control: Control, memory: Memory, algorithms: tuple[Algorithm, ...] = (Algorithm.RS256,)
) -> Starlette:
    """Return the app that serves every issuer of `IssuerName`.

    Each has RFC 8414 metadata at the inserted location, OpenID metadata at the inserted and the appended one,
    and a JWKS. No client is registered and no user signs in here, so the authorization and token endpoints
    refuse every request, with the error that RFC 6749 §4.1.2.1 and §5.2 have for it. Tokens are minted by
    the kit.
    """
    routes: list[Route] = []
    for name in IssuerName:
        site = IssuerSite(base_url, name, algorithms)
        oauth, openid = _document(site.metadata()), _document(site.openid_configuration())
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
    app = Starlette(routes=routes, middleware=[Middleware(_Remembering, memory=memory)])
    app.router.redirect_slashes = False
    return app


def _document(members: Mapping[str, object]) -> Endpoint:
    body = compact_json(members)

    async def endpoint(_: Request) -> Response:
        return Response(body, media_type="application/json")

    return endpoint


def _jwks(control: Control, name: IssuerName) -> Endpoint:
    async def endpoint(_: Request) -> Response:
        state = control.state(name)
        body = state.behaviour.body
        if body is None:
            body = compact_json({"keys": [dict(key) for key in state.keys]})
        headers = {"content-type": state.behaviour.content_type}
        return Response(body, status_code=state.behaviour.status, headers=headers)

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
    parameters = dict(request.query_params) if request.method == "GET" else await _form(request)
    response_type = parameters.get("response_type")
    if response_type is None:
        return _refusal("invalid_request", "response_type is missing")
    if response_type != "code":
        return _refusal("unsupported_response_type", "only code is supported")
    return _refusal("unauthorized_client", "no client is registered with this issuer")


async def _token(request: Request) -> Response:
    parameters = await _form(request)
    match parameters.get("grant_type"):
        case None:
            return _refusal("invalid_request", "grant_type is missing")
        case "authorization_code" if "code" not in parameters:
            return _refusal("invalid_request", "code is missing")
        case "authorization_code":
            return _refusal("invalid_grant", "no such code was issued")
        case _:
            return _refusal("unsupported_grant_type", "only authorization_code is supported")


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_LIMIT:
            return {}
    return dict(parse_qsl(body.decode("utf-8", errors="replace"), keep_blank_values=True))
