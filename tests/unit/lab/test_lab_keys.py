"""Where the keys come from: fetched once, refetched for an unknown kid, never followed elsewhere."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mcp_auth_contract_lab.keyring import Keyring, KeySet, KeySource, fetch_jwks, objects_only, usable
from mcp_auth_contract_lab.refusal import KeysUnavailable
from mcp_auth_contract_lab.settings import LabSettings


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def settings(clock=None, uri="http://127.0.0.1:1/jwks"):
    return LabSettings(issuer="https://i.test", resource="https://r.test", base="http://b.test", jwks_uri=uri,
                       clock=clock or Time())  # fmt: skip


def source(answers, clock):
    """Return a key source whose fetches take the answers in turn, and the list of fetches."""
    fetches = []

    def fetch(_settings):
        answer = answers[min(len(fetches), len(answers) - 1)]
        fetches.append(clock.now)
        if answer is None:
            raise KeysUnavailable
        return {"keys": [{"kid": kid} for kid in answer]}

    return KeySource(settings(clock), replace(Keyring(), fetch=fetch)), fetches


def test_keys_are_fetched_once_and_again_when_they_are_old():
    clock = Time()
    keys, fetches = source([["k1"], ["k2"]], clock)

    async def run():
        await asyncio.gather(*(keys.current() for _ in range(20)))
        clock.now += 299
        assert (await keys.current()).knows("k1")
        clock.now += 1
        assert not (await keys.current()).knows("k1")

    asyncio.run(run())
    assert fetches == [1000.0, 1300.0]


def test_an_unknown_kid_causes_one_fetch_per_cooldown():
    clock = Time()
    keys, fetches = source([["k1"], ["k1", "k2"]], clock)

    async def run():
        assert (await keys.knowing("k1")).knows("k1")
        for _ in range(50):
            assert not (await keys.knowing("k2")).knows("k2")
        clock.now += 10
        assert (await keys.knowing("k2")).knows("k2")
        for _ in range(50):
            await keys.knowing("k3")

    asyncio.run(run())
    assert fetches == [1000.0, 1010.0]


def test_an_outage_leaves_known_keys_good_until_they_are_old():
    clock = Time()
    keys, _ = source([["k1"], None], clock)

    async def run():
        await keys.knowing("k1")
        clock.now += 20
        assert (await keys.knowing("k9")).knows("k1")
        assert (await keys.knowing("k1")).knows("k1")
        clock.now += 300
        with pytest.raises(KeysUnavailable):
            await keys.knowing("k1")

    asyncio.run(run())


def test_a_server_that_cannot_have_the_keys_answers_503(make_lab, keys):
    lab = make_lab(keys=None, jwks_uri="http://127.0.0.1:1/jwks")
    answer = lab.call("whoami", token=keys.token())
    assert (answer.status_code, "www-authenticate" in answer.headers) == (503, False)
    assert lab.call("whoami").status_code == 401


@contextmanager
def serving(status: int, body: bytes, location: str = "") -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/jwks"
        finally:
            server.shutdown()
            thread.join()


def test_keys_come_from_the_configured_url(make_lab, keys):
    with serving(200, json.dumps(keys.jwks).encode()) as url:
        lab = make_lab(keys=None, jwks_uri=url)
        assert lab.call("whoami", token=keys.token()).status_code == 200


NO_KEY_SETS = [
    (200, b"{"),
    (200, b"[]"),
    (200, b"{}"),
    (200, b'{"keys": null}'),
    (200, b" " * 1_100_000),
    (204, b""),
    (404, b"{}"),
    (503, b"{}"),
]


@pytest.mark.parametrize(("status", "body"), NO_KEY_SETS)
def test_an_answer_that_is_no_key_set_is_unavailable(status, body):
    with serving(status, body) as url, pytest.raises(KeysUnavailable):
        fetch_jwks(settings(uri=url))


def test_a_redirect_is_not_followed(keys):
    with (
        serving(200, json.dumps(keys.jwks).encode()) as good,
        serving(302, b"", good) as url,
        pytest.raises(KeysUnavailable),
    ):
        fetch_jwks(settings(uri=url))


@pytest.mark.parametrize("uri", [None, "file:///etc/passwd", "ftp://127.0.0.1/jwks"])
def test_only_http_is_fetched(uri):
    with pytest.raises(KeysUnavailable):
        fetch_jwks(settings(uri=uri))


def test_members_that_cannot_be_used_do_not_spoil_the_set(keys):
    (good,) = keys.jwks["keys"]
    odd = [
        "text",
        None,
        {"kid": "k1", "kty": "XYZ"},
        {"kid": "k1", "kty": "RSA", "n": "!!", "e": "AQAB"},
        {"kid": "k1", "kty": "RSA"},
        {"kid": "k1", "kty": "oct", "k": "c2VjcmV0"},
        {**good, "use": "enc"},
        {**good, "key_ops": ["sign"]},
        {**good, "key_ops": 1},
        {**good, "alg": "PS256"},
        {**good, "kid": ["k1"]},
    ]
    assert len(KeySet(objects_only({"keys": [*odd, good]})).find("k1", "RS256")) == 1
    assert KeySet(objects_only({"keys": odd})).find("k1", "RS256") == ()
    assert objects_only({"keys": "x"}) == []


def test_a_key_is_used_for_its_own_algorithm_only(keys):
    (good,) = keys.jwks["keys"]
    for algorithm in ("HS256", "none", "ES256", "PS256", "RS512"):
        assert usable(good, algorithm) is None
    assert KeySet([good]).find(None, "RS256") == ()
    assert KeySet([good]).find("k1", ["RS256"]) == ()
