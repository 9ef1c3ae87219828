"""The kit as an OAuth client: authorization requests, the login of a test user, and token requests."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from authlib.common.security import generate_token
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from mcp_auth_contract.answers import Answer, TransportFailure, describe
from mcp_auth_contract.answers.authorization import Ending, How, Issued
from mcp_auth_contract.contract import Provider
from mcp_auth_contract.provider.cookies import Jar
from mcp_auth_contract.provider.pages import Form, forms_in
from mcp_auth_contract.provider.secrets import MEMBERS
from mcp_auth_contract.wire import HttpClient, Redactor, Request
from mcp_auth_contract.wire.conversation import Received

Pairs = Sequence[tuple[str, str]]
Opened = Callable[[str], Awaitable[HttpClient]]

_MOST_PAGES = 12
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEPT_METHOD = frozenset({307, 308})
_FORM = ("Content-Type", "application/x-www-form-urlencoded")


@dataclass(frozen=True, slots=True)
class Client:
    """One OAuth client. `method` is how it authenticates at the token endpoint."""

    id: str
    secret: str = field(default="", repr=False)
    method: str = "none"


def client_of(provider: Provider) -> Client:
    """Return the client that the kit acts as."""
    secret = provider.client_secret or ""
    return Client(provider.client_id, secret, provider.auth_method or ("client_secret_basic" if secret else "none"))


def other_client_of(provider: Provider) -> Client | None:
    """Return the second client of the contract, if there is one."""
    other = provider.other_client
    if other is None:
        return None
    secret = other.client_secret or ""
    return Client(other.client_id, secret, "client_secret_basic" if secret else "none")


@dataclass(frozen=True, slots=True)
class Verifier:
    """A PKCE verifier and its challenge (RFC 7636)."""

    text: str = field(repr=False)
    challenge: str


@dataclass(slots=True)
class AuthorizationServerClient:
    """Speaks to one authorization server as clients do. `opened` returns the HTTP client of a URL's origin.

    What it is given is registered as secret before anything is recorded. Cookies are kept for the whole run, so that
    the user signs in once; wrong passwords are never tried.
    """

    provider: Provider
    metadata: Mapping[str, Any]
    redactor: Redactor
    opened: Opened
    signed_in: bool = False
    login_refused: bool = False
    jar: Jar = field(default_factory=Jar)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        login = self.provider.login
        for secret in login.fields.values() if login else ():
            self.redactor.hide(secret)
        for client in (client_of(self.provider), other_client_of(self.provider)):
            if client is not None and client.secret:
                self.redactor.hide(client.secret)

    def endpoint(self, name: str) -> str:
        """Return the URL of an endpoint, empty where the metadata names none."""
        url = self.metadata.get(f"{name}_endpoint")
        return url if isinstance(url, str) and urlsplit(url).scheme in ("http", "https") else ""

    def offers_grant(self, grant: str) -> bool:
        """Whether the metadata lists a grant type."""
        listed = self.metadata.get("grant_types_supported")
        return isinstance(listed, list) and grant in listed

    def verifier(self) -> Verifier:
        """Return a new verifier."""
        text: str = generate_token(48)
        self.redactor.register(text, "verifier")
        return Verifier(text, create_s256_code_challenge(text))

    def request(self, verifier: Verifier, state: str) -> dict[str, str]:
        """Return the parameters of a sound authorization request."""
        chosen = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": self.provider.redirect_uri,
            "state": state,
            "code_challenge": verifier.challenge,
            "code_challenge_method": "S256",
        }
        if self.provider.scopes:
            chosen["scope"] = " ".join(self.provider.scopes)
        if self.provider.resource:
            chosen["resource"] = self.provider.resource
        return chosen

    async def authorize(self, parameters: Pairs, *, note: str = "") -> Ending:
        """Send an authorization request as a browser would, and sign in where that is asked for."""
        if not self.endpoint("authorization"):
            said = "the metadata names no authorization_endpoint"
            return Ending(How.NOTHING, _unsent("GET", said), why=said)
        async with self._turn:  # a browser does one thing after the other
            return await self._browse(self._authorization_url(parameters), parameters, note)

    def _authorization_url(self, parameters: Pairs) -> str:
        named = dict(parameters)
        if len(named) == len(parameters) and {"client_id", "response_type"} <= named.keys():
            rest = {name: value for name, value in named.items() if name not in ("client_id", "response_type")}
            url: str = prepare_grant_uri(
                self.endpoint("authorization"), named["client_id"], named["response_type"], **rest
            )
            return url
        url = self.endpoint("authorization")
        return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(list(parameters))}"

    async def _browse(self, url: str, parameters: Pairs, note: str) -> Ending:
        ours = [value for name, value in parameters if name == "redirect_uri"] or [self.provider.redirect_uri]
        method, body = "GET", b""
        pages: list[Answer] = []
        after_login: list[Answer] = []
        repeating = False  # whether the body has the password
        for _ in range(_MOST_PAGES):
            received = await self._visit(method, url, body, note)
            answer = received.answer
            if answer.status is None:
                return Ending(How.NOTHING, answer, pages=tuple(pages), why=describe(answer))
            location = received.raw_header("location")
            if answer.status in _REDIRECTS and location:
                if repeating:
                    after_login.append(answer)
                there = urljoin(url, location)
                if self._leaves(there, ours):
                    return _redirected(there, answer, pages, after_login)
                url = there
                if answer.status not in _KEPT_METHOD:
                    method, body, repeating = "GET", b"", False
                continue
            if answer.media_type == "text/html":
                pages.append(answer)
            form = self._form(received.raw_text) if answer.status < 400 and answer.media_type == "text/html" else None
            if form is None:
                return Ending(How.PAGE, answer, pages=tuple(pages), after_login=tuple(after_login))
            action = urljoin(url, form.action)
            if self._leaves(action, ours):
                query = "&".join(filter(None, (urlsplit(action).query, urlencode(form.fields))))
                there = urlunsplit(urlsplit(action)._replace(query=query))
                return _redirected(there, answer, pages, after_login)
            filled, why = self._filled(form)
            if filled is None:
                return Ending(How.LOGIN, answer, pages=tuple(pages), why=why)
            repeating = form.asks_password and form.method == "post"
            if form.method == "post":
                url, method, body = action, "POST", urlencode(filled).encode()
            else:
                url = urlunsplit(urlsplit(action)._replace(query=urlencode(filled)))
                method, body = "GET", b""
        return Ending(How.NOTHING, answer, pages=tuple(pages), why=f"no end after {_MOST_PAGES} pages and redirects")

    async def _visit(self, method: str, url: str, body: bytes, note: str) -> Received:
        headers = [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]
        if cookie := self.jar.header(url):
            headers.append(("Cookie", cookie))
        if method == "POST":
            headers.append(_FORM)
        http = await self.opened(url)
        # A fragment is never sent.
        sent = Request(method, url.partition("#")[0], tuple(headers), body, note=note)
        received = await http.receive(sent)
        self.jar.take(url, [value for name, value in received.raw_headers if name == "set-cookie"])
        return received

    def _leaves(self, url: str, ours: Sequence[str]) -> bool:
        """Whether a redirect goes to a client: to the URI that was asked for, or away from the provider's hosts."""
        if any(url.startswith(one.partition("#")[0]) for one in (*ours, self.provider.redirect_uri)):
            return True
        parts = urlsplit(url)
        return (parts.scheme, parts.netloc) not in self._own_hosts()

    def is_own(self, url: str) -> bool:
        """Whether a URL is on one of the provider's hosts."""
        return urlsplit(url)[:2] in self._own_hosts()

    def _own_hosts(self) -> set[tuple[str, str]]:
        named = (value for value in self.metadata.values() if isinstance(value, str) and "://" in value)
        return {urlsplit(url)[:2] for url in (self.provider.issuer, *named)}

    def _form(self, text: str) -> Form | None:
        forms = forms_in(text)
        fields = self.provider.login.fields if self.provider.login else {}
        return next((one for one in forms if one.asks_password or one.fields.keys() & fields.keys()), None) or next(
            (one for one in forms if one.method == "post"), None
        )

    def _filled(self, form: Form) -> tuple[dict[str, str] | None, str]:
        login = self.provider.login
        asked = form.asks_password or bool(login and form.fields.keys() & login.fields.keys())
        if login is None:
            return None, "a page wants to be answered, and the contract has no [provider.login]"
        if not asked:
            return form.filled(login.consent), ""
        known = {name: value for name, value in login.fields.items() if name in form.fields}
        if not known:
            shown = ", ".join(form.fields) or "none"
            return None, f"the login form has none of the fields in provider.login.fields; it has {shown}"
        if self.login_refused or self.signed_in:
            self.login_refused = True
            return None, "the login form came again after it was filled in; it is not tried twice"
        if form.asks_password:
            self.signed_in = True
        return form.filled(known), ""

    async def token(self, form: Mapping[str, str] | Pairs, client: Client | None = None, *, note: str = "") -> Issued:
        """Send a token request; without a client nobody authenticates."""
        return await self.post("token", form, client, note=note)

    async def post(
        self, endpoint: str, form: Mapping[str, str] | Pairs, client: Client | None = None, *, note: str = ""
    ) -> Issued:
        """Send a form to an endpoint as a client, by its own way to authenticate."""
        pairs = list(form.items()) if isinstance(form, Mapping) else list(form)
        for name, value in pairs:
            if name in MEMBERS:
                self.redactor.register(value, name)
        url, body = self.endpoint(endpoint), urlencode(pairs)
        if not url:
            return Issued(_unsent("POST", f"the metadata names no {endpoint}_endpoint"))
        headers = {"Accept": "application/json", _FORM[0]: _FORM[1]}
        if client is not None:
            auth = ClientAuth(client.id, client.secret, client.method)
            url, headers, body = auth.prepare("POST", url, headers, body)
        return await self.send("POST", url, tuple(headers.items()), body.encode(), note=note)

    async def in_query(self, endpoint: str, form: Mapping[str, str]) -> Issued:
        """Send what belongs in a form in the query of a GET."""
        url = self.endpoint(endpoint)
        url = f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(form)}"
        return await self.send("GET", url, (("Accept", "application/json"),))

    async def send(
        self, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes = b"", *, note: str = ""
    ) -> Issued:
        """Send a request, and read its answer as one about tokens or clients."""
        http = await self.opened(url)
        return issued(await http.receive(Request(method, url, tuple(headers), body, note=note)))


def _unsent(method: str, why: str) -> Answer:
    return Answer("", method, "", failure=TransportFailure.CONNECT, detail=why)


def issued(received: Received) -> Issued:
    """Read an answer as one about tokens."""
    try:
        document = json.loads(received.raw_text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return Issued(received.answer)
    parts = document.get("access_token")
    parts = parts.split(".") if isinstance(parts, str) else []
    header, claims = (_part(parts[0]), _part(parts[1])) if len(parts) == 3 else (None, None)
    return Issued(received.answer, document, header, claims)


def _part(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _redirected(url: str, answer: Answer, pages: Sequence[Answer], after_login: Sequence[Answer]) -> Ending:
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    in_fragment = parse_qsl(parts.fragment, keep_blank_values=True)
    names = [name for name, _ in (*pairs, *in_fragment)]
    return Ending(
        How.REDIRECT,
        answer,
        urlunsplit(parts._replace(query="", fragment="")),
        dict((*pairs, *in_fragment)),
        frozenset(name for name in names if names.count(name) > 1),
        bool(in_fragment),
        tuple(pages),
        tuple(after_login),
    )
