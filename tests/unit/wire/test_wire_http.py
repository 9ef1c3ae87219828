"""The HTTP client sends exactly what it is given, to whom it may, and records it without secrets."""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
import respx
import trustme
from tests.hostile.servers import Asked, Hostile, hostile

from mcp_auth_contract.answers import Answer, TransportFailure
from mcp_auth_contract.wire import Evidence, HttpClient, Redactor, Request
from mcp_auth_contract.wire.request import KitFault, reach_of, refusal

TOKEN = "opaque-token-5f0cX2_kq9"
BEARER = (("Authorization", f"Bearer {TOKEN}"),)

Done = TypeVar("Done")


def respond(body: bytes = b"", *lines: str, status: str = "200 OK", kind: str = "application/json") -> Any:
    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        head = (f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *lines, "", "")
        writer.write("\r\n".join(head).encode("latin-1") + body)

    return behaviour


def with_door(
    behaviour: Any,
    use: Callable[[HttpClient, Hostile], Awaitable[Done]],
    *,
    redactor: Redactor | None = None,
    **options: Any,
) -> Done:
    async def run() -> Done:
        async with hostile(behaviour) as server:
            known = redactor or Redactor()
            async with HttpClient(server.url, redactor=known, time_limit=3.0, **options) as http:
                return await use(http, server)

    return asyncio.run(run())


def known() -> Redactor:
    redactor = Redactor()
    redactor.register(TOKEN, "token-good")
    return redactor


def test_header_fields_keep_order_case_repetition_and_octets() -> None:
    headers = (
        ("X-Zed", "1"),
        ("authorization", ""),
        ("Authorization", "Bearer a"),
        ("AUTHORIZATION", b"Bearer \xff\xe9"),
        ("x-last", "caf\u00e9"),
    )

    async def use(http: HttpClient, server: Hostile) -> bytes:
        await http.send(Request("POST", server.url, headers, b"{}"))
        return server.asked[0].raw

    lines = with_door(respond(), use).split(b"\r\n")
    assert lines[2:7] == [
        b"X-Zed: 1",
        b"authorization: ",
        b"Authorization: Bearer a",
        b"AUTHORIZATION: Bearer \xff\xe9",
        "x-last: caf\u00e9".encode(),
    ]
    assert lines[-1] == b"{}"


@pytest.mark.parametrize("target", [b"//mcp", b"/%6dcp", b"/mcp;x", b"/a/../mcp?x=1", b"/MCP"])
def test_the_request_target_is_sent_octet_for_octet(target: bytes) -> None:
    async def use(http: HttpClient, server: Hostile) -> tuple[str, str]:
        answer = await http.send(Request("GET", server.url, target=target))
        return server.asked[0].target, answer.url

    sent, shown = with_door(respond(), use)
    assert sent == target.decode()
    assert shown.endswith(target.decode())


@pytest.mark.parametrize(
    "request_",
    [
        Request("GET", "http://127.0.0.1/mcp", (("X", "a\r\nY: b"),)),
        Request("GET", "http://127.0.0.1/mcp", (("X Y", "a"),)),
        Request("GET", "http://127.0.0.1/mcp", target=b"/a b"),
        Request("GET", "file:///etc/passwd"),
        Request("GET", "/mcp"),
    ],
)
def test_what_http_cannot_carry_is_a_fault_of_the_kit(request_: Request) -> None:
    async def run() -> None:
        async with HttpClient("http://127.0.0.1/mcp", redactor=Redactor()) as http:
            await http.send(request_)

    with pytest.raises(KitFault):
        asyncio.run(run())


def test_cookies_are_neither_kept_nor_sent() -> None:
    async def use(http: HttpClient, server: Hostile) -> list[Asked]:
        for _ in range(3):
            await http.send(Request("POST", server.url))
        return server.asked

    asked = with_door(respond(b"", "Set-Cookie: sid=1234; Path=/"), use)
    assert all(b"cookie" not in one.raw.lower() for one in asked)


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert with_door(respond(), lambda http, server: http.send(Request("POST", server.url))).status == 200


