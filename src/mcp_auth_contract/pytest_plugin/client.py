"""A raw MCP client for people's own tests: it says what was answered, and repairs nothing."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anyio.from_thread import BlockingPortal, start_blocking_portal

from mcp_auth_contract.answers import Accepted, Answer, read
from mcp_auth_contract.clock import RealTime
from mcp_auth_contract.contract import Contract
from mcp_auth_contract.execution.servers import started
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.oauth.challenge import Challenges
from mcp_auth_contract.pytest_plugin.minting import Mint
from mcp_auth_contract.server import lifespan, loaded
from mcp_auth_contract.server.application import LoadedApp
from mcp_auth_contract.wire import (
    AsgiApp,
    Call,
    Conversation,
    Handshake,
    HeaderPair,
    HttpClient,
    InsideTransport,
    Redactor,
    detect_revisions,
    operation_call,
    request,
    resolver_inside,
)

_ASSUMED = Revision.R2025_11_25


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request. The helpers `assert_refused` and `assert_accepted` take it as it is."""

    answer: Answer

    @property
    def status(self) -> int | None:
        """The HTTP status; None when there was no HTTP answer."""
        return self.answer.status

    @property
    def headers(self) -> dict[str, str]:
        """The header fields, names in lower case; of a repeated field the lines joined by commas."""
        joined: dict[str, str] = {}
        for name, value in self.answer.headers:
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined

    @property
    def result(self) -> Mapping[str, Any] | None:
        """The JSON-RPC result; None for an error and for an answer without one."""
        value = (self.answer.reply or {}).get("result")
        return value if isinstance(value, Mapping) else None

    @property
    def error(self) -> Mapping[str, Any] | None:
        """The JSON-RPC error, if there is one."""
        value = (self.answer.reply or {}).get("error")
        return value if isinstance(value, Mapping) else None

    @property
    def text(self) -> str:
        """The body."""
        return self.answer.text

    @property
    def accepted(self) -> bool:
        """Whether the call had its effect: a result, and not one with `isError`."""
        return isinstance(read(self.answer), Accepted)

    @property
    def challenges(self) -> Challenges:
        """The challenges of all WWW-Authenticate lines."""
        return self.answer.challenges


@dataclass(slots=True)
class Server:
    """A server that is up, and how to talk to it from tests."""

    portal: BlockingPortal
    http: HttpClient = field(repr=False)
    endpoint: str
    redactor: Redactor = field(repr=False)
    revisions: tuple[Revision, ...] = ()

    def revision(self, credentials: tuple[HeaderPair, ...]) -> Revision:
        """Return the newest revision that the server speaks, found out once with the first credentials."""
        if not self.revisions:
            detected = self.portal.call(detect_revisions, Conversation(self.http, self.endpoint), credentials)
            self.revisions = detected.revisions
        return self.revisions[0] if self.revisions else _ASSUMED


