"""The HTTP client notes which tokens a server gave back, and keeps none of them."""

import base64
import json
import threading
from dataclasses import astuple
from urllib.parse import quote

import pytest
from tests.hostile.servers import Hostile
from tests.unit.wire.test_wire_http import respond, with_door
from tests.unit.wire.test_wire_windows import FORMS, HEADER, PAYLOAD, SHORT

from mcp_auth_contract.wire import HttpClient, Redactor, Request

TOKEN = ".".join(("eyJhbGciOiJSUzI1NiJ9", "eyJzdWIiOiJhbGljZSIsImp0aSI6IjEyMzQ1Njc4In0", "c2lnbmF0dXJlLW9mLWEtdG9rZW4"))
OPAQUE = "opaque/token+5f0cX2==kq9"


def known() -> Redactor:
    redactor = Redactor()
    redactor.register(TOKEN, "token-good")
    redactor.register(OPAQUE, "token-opaque")
    redactor.hide("a-secret-of-the-environment")
    return redactor


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (TOKEN, {"token-good"}),
        (f'{{"claims": "{TOKEN.split(".")[1]}"}}', {"token-good"}),
        (f"sig={TOKEN.split('.')[2]}", {"token-good"}),
        (quote(OPAQUE, safe=""), {"token-opaque"}),
        (base64.b64encode(f"blob: {TOKEN} and more".encode()).decode(), {"token-good"}),
        (f"{TOKEN} {OPAQUE}", {"token-good", "token-opaque"}),
        (TOKEN.split(".")[0], set()),
        ("a-secret-of-the-environment", set()),
        ("nothing at all", set()),
    ],
)
def test_labels_of_what_occurs_in_a_text(text: str, labels: set[str]) -> None:
    assert {label.split("#")[0] for label in known().labels_in(text)} == labels


def test_labels_that_stand_in_redacted_texts_are_read_back() -> None:
    redactor = known()
    url = redactor.redact(f"http://a/?access_token={TOKEN}")
    assert redactor.labels_named([url, "x#12345678"]) == {redactor.label_of(TOKEN)}


def leaked(body: bytes, *lines: str, **options: str) -> list[tuple[str, ...]]:
    redactor = known()

    async def use(http: HttpClient, server: Hostile) -> list[tuple[str, ...]]:
        await http.send(Request("POST", server.url, (("Authorization", f"Bearer {TOKEN}"),), b'{"a": 1}'))
        await http.send(Request("POST", server.url, (), f'{{"access_token": "{TOKEN}"}}'.encode()))
        recorded = http.evidence.exchanges()
        assert TOKEN not in repr([astuple(one) for one in recorded])
        assert all("leaked" not in one.as_dict() for one in recorded)
        return [tuple(label.split("#")[0] for label in one.leaked) for one in recorded]

    return with_door(respond(body, *lines, **options), use, redactor=redactor)


def test_what_a_message_said_may_be_repeated_but_not_what_a_header_said() -> None:
    assert leaked(f'{{"you_sent": "{TOKEN}"}}'.encode()) == [("token-good",), ()]


@pytest.mark.parametrize("line", [f"X-Debug: {TOKEN}", f"Location: /login?token={TOKEN}", f"Set-Cookie: t={TOKEN}"])
def test_header_fields_are_read_too(line: str) -> None:
    assert leaked(b"{}", line)[0] == ("token-good",)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_token_in_an_unusual_form_is_noted_and_not_kept(form: str) -> None:
    token = f"{HEADER}.{PAYLOAD}.{SHORT}"
    redactor = Redactor()
    label = redactor.register(token, "token-good")

    async def use(http: HttpClient, server: Hostile) -> None:
        await http.send(Request("POST", server.url, (("Authorization", f"Bearer {token}"),), b'{"a": 1}'))
        (one,) = http.evidence.exchanges()
        assert one.leaked == (label,)
        assert not redactor.labels_in(one.response_body)

    with_door(respond(json.dumps({"you sent": FORMS[form](token)}).encode()), use, redactor=redactor)


def test_events_are_read_too() -> None:
    body = f'data: {{"jsonrpc": "2.0", "method": "log", "params": {{"data": "{TOKEN}"}}}}\n\n'.encode()
    assert leaked(body, kind="text/event-stream")[0] == ("token-good",)


def test_an_answer_without_a_token_has_none() -> None:
    assert leaked(b'{"fine": true}') == [(), ()]


@pytest.mark.parametrize("header", ["bnVsbA", "W3siYWxnIjoiUlMyNTYifV0", "eyJhbGciOiJSUzI1NiJ9/Pz8"])
def test_a_malformed_token_is_removed_to_its_end(header: str) -> None:
    _, payload, signature = TOKEN.split(".")
    other = f"{signature}-another"
    redactor = known()
    redactor.register(f"{header}.{payload}.{other}", "token-malformed")
    shown = redactor.redact(f"cannot verify {header}.{payload}.{other}")
    assert payload not in shown
    assert other not in shown


def test_a_token_in_utf_8_is_known_as_latin_1_too() -> None:
    redactor = Redactor()
    redactor.register("t\xf6ken-of-the-principal", "token-stray")
    assert redactor.redact("cannot verify t\xc3\xb6ken-of-the-principal").startswith("cannot verify token-stray#")


class Noting(Redactor):
    """Notes which thread looks through long texts."""

    threads: set[int]

    def redact(self, text: str) -> str:
        if len(text) > 50_000:
            self.threads.add(threading.get_ident())
        return super().redact(text)


@pytest.mark.parametrize(("body", "lines"), [(b"x" * 60_000, ()), (b"{}", ("X-Long: " + "x" * 60_000,))])
def test_a_large_answer_is_looked_through_off_the_event_loop(body: bytes, lines: tuple[str, ...]) -> None:
    redactor = Noting()
    redactor.threads = set()

    async def use(http: HttpClient, server: Hostile) -> None:
        await http.send(Request("GET", server.url))

    with_door(respond(body, *lines), use, redactor=redactor)
    assert redactor.threads
    assert threading.get_ident() not in redactor.threads
