"""No header field and no document of a server ends in a traceback or in a fault of the kit."""

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.hostile.servers import Asked, hostile

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import read_contract
from mcp_auth_contract.errors import KitError
from mcp_auth_contract.execution import Options, probe_url, run_contract
from mcp_auth_contract.init import ServerSettings, draft_contract, inspect_server, render
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Error
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.wire.pace import retry_after, seconds_of

_FAMILIES = frozenset({"prm", "as", "challenge"})
CHECKS = [check for check in load_builtin() if check.family in _FAMILIES]

DATES = (
    "Mon, 01 Jan 99999 00:00:00 GMT",
    "Mon, 01 Jan 999999999999999999999999 00:00:00 GMT",
    "Mon, 01 Jan 0000 00:00:00 GMT",
    "Mon, 01 Jan 0001 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Fri, 31 Dec 9999 23:59:59 -2359",
    "Mon, 01 Jan 0001 00:00:00 +2359",
    "Mon, 01 Jan 2024 00:00:00 +99999999999",
    "Mon, 01 Jan 2024 00:00:00 -0000",
    "Mon, 01 Jan 1024 00:00:00 GMT",
    "Mon, 99 Jan 2024 99:99:99 GMT",
    "1 Jan",
    "0",
    "-1",
    "",
    ",",
    "é",
)
ODD = (
    *DATES,
    "9" * 5000,
    "-9" * 40,
    "1e999",
    "NaN",
    "٣٤",
    "²",
    "\x7f",
    "\xff\xfe",
    '"',
    '"unclosed',
    "=",
    ";;;,,,===",
    "a" * 3000,
    "[::1",
    "http://[::1",
    "http://[fe80::1%25eth0]/",
    "http://a:99999/",
    "http://a:b@c:d@e/",
    "//",
    "javascript:alert(1)",
    "http://\xff/",
    "http://xn--/",
    "http://" + "a" * 300 + "/",
    "http://a\\b/%00%zz",
    "Bearer",
    'Bearer resource_metadata="http://[::1"',
    'Bearer resource_metadata="http://a:99999/.well-known/oauth-protected-resource"',
    'Bearer resource_metadata="http://xn--/",scope="\xff"',
    "Bearer realm=x realm=y,,Basic",
    "text/event-stream; charset=\xff",
    "text/event-stream",
    "application/json; charset=utf-999",
    "gzip, gzip",
    "gzip",
    "chunked",
    "identity;q=0",
    "sid=\xff; Max-Age=99999999999999999999; Expires=Mon, 01 Jan 99999 00:00:00 GMT",
    "max-age=99999999999999999999999, s-maxage=-1, public=",
    "*",
    "null",
)
NAMES = (
    "Date",
    "Retry-After",
    "Content-Type",
    "Content-Encoding",
    "WWW-Authenticate",
    "Location",
    "Mcp-Session-Id",
    "Mcp-Protocol-Version",
    "Set-Cookie",
    "Cache-Control",
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Headers",
    "Access-Control-Allow-Credentials",
    "Access-Control-Expose-Headers",
    "Vary",
    "Allow",
    "Link",
    "Age",
    "Expires",
)
SCALARS: Sequence[Any] = (
    None,
    True,
    -1,
    1e308,
    10**400,
    "",
    "\x00",
    "\u2028",
    "http://[::1",
    "http://a:99999/",
    "http://xn--/",
    "http://127.0.0.1:9/",
    [],
    {},
    [[]],
    [None],
    {"": ""},
    "x" * 5000,
)
MEMBERS = (
    *("resource", "authorization_servers", "scopes_supported", "bearer_methods_supported", "jwks_uri", "issuer"),
    *("token_endpoint", "authorization_endpoint", "code_challenge_methods_supported", "response_types_supported"),
    *("keys", "kty", "kid", "n", "e", "alg", "signed_metadata", "registration_endpoint"),
)
RESULTS = (
    *("content", "tools", "resources", "prompts", "nextCursor", "supportedVersions", "protocolVersion", "serverInfo"),
    *("isError", "_meta", "structuredContent", "capabilities", "resourceTemplates", "contents", "messages", "task"),
)
BODIES = (
    b"",
    b"null",
    b"[]",
    b"{}",
    b"\xff",
    b"\xef\xbb\xbf{}",
    b"[" * 5000,
    b"data: x\n\n",
    b"event:\rid:\xff\rdata\r\r",
)

headers = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from(ODD) | st.text(st.characters(max_codepoint=0xFF, exclude_characters="\r\n\0"), max_size=60),
)
values = st.sampled_from(SCALARS) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
documents = st.dictionaries(st.sampled_from(MEMBERS), values, max_size=6).map(lambda value: json.dumps(value).encode())
results = st.dictionaries(st.sampled_from(RESULTS), values, max_size=5)
errors = st.fixed_dictionaries({}, optional={"code": values, "message": values, "data": values})