class Client:
    """Talks to the server as one principal, in one revision. A stateful revision shakes hands before its first call."""

    def __init__(self, server: Server, token: str | None, revision: Revision | None = None) -> None:
        self._server = server
        self._credentials: tuple[HeaderPair, ...] = ()
        if token is not None:
            server.redactor.register(token, "token")
            self._credentials = (("Authorization", f"Bearer {token}"),)
        self._conversation = Conversation(server.http, server.endpoint)
        self._revision = revision
        self._handshake: Handshake | None = None

    @property
    def revision(self) -> Revision:
        """The MCP revision that it speaks."""
        if self._revision is None:
            self._revision = self._server.revision(self._credentials)
        return self._revision

    def tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Reply:
        """Call a tool."""
        return self._send(operation_call(OperationKind.TOOL, name, arguments or {}))

    def resource(self, uri: str) -> Reply:
        """Read a resource."""
        return self._send(operation_call(OperationKind.RESOURCE, uri, {}))

    def prompt(self, name: str, arguments: Mapping[str, Any] | None = None) -> Reply:
        """Get a prompt."""
        return self._send(operation_call(OperationKind.PROMPT, name, arguments or {}))

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Reply:
        """Send any request, as `tools/list`."""
        return self._send(Call(method, params or {}))

    def fetch(self, url: str) -> Reply:
        """GET a document without credentials, as the metadata of the resource; a path is one of the server's."""
        parts = urlsplit(self._server.endpoint)
        there = f"{parts.scheme}://{parts.netloc}{url}" if url.startswith("/") else url
        return Reply(self._server.portal.call(partial(self._server.http.fetch, there, accept="application/json")))

    def close(self) -> None:
        """End the session, if there is one."""
        shaken, self._handshake = self._handshake, None
        if shaken is not None:
            self._server.portal.call(self._conversation.close_session, shaken, self._credentials)

    def _send(self, call: Call) -> Reply:
        revision, portal = self.revision, self._server.portal
        if not revision.stateless and self._handshake is None:
            shaken = portal.call(self._conversation.open_session, revision, self._credentials)
            if not shaken.open:  # refused at the http: that is the answer to whatever was asked
                return Reply(shaken.answer)
            self._handshake = shaken
        session = None if self._handshake is None else self._handshake.session
        spoken = revision if self._handshake is None else self._handshake.revision
        message = request(spoken, call, next(self._conversation.ids), session=session)
        return Reply(portal.call(self._conversation.send, message, self._credentials))


class Connect:
    """Makes clients of one server; call it with the principal that a client speaks for."""

    def __init__(self, server: Server, mint: Callable[[], Mint]) -> None:
        self._server = server
        self._mint = mint
        self._clients: list[Client] = []

    def __call__(
        self,
        who: str | Mapping[str, object] | None = None,
        *,
        token: str | None = None,
        anonymous: bool = False,
        defect: str | None = None,
        variant: str | None = None,
        scopes: Iterable[str] | None = None,
        revision: str | None = None,
    ) -> Client:
        """Return a client with a token for `who`, minted as `mcp_mint` does; or with this `token`, or none at all.

        `revision` is an MCP revision, by default the newest that the server speaks.
        """
        if token is None and not anonymous:
            token = self._mint()(who, defect=defect, variant=variant, scopes=scopes)
        client = Client(self._server, None if anonymous else token, None if revision is None else Revision(revision))
        self._clients.append(client)
        return client

    def close(self) -> None:
        """End all sessions."""
        for client in self._clients:
            client.close()


@contextmanager
def running(contract: Contract, app: AsgiApp | None = None, ca_file: Path | None = None) -> Iterator[Server]:
    """Start the server of a resolved contract, or `app` in its place, and yield it until the block ends.

    Raises ContractError and Unreachable as a run does.
    """
    redactor = Redactor()
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_reached(contract, app, redactor, ca_file)) as http,
    ):
        yield Server(portal, http, contract.target.endpoint, redactor, contract.target.revisions)


@asynccontextmanager
async def _reached(
    contract: Contract, app: AsgiApp | None, redactor: Redactor, ca_file: Path | None
) -> AsyncIterator[HttpClient]:
    target, label, redact = contract.target, contract.label, redactor.redact
    inside: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        if app is None and target.app is None:
            await stack.enter_async_context(started(contract, redactor, RealTime().left))
        else:
            if app is None:
                loading = partial(loaded, folder=contract.folder, env=target.env, label=label, redact=redact)
                ready = stack.enter_context(loading(target.app or "", keep_output=False))
            else:
                ready = LoadedApp(app)
            await stack.enter_async_context(lifespan(ready, label=label, redact=redact))
            inside["transport"] = InsideTransport(ready.app, state=ready.state)
            inside["resolve"] = resolver_inside(urlsplit(target.endpoint).hostname or "")
        client = HttpClient(
            target.endpoint,
            redactor=redactor,
            headers=tuple(target.headers.items()),
            ca_files=[str(file) for file in (ca_file, target.ca_file) if file],
            **inside,
        )
        yield await stack.enter_async_context(client)