@pytest.mark.parametrize(
    "request_",
    [
        Request("GET", "http://127.0.0.1:1/x", (("authorization", "Bearer x"),)),
        Request("GET", "http://127.0.0.1:1/x", (("Cookie", "a=b"),)),
        Request("GET", f"http://127.0.0.1:1/x?t={TOKEN}"),
        Request("POST", "http://127.0.0.1:1/x", (), f"token={TOKEN}".encode()),
        Request("POST", "http://127.0.0.1:1/x", (("X-Token", TOKEN),)),
        Request("GET", "http://127.0.0.1:1/x", target=f"/{TOKEN}".encode()),
    ],
)
def test_credentials_never_leave_for_another_origin(request_: Request) -> None:
    async def run() -> HttpClient:
        async with HttpClient("http://127.0.0.1:2/mcp", redactor=known()) as http:
            with pytest.raises(KitFault) as fault:
                await http.send(request_)
            assert TOKEN not in str(fault.value)
            return http

    assert asyncio.run(run()).evidence.exchanges() == ()


@pytest.mark.parametrize("other", ["https://127.0.0.1:2/mcp", "http://127.0.0.1:3/mcp", "http://localhost:2/mcp"])
def test_scheme_host_and_port_make_an_origin(other: str) -> None:
    async def run() -> None:
        async with HttpClient("http://127.0.0.1:2/mcp", redactor=known()) as http:
            await http.send(Request("POST", other, BEARER))

    with pytest.raises(KitFault):
        asyncio.run(run())


def test_static_headers_go_to_the_target_alone_and_are_never_shown() -> None:
    async def use(http: HttpClient, server: Hostile) -> tuple[list[Asked], list[Asked], HttpClient]:
        async with hostile(respond(b"hello gateway-secret-1")) as other:
            await http.send(Request("POST", server.url))
            await http.fetch(server.url)
            await http.fetch(other.url)
            return server.asked, other.asked, http

    headers = (("X-Gateway", "gateway-secret-1"), ("X-Short", "1"))
    to_target, to_other, http = with_door(respond(), use, headers=headers)
    assert all(b"X-Gateway: gateway-secret-1" in one.raw for one in to_target)
    assert all(b"gateway" not in one.raw.lower() for one in to_other)
    exchanges = http.evidence.exchanges()
    assert "gateway-secret-1" not in json.dumps([one.as_dict() for one in exchanges])
    assert ("X-Short", "<redacted>") in exchanges[0].request_headers


def test_what_is_recorded_holds_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    echo = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"saw": f"Bearer {TOKEN}"}}).encode()

    async def use(http: HttpClient, server: Hostile) -> tuple[Answer, HttpClient]:
        url = f"{server.url}?access_token={TOKEN}"
        headers = (*BEARER, ("Cookie", f"access_token={TOKEN}"))
        body = json.dumps({"access_token": TOKEN}).encode()
        return await http.send(Request("POST", url, headers, body, expects_id=1, note=f"with {TOKEN}")), http

    redactor = known()
    with caplog.at_level(logging.DEBUG):
        answer, http = with_door(
            respond(echo, f"X-Echo: {TOKEN}", f"Location: /?t={TOKEN}"), use, redactor=redactor, evidence=Evidence()
        )
    label = str(redactor.label_of(TOKEN))
    recorded = json.dumps([one.as_dict() for one in http.evidence.exchanges()])
    for text in (recorded, repr(answer), repr(http), repr(http.evidence.exchanges()), caplog.text):
        assert TOKEN not in text
    assert answer.reply == {"jsonrpc": "2.0", "id": 1, "result": {"saw": f"Bearer {label}"}}
    assert recorded.count(label) >= 6


