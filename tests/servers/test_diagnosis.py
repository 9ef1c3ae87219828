"""A good token that is refused: the run says why, in one sentence, by what made the server accept it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from mcp_auth_contract.asgi import serve_in_thread
from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.execution import Options, run_contract
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.plan import Selection
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.tokens import Algorithm

HERE = Path(__file__).parent
CHECKS = load_builtin()
SELECT = Selection(("token-expired-refused", "challenge-missing-token-401"))
CONTRACT = """
[target]
url = "{url}"
revisions = ["2026-07-28"]
[issuer]
algorithms = ["RS256", "ES256"]
[claims]
tenant = "tenant_id"
[principals.alice]
subject = "alice"
tenant = "t1"
scopes = ["files:read"]
[[tools]]
name = "list_files"
scopes = ["files:read"]
"""


@dataclass(slots=True)
class Strict:
    """A server that verifies with PyJWT, and is picky in some way."""

    issuer: str = ""
    jwks: str = ""
    typ: str = "at+jwt"
    audience: str = ""
    slash: str = ""
    algorithm: str = "RS256"
    kinds: tuple[str, ...] = ()
    scope: Callable[[Mapping[str, Any]], object] = lambda claims: claims.get("scope", "")
    claims: Callable[[Mapping[str, Any]], bool] = lambda _claims: True
    calls: int = 0
    limit: int | None = None
    wanted: str = "files:read"
    tool_error: str = ""
    own: str = field(default="")

    def verified(self, token: str) -> Mapping[str, Any]:
        """The claims of a token; whatever is wrong with it raises."""
        header = jwt.get_unverified_header(token)
        if header.get("typ") != self.typ:
            raise ValueError("typ")
        keys = httpx.get(self.jwks).json()["keys"]
        if self.kinds and any(key["kty"] not in self.kinds or key.get("use") == "enc" for key in keys):
            raise ValueError("a key of a kind that is not known")
        key = next(key for key in keys if key["kid"] == header["kid"])
        audience, issuer = self.audience or self.own, f"{self.issuer}{self.slash}"
        return jwt.decode(token, jwt.PyJWK(key), algorithms=[self.algorithm], audience=audience, issuer=issuer)

    def answer(self, authorization: str) -> tuple[int, str, object]:
        self.calls += 1
        token = authorization.partition(" ")[2]
        try:
            claims = self.verified(token)
        except (ValueError, KeyError, StopIteration, jwt.PyJWTError, httpx.HTTPError):
            return 401, 'Bearer error="invalid_token", error_description="not for me"', {}
        if not self.claims(claims) or (self.limit is not None and self.calls > self.limit):
            return 401, 'Bearer error="invalid_token"', {}
        scopes = self.scope(claims)
        if self.wanted not in (scopes.split() if isinstance(scopes, str) else scopes):
            return 403, f'Bearer error="insufficient_scope", scope="{self.wanted}"', {}
        return 200, "", {"content": [{"type": "text", "text": self.tool_error}], "isError": bool(self.tool_error)}

    async def __call__(
        self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        body = b""
        while (event := await receive())["type"] == "http.request":
            body += event["body"]
            if not event.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        if scope["method"] != "POST":
            status, challenge, result = 404, "", {}
        else:
            status, challenge, result = await asyncio.to_thread(self.answer, headers.get("authorization", ""))
        value = {"jsonrpc": "2.0", "id": json.loads(body or b"{}").get("id"), "result": result}
        fields = [(b"content-type", b"application/json")]
        fields += [(b"www-authenticate", challenge.encode())] if challenge else []
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": json.dumps(value if status == 200 else {}).encode()})


def run(server: Strict, *edits: tuple[str, str], select: Selection = SELECT) -> Report:
    with (
        EmbeddedIssuer(IssuerSettings(algorithms=(Algorithm.RS256, Algorithm.ES256))) as issuer,
        serve_in_thread(server, lifespan="off") as served,
    ):
        server.own = f"{served.url}/mcp"
        server.issuer, server.jwks = server.issuer or issuer.url, server.jwks or issuer.jwks_uri
        text = CONTRACT.format(url=server.own)
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        contract = read_contract(text, Path("contract.toml"))
        options = Options(checks=CHECKS, environ={}, selection=select)
        return asyncio.run(run_contract(contract, options, issuer))


def listed(claims: Mapping[str, Any]) -> object:
    return claims["scp"] if isinstance(claims.get("scp"), list) else []


CURED = [
    (Strict(typ="JWT"), 'accepted once its typ was "JWT": write claims.typ = "JWT"'),
    (Strict(audience="api://files"), "none of"),
    (Strict(slash="/"), "accepted once its iss ended with a slash"),
    (Strict(algorithm="ES256"), "accepted once it was signed with ES256: write ES256 first in issuer.algorithms"),
    (Strict(kinds=("RSA",)), "a key of another kind in the set stops this server"),
    (Strict(claims=lambda claims: "tenant_id" not in claims), "accepted once it had no tenant_id"),
    (Strict(claims=lambda claims: "azp" in claims), 'accepted once it had azp: write claims.client = "azp"'),
    (Strict(scope=listed, wanted="files:read"), "the good token is refused (403"),
    (Strict(typ="JWT", slash="/"), 'accepted once its typ was "JWT" and its iss ended with a slash'),
]


@pytest.mark.parametrize(("server", "said"), CURED)
def test_what_makes_the_server_accept_the_token_is_the_finding(server: Strict, said: str) -> None:
    report = run(server)
    assert report.finding.startswith("the good token is refused")
    assert said in report.finding
    assert report.gate.exit_code == 3


def test_an_audience_with_a_slash_is_found() -> None:
    server = Strict()
    report = run(server, ("revisions", 'resource = "http://files.example/mcp"\nrevisions'))
    assert f'accepted once its aud was "{server.own}": write target.resource = "{server.own}"' in report.finding


def test_scopes_in_a_list_are_found() -> None:
    server = Strict(scope=lambda claims: listed(claims) or "", wanted="files:read")
    server.claims = lambda claims: "scp" in claims
    assert 'accepted once its scopes were a list in scp: write claims.scope = "scp"' in run(server).finding


def test_a_server_of_another_issuer_is_told_so() -> None:
    server = Strict(jwks="http://127.0.0.1:9/jwks", issuer="http://127.0.0.1:9")
    report = run(server)
    assert "it never fetched the key set, so its ISSUER or JWKS_URI is not that of this run" in report.finding
    assert 'it says "not for me"' in report.finding


def test_a_scope_that_is_missing_is_named() -> None:
    assert 'the server wants the scope "files:write"' in run(Strict(wanted="files:write")).finding


def test_a_call_that_fails_by_itself_is_no_matter_of_the_token() -> None:
    finding = run(Strict(tool_error="no such folder")).finding
    assert "the call itself is refused; look at its arguments" in finding
    assert 'it says "no such folder"' in finding


def test_a_limit_that_the_server_does_not_tell_is_named() -> None:
    report = run(Strict(limit=12), select=Selection(("token-*",)))
    assert report.finding.startswith("the good token of alice was accepted")
    assert "and then refused (401" in report.finding


def test_a_server_that_accepts_the_token_has_no_finding() -> None:
    report = run(Strict())
    assert (report.finding, report.controls[0].accepted) == ("", True)


REAL = [
    ('RESOURCE = "${target.resource}"', 'RESOURCE = "${target.resource}/"', "accepted once its aud was"),
    ('ISSUER = "${issuer.url}"', 'ISSUER = "${issuer.url}/"', "accepted once its iss ended with a slash"),
    ('JWKS_URI = "${issuer.jwks_uri}"', 'JWKS_URI = "${issuer.url}x/jwks"', "it never fetched the key set"),
]


@pytest.mark.parametrize(("old", "new", "said"), REAL, ids=["audience", "issuer", "keys"])
def test_a_real_server_that_is_configured_otherwise_is_diagnosed(old: str, new: str, said: str) -> None:
    file = HERE / "mcp_sdk.toml"
    text = file.read_text("utf-8")
    assert old in text
    options = Options(checks=CHECKS, environ={}, selection=SELECT)
    report = asyncio.run(run_contract(read_contract(text.replace(old, new), file), options))
    assert said in report.finding
