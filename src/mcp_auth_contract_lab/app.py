"""The lab server: a raw ASGI application that asks for the token before anything else."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_auth_contract_lab import legacy, modern, refusal, rpc
from mcp_auth_contract_lab.behaviour import SOUND, Behaviour
from mcp_auth_contract_lab.challenges import Denial
from mcp_auth_contract_lab.credentials import Absent, Malformed, Presented, present
from mcp_auth_contract_lab.documents import JWKS_PATH, OwnKey, answer_endpoint
from mcp_auth_contract_lab.endpoint import preflight, share_with_origin
from mcp_auth_contract_lab.incoming import UNREADABLE, Incoming
from mcp_auth_contract_lab.introspection import Introspector
from mcp_auth_contract_lab.keyring import KeySource
from mcp_auth_contract_lab.methods import Client, Context
from mcp_auth_contract_lab.principal import ANONYMOUS, Principal
from mcp_auth_contract_lab.profiles import configured, profiled
from mcp_auth_contract_lab.protocol import is_modern
from mcp_auth_contract_lab.records import Ledger
from mcp_auth_contract_lab.scopes import BASIC_SCOPE
from mcp_auth_contract_lab.sessions import Sessions
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.states import States
from mcp_auth_contract_lab.tasks import Tasks
from mcp_auth_contract_lab.upstream import tell_upstream
from mcp_auth_contract_lab.verification import Trust, verify


class Lab:
    """One lab server as an ASGI application. Its sessions and invoices live as long as the object."""

    def __init__(self, settings: LabSettings, behaviour: Behaviour) -> None:
        self.settings = settings
        self.behaviour = behaviour
        self.keys = KeySource(settings, behaviour.keyring)
        self._introspector = Introspector(settings, behaviour.introspection)
        self.sessions = Sessions(behaviour.sessions)
        self.ledger = Ledger(behaviour.isolation, settings.audit)
        self.tasks = Tasks(behaviour.tasks)
        self.states = States(behaviour.states)
        self._own_key = OwnKey()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI scope."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        response = await self.answer(Incoming(Request(scope, receive)))
        await response(scope, receive, send)

    @property
    def allowed(self) -> str:
        """The methods of the endpoint, for Allow headers."""
        kept = self.behaviour.sessions.kept and self.behaviour.protocol.legacy
        if not kept:
            return "POST"
        return "GET, POST, DELETE" if self.behaviour.sessions.stream else "POST, DELETE"

    def context(self, principal: Principal, not_found: int, client: Client) -> Context:
        """Return what methods work with for this caller."""
        return Context(principal, self.ledger, self.behaviour.listing, not_found, client, self.behaviour.views)

    def remaining(self, principal: Principal) -> float:
        """Return the seconds until the caller's token expires, at most an hour."""
        if principal.expires is None:
            return 3600.0
        return float(min(3600.0, max(0.0, principal.expires + self.settings.leeway - self.settings.clock())))

    async def answer(self, incoming: Incoming) -> Response:
        """Answer one HTTP request, whatever its path."""
        if self.behaviour.endpoint.matches(incoming.path):
            return await self._endpoint(incoming)
        side = await self.behaviour.endpoint.intercept(self, incoming)
        return side or await self._beside(incoming)

    async def _beside(self, incoming: Incoming) -> Response:
        documents, path = self.behaviour.documents, incoming.path
        if documents.published_at(self.settings, path):
            value = documents.resource_metadata(self.settings)
            return _published(incoming, documents.serve(value, incoming))
        if path in documents.authorization_server_paths:
            value = documents.authorization_server(self.settings)
            return _published(incoming, documents.serve_authorization_server(value, incoming))
        if path == JWKS_PATH:
            return _published(incoming, documents.serve_authorization_server(await self._own_key.jwks(), incoming))
        if path == "/healthz":
            return _published(incoming, JSONResponse({"status": "ok"}))
        return answer_endpoint(incoming) or Response(status_code=404)

    async def _endpoint(self, incoming: Incoming) -> Response:
        endpoint, origin = self.behaviour.endpoint, incoming.header("origin")
        side = await endpoint.intercept(self, incoming)
        if side is not None:
            return side
        if origin is None:
            return await self.guarded(incoming)
        if not endpoint.origin_allowed(origin):
            return Response("this Origin is not allowed", 403, media_type="text/plain")
        if incoming.method == "OPTIONS":
            return preflight(origin, self.allowed)
        return share_with_origin(await self.guarded(incoming), origin)

    async def guarded(self, incoming: Incoming) -> Response:
        """Authenticate, then serve; write every refusal."""
        try:
            return await self.serve(incoming, await self.authenticate(incoming))
        except refusal.Denied as denied:
            return await self._denied(incoming, denied)
        except refusal.KeysUnavailable:
            return self.behaviour.keyring.outage()
        except refusal.IntrospectionUnavailable:
            return self.behaviour.introspection.outage()
        except refusal.BodyTooLarge:
            return Response("the body is too large", 413, media_type="text/plain")
        except refusal.HttpRefused as refused:
            if not refused.reason:
                return Response(status_code=refused.status)
            headers = {} if refused.allow is None else {"allow": refused.allow}
            error = rpc.error_message(None, rpc.INVALID_REQUEST, refused.reason)
            return rpc.rpc_response(error, refused.status, headers)

    async def authenticate(self, incoming: Incoming) -> Principal:
        """Return who calls. Raises NoCredentials, MalformedRequest, or what `principal_of` raises."""
        behaviour = self.behaviour
        for identity in behaviour.credentials.identities:
            vouched = await identity(self, incoming)
            if vouched is not None:
                return vouched
        match await present(incoming, behaviour.credentials):
            case Presented(token):
                return await self.principal_of(token)
            case Malformed(description):
                raise refusal.MalformedRequest(description)
            case Absent():
                if await behaviour.endpoint.open_to_all(incoming):
                    return ANONYMOUS
                raise refusal.NoCredentials

    async def principal_of(self, token: str) -> Principal:
        """Return who a token stands for. Raises InvalidToken, KeysUnavailable or IntrospectionUnavailable."""
        trust = Trust(self.settings, self.keys, self.settings.clock())
        if self.settings.introspection_uri is not None:
            return await self._introspector.principal_of(token, trust, self.behaviour.scopes.granted)
        return await verify(token, self.behaviour.verification, trust, self.behaviour.scopes.granted)

    async def serve(self, incoming: Incoming, principal: Principal) -> Response:
        """Serve a caller who is known. Raises InsufficientScope, HttpRefused or BodyTooLarge."""
        old = bool(self.behaviour.protocol.legacy) and (
            incoming.header("mcp-protocol-version") not in self.behaviour.protocol.modern
        )
        match incoming.method:
            case "POST":
                return await self._post(incoming, principal)
            case "GET" if old:
                return legacy.stream(self, incoming, principal)
            case "DELETE" if old:
                return legacy.end(self, incoming, principal)
            case _:
                raise refusal.HttpRefused(405, "this method is not served", self.allowed)

    async def _post(self, incoming: Incoming, principal: Principal) -> Response:
        if not _is_json(incoming.header("content-type")):
            raise refusal.HttpRefused(415, "the body must be application/json")
        if not _accepts_answers(incoming.header("accept")):
            raise refusal.HttpRefused(406, "answers are application/json or text/event-stream")
        message = await incoming.message()
        if message is UNREADABLE:
            return rpc.rpc_response(rpc.error_message(None, rpc.PARSE_ERROR, "not JSON"), 400)
        if is_modern(incoming, message, self.behaviour.protocol):
            response = modern.answer(self, incoming, message, principal)
        else:
            response = legacy.answer(self, incoming, message, principal)
        if response.status_code == 200:
            await tell_upstream(self, incoming, message)
        return response

    async def _denied(self, incoming: Incoming, denied: refusal.Denied) -> Response:
        challenges = self.behaviour.challenges
        denial = self._denial(incoming, denied)
        message = await incoming.posted() if challenges.in_tool_result(denial) else {}
        if message.get("method") != "tools/call" or not rpc.is_request_id(message.get("id")):
            return challenges.write(denial)
        return rpc.rpc_response(rpc.result_message(message["id"], challenges.as_result(denial)))

    def _denial(self, incoming: Incoming, denied: refusal.Denied) -> Denial:
        challenges = self.behaviour.challenges
        pointer = self.behaviour.documents.pointer(self.settings, incoming)
        match denied:
            case refusal.InsufficientScope(needed=needed, held=held):
                return challenges.insufficient(pointer, needed, held)
            case refusal.InvalidToken(description=description):
                return challenges.invalid(pointer, BASIC_SCOPE, description)
            case refusal.MalformedRequest(description=description):
                return challenges.malformed(pointer, description)
            case _:
                return challenges.missing(pointer, BASIC_SCOPE)