def test_a_secret_cut_in_two_by_the_cap_is_not_shown() -> None:
    body = b"a" * 90 + b" " + TOKEN.encode() + b" rest"

    async def use(http: HttpClient, server: Hostile) -> Answer:
        return await http.send(Request("GET", server.url))

    answer = with_door(respond(body), use, redactor=known(), body_limit=100)
    assert answer.truncated
    assert answer.text == "a" * 90 + " "


def test_a_recorded_body_is_capped_and_the_answer_is_not() -> None:
    async def use(http: HttpClient, server: Hostile) -> tuple[Answer, HttpClient]:
        return await http.send(Request("POST", server.url, (), b"y" * 500)), http

    answer, http = with_door(respond(b"x" * 1000), use, evidence=Evidence(body_cap=100))
    exchange = http.evidence.exchanges()[0]
    assert len(answer.text) == 1000
    assert not answer.truncated
    assert (len(exchange.response_body), exchange.response_truncated) == (100, True)
    assert (len(exchange.request_body), exchange.request_truncated) == (100, True)


def test_a_connection_is_kept_unless_a_fresh_one_is_asked_for() -> None:
    async def use(http: HttpClient, server: Hostile) -> list[int]:
        counts = []
        for fresh in (False, False, True, False):
            await http.send(Request("POST", server.url, fresh=fresh))
            counts.append(server.connections)
        return counts

    assert with_door(respond(), use) == [1, 1, 2, 2]