class Whims:
    """Answers each request with the next status, header fields and body of what it was given, in turn."""

    def __init__(self, fields: Sequence[tuple[str, str]], found: Sequence[bytes], replies: Sequence[Mapping[str, Any]]):
        self.fields = itertools.cycle(fields)
        self.documents = itertools.cycle([*found, *BODIES])
        self.replies = itertools.cycle(replies)
        self.statuses = itertools.cycle((200, 401, 200, 403, 200, 404, 200, 302, 200, 202, 200, 500, 503, 204))
        self.turn = 0

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.turn += 1
        own = [next(self.fields) for _ in range(1 + self.turn % 4)]
        metadata = ".well-known" in asked.target
        body = next(self.documents) if metadata or self.turn % 5 == 0 else self._message(asked)
        if not any(name == "Content-Type" for name, _ in own):
            own.append(("Content-Type", "application/json"))
        length = "9" * 25 if self.turn % 97 == 0 else str(len(body))
        head = [f"HTTP/1.1 {200 if metadata else next(self.statuses)} x", *(f"{name}: {value}" for name, value in own)]
        if self.turn % 89:
            head.append(f"Content-Length: {length}")
        writer.write("\r\n".join([*head, "Connection: close", "", ""]).encode("latin-1", "replace") + body)
        await writer.drain()
        writer.close()

    def _message(self, asked: Asked) -> bytes:
        number: Any = asked.id if self.turn % 7 else [None, "x", 10**400, {}, True][self.turn % 5]
        return json.dumps({"jsonrpc": "2.0", "id": number, **next(self.replies)}).encode()


CONTRACT = """
[target]
url = "{url}"
[policy]
writes = true
[principals.alice]
subject = "alice"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
"""


async def everything(whims: Whims, issuer: EmbeddedIssuer, checks: Any = CHECKS) -> None:
    async with hostile(whims, path="/mcp") as server, asyncio.timeout(60):
        options = Options(checks=checks, environ={}, time_limit=0.2, jobs=16)
        contract = read_contract(CONTRACT.format(url=server.url), Path("c.toml"))
        for work in (probe_url(server.url, options), run_contract(contract, options, issuer)):
            report = await asked_of(work)
            if report is not None:
                faults = [one.sentence for one in report.results if isinstance(one.outcome, Error)]
                assert not faults
        try:
            seen = await inspect_server(ServerSettings(server.url), Path("c.toml"), environ={}, time_limit=0.2)
        except KitError as fault:
            assert "\n" not in str(fault)
        else:
            assert render(draft_contract(seen))


async def asked_of(work: Any) -> Report | None:
    try:
        report: Report = await work
    except KitError as fault:
        assert "\n" not in str(fault)
        return None
    return report


@pytest.fixture(scope="module")
def issuer() -> Any:
    with EmbeddedIssuer() as served:
        yield served


SOUND: Sequence[Mapping[str, Any]] = (
    {"result": {"content": [], "supportedVersions": ["2026-07-28"], "protocolVersion": "2025-11-25", "serverInfo": {}}},
)


@pytest.mark.parametrize("name", NAMES)
def test_no_value_of_a_header_field_is_the_kits_fault(name: str, issuer: EmbeddedIssuer) -> None:
    fields = [(name, value) for value in ODD]
    asyncio.run(everything(Whims(fields, [b"{}"], SOUND), issuer, CHECKS[::12]))


@pytest.mark.parametrize("date", DATES)
def test_no_date_in_every_answer_is_the_kits_fault(date: str, issuer: EmbeddedIssuer) -> None:
    asyncio.run(everything(Whims([("Date", date)], [b"{}"], SOUND), issuer, CHECKS[:10]))


@settings(deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))
@given(
    st.lists(headers, min_size=5, max_size=30),
    st.lists(documents, min_size=5, max_size=20),
    st.lists(
        st.builds(dict, result=results | values) | st.builds(dict, error=errors | values), min_size=5, max_size=20
    ),
)
def test_no_answer_is_the_kits_fault(
    issuer: EmbeddedIssuer, fields: Any, found: Sequence[bytes], replies: Sequence[Mapping[str, Any]]
) -> None:
    asyncio.run(everything(Whims(fields, found, [*replies, *SOUND]), issuer))


DATE = (
    st.sampled_from(DATES)
    | st.text(max_size=40)
    | st.from_regex(
        r"[A-Z][a-z]{2}, -?[0-9]{1,30} Jan -?[0-9]{1,30} [0-9]{1,9}:[0-9]{1,9}:[0-9]{1,9} ([+-][0-9]{1,30}|GMT)"
    )
)


@example("Mon, 01 Jan 99999 00:00:00 GMT")
@given(DATE)
def test_a_date_is_a_believable_number_or_nothing(text: str) -> None:
    seconds = seconds_of(text)
    assert seconds is None or 0 <= seconds < 2**33


def test_dates_are_read() -> None:
    assert seconds_of("Thu, 01 Jan 1970 00:01:40 GMT") == 100
    assert seconds_of("Thu, 01 Jan 1970 00:01:40 -0000") == 100


@given(DATE, DATE)
def test_retry_after_is_seconds_or_nothing(wait: str, date: str) -> None:
    seconds = retry_after(Answer("x1", "GET", "http://a/", 429, headers=(("retry-after", wait), ("date", date))))
    assert seconds is None or seconds >= 0