def create_app(settings: LabSettings) -> ASGIApp:
    """Return the lab server that the settings describe: sound, then its profiles, then its fault."""
    if settings.fault is not None and settings.fault.within is not None:
        settings = replace(settings, profiles=settings.profiles | {settings.fault.within})
    settings = configured(settings)
    behaviour = profiled(SOUND, settings.profiles)
    return Lab(settings, settings.fault.change(behaviour) if settings.fault else behaviour)


async def _live(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


def _published(incoming: Incoming, response: Response) -> Response:
    """Serve a public document to GET and HEAD, and to preflights of any origin."""
    if incoming.method in ("GET", "HEAD"):
        return response
    if incoming.method == "OPTIONS":
        shared = {"access-control-allow-origin": "*", "access-control-allow-headers": "*"}
        return Response(status_code=204, headers=shared)
    return Response(status_code=405, headers={"allow": "GET, HEAD, OPTIONS"})


def _is_json(content_type: str | None) -> bool:
    media_type, _, parameters = (content_type or "").lower().partition(";")
    charset = parameters.strip().replace('"', "")
    return media_type.strip() == "application/json" and charset in ("", "charset=utf-8")


def _accepts_answers(accept: str | None) -> bool:
    ranges = {one.split(";", 1)[0].strip() for one in (accept or "*/*").lower().split(",")}
    return bool(ranges & {"*/*", "application/*", "application/json", "text/*", "text/event-stream"})
