"""Each fault lets in exactly what it says, and leaves the rest of the server sound."""

import base64
import hmac
import json
from collections.abc import Callable, Mapping
from contextlib import closing
from http.client import HTTPConnection
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm
from tests.unit.lab.test_lab_faults_identity import SEEN as SEEN_NAMES
from tests.unit.lab.test_lab_faults_kinds_and_times import SEEN as SEEN_KINDS

from mcp_auth_contract.asgi import serve_in_thread
from mcp_auth_contract_lab import faults
from mcp_auth_contract_lab.faults import (
    FAULTS,
    claims,
    presentation,
    scopes,
    signatures,
    subjects,
    trusted_headers,
    unauthenticated,
)

CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}


def segment(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def read(lab, token: str) -> bool:
    return CANARY in lab.modern("tools/call", CALL, token).text


def claim(**changes: Any) -> Callable[..., bool]:
    """A good token with other claims is accepted."""
    return lambda lab, keys: read(lab, keys.token(**changes))


def raw(make: Callable[[Any, str, str, str], str]) -> Callable[..., bool]:
    """A token made of the segments of a good one is accepted."""
    return lambda lab, keys: read(lab, make(keys, *keys.token().split(".")))


def unsigned(algorithm: str, signature: str = "") -> Callable[..., bool]:
    header = {"alg": algorithm, "kid": "k1", "typ": "at+jwt"}
    return raw(lambda _keys, _header, payload, _signature: f"{segment(header)}.{payload}.{signature}")


def headers(*pairs: tuple[str, str]) -> Callable[..., bool]:
    """A call with other headers in place of Authorization is answered; {token} and {bad} stand for tokens."""

    def send(lab, keys) -> bool:
        filled = [
            (name, value.replace("{token}", keys.token()).replace("{bad}", keys.forged()).replace("{basic}",
             base64.b64encode(f"x:{keys.token()}".encode()).decode()))
            for name, value in pairs
        ]  # fmt: skip
        return CANARY in post(lab, filled, CALL).text

    return send


def breaks_down(*pairs: tuple[str, str], path: str = "/mcp") -> Callable[..., bool]:
    """A call with these headers ends in a 500."""

    def send(lab, keys) -> bool:
        filled = [(name, value.replace("{token}", keys.token()).encode("latin-1")) for name, value in pairs]
        return post(lab, filled, CALL, path).status_code == 500

    return send


def post(lab, pairs: list[tuple[str, str]], params: Mapping[str, Any], path: str = "/mcp", **members: Any):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": meta, **params}, **members}
    fixed = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "get_invoice"),
    ]
    typed = [] if any(name == "content-type" for name, _ in pairs) else [("content-type", "application/json")]
    return lab.send("POST", path, [*fixed, *typed, *pairs], json.dumps(body).encode())


def hmac_signed(lab, keys) -> bool:
    pem = keys.own.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = f"{segment({'alg': 'HS256', 'kid': 'k1', 'typ': 'at+jwt'})}.{segment(keys.claims())}"
    return read(lab, f"{signed}.{segment(hmac.new(pem, signed.encode(), 'sha256').digest())}")


def embedded(lab, keys) -> bool:
    jwk = json.loads(RSAAlgorithm.to_jwk(keys.stranger.public_key()))
    fields = {"kid": "k1", "typ": "at+jwt", "jwk": jwk}
    return read(lab, jwt.encode(keys.claims(), keys.stranger, "RS256", headers=fields))


def other_algorithm(lab, keys) -> bool:
    fields = {"kid": "k1", "typ": "at+jwt"}
    honest = jwt.encode(keys.claims(), keys.own, "RS256", headers=fields)
    signed = honest.rsplit(".", 1)[0]
    made = jwt.get_algorithm_by_name("PS256").sign(signed.encode(), keys.own)
    return read(lab, f"{signed}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}")


def cached(lab, keys) -> bool:
    header, _, signature = keys.token().split(".")
    assert read(lab, keys.token())
    good = keys.token(jti="seen")
    assert read(lab, good)
    header, _, signature = good.split(".")
    return read(lab, f"{header}.{segment(keys.claims(jti='forged'))}.{signature}")


def strict_list(lab, keys) -> bool:
    return not read(lab, keys.token(aud=["https://mcp.test/mcp", "https://other.test"]))


def forbidden_instead(lab, keys) -> bool:
    return lab.modern("tools/call", CALL, keys.token(scope="", exp=1)).status_code == 403


def upper_scheme_refused(lab, keys) -> bool:
    return post(lab, [("authorization", f"bearer {keys.token()}")], CALL).status_code == 401


def either_order(lab, keys) -> bool:
    pair = [("authorization", f"Bearer {keys.token()}"), ("authorization", f"Bearer {keys.forged()}")]
    return all(CANARY in post(lab, order, CALL).text for order in (pair, pair[::-1]))