def test_a_request_swallowed_by_a_dying_connection_is_sent_again_and_noted() -> None:
    async def once_each(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.target.endswith("?2") and not seen:
            seen.append(asked)
            writer.close()
            return
        await respond()(asked, writer)

    async def use(http: HttpClient, server: Hostile) -> tuple[Answer, HttpClient]:
        await http.send(Request("POST", f"{server.url}?1"))
        return await http.send(Request("POST", f"{server.url}?2", note="probe")), http

    seen: list[Asked] = []
    answer, http = with_door(once_each, use)
    assert answer.status == 200
    first, swallowed, again = http.evidence.exchanges()
    assert (first.status, swallowed.failure, again.status) == (200, TransportFailure.RESET, 200)
    assert again.note == "probe; sent again on a new connection after x2"


def test_a_reset_on_a_new_connection_is_an_answer() -> None:
    async def close(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def use(http: HttpClient, server: Hostile) -> tuple[Answer, int]:
        return await http.send(Request("POST", server.url)), len(server.asked)

    answer, asked = with_door(close, use)
    assert (answer.failure, asked) == (TransportFailure.RESET, 1)


@pytest.mark.parametrize(
    ("lines", "waits"),
    [
        ((), [0.5, 1.0]),
        (("Retry-After: 2",), [2.0, 2.0]),
        (("Retry-After: 3",), [3.0]),
        (("Retry-After: 60",), []),
        (("Retry-After: soon",), [0.5, 1.0]),
        (("Date: Mon, 30 Nov 2026 00:00:00 GMT", "Retry-After: Mon, 30 Nov 2026 00:00:01 GMT"), [1.0, 1.0]),
    ],
)
def test_429_is_waited_for_as_told_within_five_seconds(lines: tuple[str, ...], waits: list[float]) -> None:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def use(http: HttpClient, server: Hostile) -> Answer:
        return await http.send(Request("POST", server.url))

    slept: list[float] = []
    answer = with_door(respond(b"", *lines, status="429 Too Many Requests"), use, sleep=sleep)
    assert answer.status == 429
    assert slept == waits


def test_a_server_of_nothing_but_429_is_soon_waited_for_no_more() -> None:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def use(http: HttpClient, server: Hostile) -> None:
        for _ in range(10):
            await http.send(Request("POST", server.url))

    slept: list[float] = []
    with_door(respond(b"", status="429 Too Many Requests"), use, sleep=sleep)
    assert len(slept) == 6


def test_the_rate_spreads_the_requests_to_the_target() -> None:
    async def use(http: HttpClient, server: Hostile) -> float:
        begun = time.perf_counter()
        await asyncio.gather(*(http.send(Request("POST", server.url)) for _ in range(6)))
        return time.perf_counter() - begun

    assert with_door(respond(), use, max_rate=25) > 0.19


def test_a_private_authority_is_trusted_when_its_file_is_given(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))

    async def run() -> Answer:
        async with (
            hostile(respond(), tls=context) as server,
            HttpClient(server.url, redactor=Redactor(), ca_files=[str(file)]) as http,
        ):
            return await http.send(Request("POST", server.url))

    assert asyncio.run(run()).status == 200


def test_a_time_limit_of_its_own_ends_a_request() -> None:
    async def silence(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(20)

    async def use(http: HttpClient, server: Hostile) -> Answer:
        return await http.send(Request("POST", server.url, timeout=0.1))

    answer = with_door(silence, use)
    assert (answer.failure, answer.detail) == (TransportFailure.TIMEOUT, "after 0.1 s")


def test_a_closed_port_is_no_connection() -> None:
    async def run() -> Answer:
        async with HttpClient("http://127.0.0.1:9/mcp", redactor=Redactor()) as http:
            return await http.send(Request("POST", "http://127.0.0.1:9/mcp"))

    answer = asyncio.run(run())
    assert answer.failure is TransportFailure.CONNECT
    assert answer.detail


def test_a_cancelled_send_is_cancelled() -> None:
    async def silence(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(20)

    async def use(http: HttpClient, server: Hostile) -> bool:
        task = asyncio.create_task(http.send(Request("POST", server.url)))
        await asyncio.sleep(0.1)
        task.cancel()
        return (await asyncio.gather(task, return_exceptions=True))[0].__class__ is asyncio.CancelledError

    assert with_door(silence, use)


def test_a_target_inside_the_process_is_asked_without_a_socket() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = json.dumps({"path": scope["path"], "auth": dict(scope["headers"])[b"authorization"].decode()})
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": body.encode()})

    async def run() -> Answer:
        transport = httpx.ASGITransport(app)
        async with HttpClient("http://app.test/mcp", redactor=known(), transport=transport) as http:
            return await http.send(Request("POST", "http://app.test/mcp", BEARER))

    answer = asyncio.run(run())
    assert answer.status == 200
    assert '"path": "/mcp"' in answer.text
    assert TOKEN not in answer.text


ADDRESSES = {
    "mcp.test": ("93.184.216.34",),
    "as.test": ("93.184.216.35",),
    "private.test": ("10.0.0.7",),
    "rebinding.test": ("93.184.216.35", "127.0.0.1"),
    "cloud.test": ("169.254.169.254",),
    "mapped.test": ("::ffff:127.0.0.1",),
    "nat64.test": ("64:ff9b::a00:7",),
    "shared.test": ("100.64.0.1",),
    "unspecified.test": ("0.0.0.0",),
    "localhost": ("127.0.0.1",),
    "127.0.0.1": ("127.0.0.1",),
}


async def look_up(host: str, port: int) -> tuple[str, ...]:
    if host not in ADDRESSES:
        raise OSError("unknown")
    return ADDRESSES[host]


def fetched(url: str, target: str = "https://mcp.test/mcp") -> tuple[Answer, list[httpx.Request]]:
    async def run() -> Answer:
        async with HttpClient(target, redactor=known(), resolve=look_up) as http:
            return await http.fetch(url)

    with respx.mock(assert_all_called=False) as network:
        network.route().respond(200, json={"issuer": "x"})
        answer = asyncio.run(run())
        return answer, [call.request for call in network.calls]


@pytest.mark.parametrize(
    "host",
    ["private.test", "rebinding.test", "cloud.test", "mapped.test", "nat64.test", "shared.test", "unspecified.test",
     "localhost", "127.0.0.1", "nowhere.test"],
)  # fmt: skip
def test_a_public_target_leads_to_no_address_that_is_not_public(host: str) -> None:
    answer, requests = fetched(f"https://{host}/.well-known/oauth-authorization-server")
    assert (answer.status, answer.failure, requests) == (None, TransportFailure.CONNECT, [])
    assert answer.detail.startswith(("refused: ", "host name not found"))


def test_a_document_is_fetched_from_the_very_address_that_was_checked() -> None:
    answer, requests = fetched("https://as.test/.well-known/oauth-authorization-server")
    assert answer.status == 200
    assert answer.url == "https://as.test/.well-known/oauth-authorization-server"
    assert requests[0].url.host == "93.184.216.35"
    assert requests[0].headers["host"] == "as.test"
    assert requests[0].extensions["sni_hostname"] == "as.test"


def test_a_loopback_target_may_lead_to_loopback_but_not_to_a_cloud_metadata_service() -> None:
    assert fetched("http://localhost:1/x", "http://127.0.0.1:8000/mcp")[0].status == 200
    assert fetched("http://cloud.test/x", "http://127.0.0.1:8000/mcp")[0].failure is TransportFailure.CONNECT


KINDS = {
    "loopback": ("127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "::127.0.0.1", "2002:7f00:1::"),
    "link-local": ("169.254.1.1", "fe80::1", "fe80::1%eth0", "::ffff:169.254.1.1"),
    "unique-local": ("fc00::1", "fd12:3456::1"),
    "carrier-grade NAT": ("100.64.0.1", "100.127.255.254", "64:ff9b::6440:1"),
    "cloud metadata": (
        "169.254.169.254",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "::ffff:169.254.169.254",
    ),
    "private": ("10.0.0.1", "172.16.0.1", "192.168.1.1", "224.0.0.1", "240.0.0.1"),
    "public": ("93.184.216.34", "2606:2800:220:1::1", "100.128.0.1"),
}


@pytest.mark.parametrize(("kind", "address"), [(kind, one) for kind, many in KINDS.items() for one in many])
def test_an_address_is_of_the_kind_that_it_leads_to(kind: str, address: str) -> None:
    assert reach_of(address).value == kind


@pytest.mark.parametrize("there", KINDS)
@pytest.mark.parametrize("to", KINDS)
def test_nothing_is_reached_for_a_server_that_is_not_itself_there(there: str, to: str) -> None:
    allowed = to in ("public", there) or (to == "private" and there != "public")
    for address in KINDS[to]:
        assert (refusal((address,), frozenset({reach_of(KINDS[there][0])})) is None) is allowed
        assert (refusal(("93.184.216.34", address), frozenset({reach_of(KINDS[there][0])})) is None) is allowed


def test_a_name_behind_a_private_target_is_fetched_from_the_address_that_was_checked() -> None:
    answer, requests = fetched("http://private.test/x", "http://127.0.0.1:8000/mcp")
    assert answer.status == 200
    assert requests[0].url.host == "10.0.0.7"
    assert requests[0].headers["host"] == "private.test"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://as.test/x", "", "https://", "http://[::1", "javascript:1"]
)
def test_only_http_urls_are_fetched(url: str) -> None:
    answer, requests = fetched(url)
    assert (answer.failure, requests) == (TransportFailure.CONNECT, [])
    assert answer.detail == "refused: not an http or https URL"


def test_a_url_with_a_secret_in_it_is_not_fetched() -> None:
    answer, requests = fetched(f"https://as.test/?t={TOKEN}")
    assert (answer.detail, requests) == ("refused: the URL holds a secret", [])
    assert TOKEN not in answer.url


def test_a_fetch_carries_no_credentials() -> None:
    _, requests = fetched("https://as.test/x")
    assert not {"authorization", "cookie"} & set(requests[0].headers)


def test_redirects_are_answers_and_nobody_is_led_elsewhere() -> None:
    async def use(http: HttpClient, server: Hostile) -> tuple[list[Answer], list[Asked], int]:
        async with hostile(respond()) as other:
            moved.append(f"Location: {other.url}")
            answers = [
                await http.send(Request("POST", server.url, BEARER)),
                await http.fetch(server.url),
            ]
            return answers, other.asked, len(server.asked)

    async def redirect(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await respond(b"", *moved, status="307 Temporary Redirect")(asked, writer)

    moved: list[str] = []
    answers, elsewhere, asked = with_door(redirect, use, redactor=known())
    assert [answer.status for answer in answers] == [307, 307]
    assert elsewhere == []
    assert asked == 2


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("of the operating system"),
        OSError("broken"),
        ConnectionResetError(),
        ssl.SSLError("broken"),
        httpx.ReadError("broken"),
        httpx.ReadTimeout("late"),
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("broken"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_the_network_raises_is_an_answer_and_recorded(error: Exception) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error

    async def run() -> tuple[Answer, HttpClient]:
        url = "http://127.0.0.1:1/mcp"
        async with HttpClient(url, redactor=Redactor(), transport=httpx.MockTransport(fail)) as http:
            return await http.send(Request("POST", url)), http

    answer, http = asyncio.run(run())
    assert answer.status is None
    assert answer.failure is not None
    assert [one.failure for one in http.evidence.exchanges()] == [answer.failure]


def test_a_long_secret_cut_in_two_by_the_cap_is_not_shown() -> None:
    long = "Zk" * 4000

    async def use(http: HttpClient, server: Hostile) -> Answer:
        return await http.send(Request("GET", server.url))

    redactor = Redactor()
    redactor.register(long, "token-oversized")
    answer = with_door(respond(f"it said {long}".encode()), use, redactor=redactor, body_limit=7000)
    assert answer.truncated
    assert answer.text == "it said "


def test_repeated_header_fields_of_an_answer_stay_apart_and_in_order() -> None:
    lines = ('WWW-Authenticate: Basic realm="a"', "X-Between: 1", 'www-authenticate: Bearer error="b"')

    async def use(http: HttpClient, server: Hostile) -> Answer:
        return await http.send(Request("POST", server.url))

    answer = with_door(respond(b"", *lines, status="401 Unauthorized"), use)
    assert answer.headers[2:] == (
        ("www-authenticate", 'Basic realm="a"'),
        ("x-between", "1"),
        ("www-authenticate", 'Bearer error="b"'),
    )


def test_an_exchange_is_recorded_once_and_listed_in_the_order_of_its_start() -> None:
    async def use(http: HttpClient, server: Hostile) -> HttpClient:
        slow = http.send(Request("POST", f"{server.url}?slow"))
        await asyncio.gather(slow, http.send(Request("POST", server.url)))
        return http

    async def behaviour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1 if asked.target.endswith("?slow") else 0)
        await respond()(asked, writer)

    evidence = with_door(behaviour, use).evidence
    assert [one.id for one in evidence.exchanges()] == ["x1", "x2"]
    first = evidence.exchanges()[0]
    assert first.url.endswith("?slow")
    assert evidence.get("x1") is first
    assert evidence.get("x9") is None
    with pytest.raises(ValueError, match="x1 is already recorded"):
        evidence.record(first)


@pytest.mark.parametrize(("lines", "waits"), [(("Retry-After: 1",), [1, 1]), (("Retry-After: 5",), []), ((), [])])
def test_503_is_waited_for_where_it_says_for_how_long(lines: tuple[str, ...], waits: list[float]) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def use(http: HttpClient, server: Hostile) -> Answer:
        return await http.send(Request("GET", server.url))

    answer = with_door(respond(b"", *lines, status="503 Service Unavailable"), use, sleep=sleep)
    assert answer.status == 503
    assert slept == waits
