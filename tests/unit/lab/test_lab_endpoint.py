"""Verbs, paths, content types, browsers: authentication comes first, and nothing else leads in."""

import pytest

from mcp_auth_contract_lab.incoming import BODY_CAP


@pytest.mark.parametrize("method", ["POST", "GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_every_verb_needs_a_token(lab, method):
    answer = lab.send(method, "/mcp")
    assert answer.status_code == 401
    assert "www-authenticate" in answer.headers


@pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "OPTIONS"])
def test_verbs_that_are_not_served_are_405_with_a_token(lab, keys, method):
    answer = lab.send(method, "/mcp", lab.bearer(keys.token()))
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST, DELETE")


@pytest.mark.parametrize("path", ["/mcp/", "//mcp", "/MCP", "/mcp;x", "/sse", "/messages", "/"])
def test_other_spellings_of_the_path_are_not_served(lab, keys, path):
    assert lab.post({}, path=path).status_code == 404
    assert lab.post({}, keys.token(), path=path).status_code == 404


@pytest.mark.parametrize("path", ["/mcp?x=1", "/%6dcp"])
def test_other_spellings_of_the_same_path_need_a_token(lab, path):
    assert lab.post({}, path=path).status_code == 401


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16"]
)
def test_another_content_type_is_401_without_and_415_with_a_token(lab, keys, media):
    assert lab.post({}, headers={"content-type": media}).status_code == 401
    assert lab.post({}, keys.token(), {"content-type": media}).status_code == 415


def test_a_body_in_utf_8_may_say_so(lab, keys):
    answer = lab.modern("tools/list", None, keys.token(), {"content-type": "Application/JSON; charset=utf-8"})
    assert answer.status_code == 200


def test_an_accept_that_no_answer_fits_is_406(lab, keys):
    assert lab.post({}, keys.token(), {"accept": "image/png"}).status_code == 406


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"a": NaN}', b"[" * 100_000])
def test_a_body_that_is_not_json_is_a_parse_error(lab, keys, body):
    answer = lab.post(body, keys.token())
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)


def test_a_body_that_is_too_large_is_413(lab, keys):
    assert lab.post(b" " * (BODY_CAP + 1), keys.token()).status_code == 413


def test_a_foreign_origin_is_refused_and_a_loopback_origin_is_not(lab, keys):
    foreign = lab.modern("tools/list", None, keys.token(), {"origin": "https://evil.test"})
    assert (foreign.status_code, "www-authenticate" in foreign.headers) == (403, False)
    for origin in ("http://localhost:5173", "http://127.0.0.1", "http://[::1]:80"):
        own = lab.modern("tools/list", None, keys.token(), {"origin": origin})
        assert (own.status_code, own.headers["access-control-allow-origin"]) == (200, origin)
    for origin in ("null", "http://localhost.evil.test", "http://[", "file://localhost"):
        assert lab.post({}, keys.token(), {"origin": origin}).status_code == 403


def test_a_browser_gets_its_preflight_and_can_read_the_challenge(lab):
    headers = {"origin": "http://localhost:5173", "access-control-request-method": "POST"}
    preflight = lab.send("OPTIONS", "/mcp", headers)
    assert preflight.status_code == 204
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    challenged = lab.post({}, headers={"origin": "http://localhost:5173"})
    assert challenged.status_code == 401
    assert "WWW-Authenticate" in challenged.headers["access-control-expose-headers"]
    assert lab.send("OPTIONS", "/mcp", {"origin": "https://evil.test"}).status_code == 403


def test_the_server_says_when_it_is_healthy(lab):
    assert lab.send("GET", "/healthz").json() == {"status": "ok"}