def query(text: str, *pairs: tuple[str, str]) -> Callable[..., bool]:
    def send(lab, keys) -> bool:
        filled = [(name, value.replace("{bad}", keys.forged())) for name, value in pairs]
        return CANARY in post(lab, filled, CALL, f"/mcp?{text.replace('{token}', keys.token())}").text

    return send


def in_member(lab, keys) -> bool:
    return CANARY in post(lab, [], CALL, access_token=keys.token()).text


def octets(value: str) -> Callable[..., bool]:
    """An Authorization line, each character one octet, is answered."""

    def send(lab, keys) -> bool:
        line = value.replace("{token}", keys.token()).encode("latin-1")
        return CANARY in post(lab, [("authorization", line)], CALL).text

    return send


def basic_user_name(lab, keys) -> bool:
    value = base64.b64encode(f"{keys.token()}:".encode()).decode()
    return CANARY in post(lab, [("authorization", f"Basic {value}")], CALL).text


def in_authorization_member(lab, keys) -> bool:
    return CANARY in post(lab, [], CALL, authorization=f"Bearer {keys.token()}").text


def in_meta(lab, keys) -> bool:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "authorization": f"Bearer {keys.token()}",
    }
    return CANARY in post(lab, [], {**CALL, "_meta": meta}).text


def in_argument_beside_header(lab, keys) -> bool:
    """Bob is answered as alice, whose token stands among the arguments."""
    arguments = {"invoice_id": "INV-1", "access_token": keys.token()}
    line = ("authorization", f"Bearer {keys.token('bob')}")
    return CANARY in post(lab, [line], {"name": "get_invoice", "arguments": arguments}).text


def in_argument(lab, keys) -> bool:
    arguments = {"invoice_id": "INV-1", "access_token": keys.token()}
    return CANARY in post(lab, [], {"name": "get_invoice", "arguments": arguments}).text


def unscoped_array(lab, keys) -> bool:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
    return CANARY in lab.post([call], keys.token(scope="x"), {"mcp-protocol-version": "2026-07-28"}).text


def path(spelling: str) -> Callable[..., bool]:
    return lambda lab, _keys: CANARY in post(lab, [], CALL, spelling).text


def dotted(lab, _keys) -> bool:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL})
    with serve_in_thread(lab.app) as served, closing(HTTPConnection("127.0.0.1", served.port)) as connection:
        # httpx would resolve the dot segment itself.
        connection.request("POST", "/./mcp", body, {"content-type": "application/json"})
        return CANARY in connection.getresponse().read().decode()


def media(content_type: str | None) -> Callable[..., bool]:
    return lambda lab, _keys: CANARY in post(lab, [("content-type", content_type)], CALL).text


def no_media(lab, _keys) -> bool:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
    return CANARY in lab.send("POST", "/mcp", (), json.dumps(body).encode()).text


def message(body: object, status: int) -> Callable[..., bool]:
    return lambda lab, _keys: lab.post(body).status_code == status


def opens(verb: str, target: str, body: object = None) -> Callable[..., bool]:
    """A stream opens for a caller without a token."""

    def send(lab, _keys) -> bool:
        with (
            serve_in_thread(lab.app) as served,
            httpx.stream(verb, f"{served.url}{target}", json=body, trust_env=False) as answer,
        ):
            return answer.headers.get("content-type", "").startswith("text/event-stream")

    return send


def head(lab, _keys) -> bool:
    return lab.send("HEAD", "/mcp").status_code == 200


def ended(lab, keys) -> bool:
    session = lab.open_session(keys.token())
    assert lab.send("DELETE", "/mcp", session).status_code == 204
    return lab.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, keys.token(), session).status_code == 404


def runs(method: str, params: Mapping[str, Any], scope: str) -> Callable[..., bool]:
    def send(lab, keys) -> bool:
        return "result" in lab.modern(method, params, keys.token(scope=scope)).json()

    return send


WRITE = {"name": "update_invoice", "arguments": {"invoice_id": "INV-1", "amount": 1}}
SEEN: Mapping[str, Callable[..., bool]] = {
    "signature-not-verified": lambda lab, keys: read(lab, keys.forged()),
    "signature-removed-accepted": raw(lambda _k, header, payload, _s: f"{header}.{payload}."),
    "signature-segment-missing-accepted": raw(lambda _k, header, payload, _s: f"{header}.{payload}"),
    "signature-zeroed-accepted": raw(lambda _k, header, payload, _s: f"{header}.{payload}.{segment(bytes(256))}"),
    "signature-cached": cached,
    "alg-none-accepted": unsigned("none"),
    "alg-none-in-capitals-accepted": unsigned("NONE"),
    "alg-none-with-signature-accepted": unsigned("none", "AAAA"),
    "alg-unknown-unsigned-accepted": unsigned("XX999"),
    "algorithm-guessed": other_algorithm,
    "hmac-with-public-key": hmac_signed,
    "embedded-jwk-trusted": embedded,
    "unknown-kid-not-verified": lambda lab, keys: read(lab, keys.forged(kid="k9")),
    "critical-ignored": lambda lab, keys: read(lab, keys.token(header={"crit": ["x"], "x": 1})),
    "issuer-ignored": claim(iss="https://other.test"),
    "issuer-missing-accepted": claim(iss=...),
    "issuer-prefix-accepted": claim(iss="https://issuer.test.evil.test"),
    "issuer-part-accepted": claim(iss="https://issuer"),
    "issuer-slash-normalised": claim(iss="https://issuer.test/"),
    "audience-ignored": claim(aud="https://other.test"),
    "audience-missing-accepted": claim(aud=...),
    "audience-empty-list-accepted": claim(aud=[]),
    "audience-prefix-accepted": claim(aud="https://mcp.test/mcp-other"),
    "audience-part-accepted": claim(aud="https://evil.test/?https://mcp.test/mcp"),
    "audience-origin-accepted": claim(aud="https://mcp.test/other"),
    "audience-wildcard-accepted": claim(aud="*"),
    "audience-of-issuer-accepted": claim(aud="https://issuer.test"),
    "audience-list-unread": claim(aud=["https://other.test"]),
    "audience-list-refused": strict_list,
    "audience-from-host": claim(aud="http://lab.test/mcp"),
    "expiry-ignored": claim(exp=1),
    "expiry-missing-accepted": claim(exp=...),
    "leeway-of-a-day": lambda lab, keys: read(lab, keys.token(exp=keys.claims()["exp"] - 80_000)),
    "not-before-ignored": claim(nbf=9_999_999_999),
    "scope-before-expiry": forbidden_instead,
    "subject-missing-accepted": claim(sub=...),
    "subject-empty-accepted": claim(sub=""),
    "subject-null-accepted": claim(sub=None),
    "tenant-missing-accepted": claim(tenant_id=...),
    "tenant-empty-accepted": claim(tenant_id=""),
    "tenant-null-accepted": claim(tenant_id=None),
    "scheme-case-sensitive": upper_scheme_refused,
    "any-scheme-accepted": headers(("authorization", "DPoP {token}")),
    "bare-token-accepted": headers(("authorization", "{token}")),
    "trailing-word-ignored": headers(("authorization", "Bearer {token} x")),
    "doubled-scheme-accepted": headers(("authorization", "Bearer Bearer {token}")),
    "any-header-line-accepted": either_order,
    "comma-list-split": headers(("authorization", "Bearer {bad}, Bearer {token}")),
    "comma-list-first": headers(("authorization", "Bearer {token}, Bearer {bad}")),
    "credentials-cleaned": headers(("authorization", 'Bearer "{token}"')),
    "no-break-space-splits": octets("Bearer\xa0{token}"),
    "beyond-ascii-breaks-down": breaks_down(("authorization", "Bearer {token}\xff")),
    "odd-spacing-breaks-down": breaks_down(("authorization", "Bearer\t{token}")),
    "second-line-breaks-down": breaks_down(("authorization", "Bearer {token}"), ("authorization", "Bearer {token}")),
    "basic-user-name-accepted": basic_user_name,
    "basic-password-accepted": headers(("authorization", "Basic {basic}")),
    "basic-user-accepted": headers(("authorization", "Basic eDp5")),
    "empty-credentials-accepted": headers(("authorization", "Bearer")),
    "opaque-token-accepted": headers(("authorization", "Bearer undefined")),
    "token-optional": headers(),
    "query-token-accepted": query("token={token}"),
    "query-token-overrides": query("access_token={token}", ("authorization", "Bearer {bad}")),
    "second-place-breaks-down": breaks_down(("authorization", "Bearer {token}"), path="/mcp?access_token=x"),
    "authorization-member-accepted": in_authorization_member,
    "underscored-header-accepted": headers(("authorization_", "Bearer {token}")),
    "body-member-token-accepted": in_member,
    "meta-token-accepted": in_meta,
    "argument-token-accepted": in_argument,
    "argument-token-overrides": in_argument_beside_header,
    "cookie-token-accepted": headers(("cookie", "Authorization=Bearer%20{token}")),
    "x-header-token-accepted": headers(("x-auth-token", "{token}")),
    "forwarded-token-accepted": headers(("x-forwarded-authorization", "Bearer {token}")),
    "mcp-param-token-accepted": headers(("mcp-param-authorization", "Bearer {token}")),
    "identity-header-trusted": headers(("x-forwarded-user", "alice")),
    "underscored-identity-trusted": headers(("x_forwarded_user", "alice")),
    "forwarded-address-trusted": headers(("x-forwarded-for", "127.0.0.1")),
    "underscored-address-trusted": headers(("x_forwarded_for", "127.0.0.1")),
    "local-host-trusted": headers(("x-forwarded-host", "localhost")),
    "subrequest-trusted": headers(("x-middleware-subrequest", "middleware:middleware")),
    "internal-mark-trusted": headers(("x-internal-request", "true")),
    "original-path-checked": headers(("x-original-url", "/.well-known/oauth-protected-resource")),
    "get-stream-open": opens("GET", "/mcp"),
    "head-open": head,
    "delete-open": ended,
    "legacy-sse-open": opens("GET", "/sse"),
    "notification-open": message({"jsonrpc": "2.0", "method": "notifications/cancelled"}, 202),
    "client-response-open": message(RESPONSE, 202),
    "batch-open": message([{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}], 200),
    "array-unscoped-in-stateless": unscoped_array,
    "listen-open": opens("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}),
    "modern-era-open": headers(),
    "path-trailing-slash-open": path("/mcp/"),
    "path-double-slash-open": path("//mcp"),
    "path-query-open": path("/mcp?x=1"),
    "path-parameter-open": path("/mcp;x"),
    "path-percent-encoded-open": path("/%6dcp"),
    "path-upper-case-open": path("/MCP"),
    "path-dot-segment-open": dotted,
    "content-type-text-open": media("text/plain"),
    "content-type-form-open": media("application/x-www-form-urlencoded"),
    "content-type-missing-open": no_media,
    "content-type-unknown-open": media("application/x-probe"),
    "content-type-charset-open": media("application/json; charset=utf-16"),
    "scope-ignored": runs("tools/call", WRITE, "x"),
    "scope-ignored-for-tools": runs("tools/call", CALL, "x"),
    "scope-ignored-for-resources": runs("resources/read", {"uri": "invoice://INV-1"}, "x"),
    "scope-ignored-for-prompts": runs(
        "prompts/get", {"name": "summarise_invoice", "arguments": {"invoice_id": "INV-1"}}, "x"
    ),
    "scope-ignored-for-writes": runs("tools/call", WRITE, "x"),
    "scope-none-is-all": runs("tools/call", CALL, ""),
    "scope-prefix-matches": runs("tools/call", CALL, "invoices:readonly"),
    "scope-part-matches": runs("tools/call", CALL, "xinvoices:read"),
    "scope-case-ignored": runs("tools/call", CALL, "INVOICES:READ"),
    "scope-wildcard-granted": runs("tools/call", CALL, "invoices:*"),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_shows_and_the_sound_server_does_not_show_it(make_lab, keys, name):
    assert SEEN[name](make_lab(fault=FAULTS[name]), keys)
    try:
        shown = SEEN[name](make_lab(), keys)
    except AssertionError:
        shown = False
    assert not shown


def unaffected(name: str) -> bool:
    """Whether a request without a token is refused as ever on the server with this fault."""
    return name not in ("token-optional", "modern-era-open")


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_leaves_the_rest_alone(make_lab, keys, name):
    lab = make_lab(fault=FAULTS[name])
    assert read(lab, keys.token())
    assert CANARY in lab.legacy("tools/call", CALL, keys.token()).text
    assert not read(lab, keys.token("bob"))
    if name != "signature-not-verified":
        assert lab.modern("tools/call", CALL, keys.forged()).status_code == 401
    if name != "issuer-ignored":
        assert not read(lab, keys.token(iss="https://nobody.test"))
    if unaffected(name):
        assert lab.modern("tools/call", CALL).status_code == 401
    assert lab.send("GET", "/.well-known/oauth-protected-resource/mcp").status_code == 200


IN_TIME = {
    "clock-behind",
    "one-worker-unverifying",
    "refused-tokens-remembered",
    "session-ends-with-its-first-token",
    "verified-tokens-remembered",
}
"""The faults that take several calls; they show in whole runs, tests/lab/test_faults.py, as those of other rooms do."""


def test_every_fault_of_the_gate_and_of_validation_has_been_seen_to_show():
    rooms = (claims, presentation, scopes, signatures, subjects, trusted_headers, unauthenticated)
    assert {*SEEN, *SEEN_KINDS, *SEEN_NAMES, *IN_TIME} == {name for room in rooms for name in room.FAULTS}


def test_faults_have_distinct_names_and_one_sentence_each():
    assert all(name == fault.name for name, fault in FAULTS.items())
    rooms = [import_module(f"{faults.__name__}.{found.name}").FAULTS for found in iter_modules(faults.__path__)]
    assert len(FAULTS) == sum(map(len, rooms))
    assert all(fault.summary.endswith(".") and len(fault.summary) < 100 for fault in FAULTS.values())
