"""Each fault of discretion gives away exactly what it says, and the sound lab nothing."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mcp_auth_contract.server import Upstream
from mcp_auth_contract.wire import Redactor
from mcp_auth_contract_lab.faults import FAULTS, leaks

CANARY = "carol-t2-INV-1-c04e"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}


def good(lab, keys, token: str):
    return lab.modern("tools/call", CALL, token)


def bad(lab, keys):
    return lab.modern("tools/call", CALL, keys.forged())


def put(lab):
    return lab.send("PUT", "/mcp")


def weak(lab, keys, scope: str):
    return lab.modern("tools/call", CALL, keys.token(scope=scope))


def in_header(lab, keys) -> bool:
    token = keys.token()
    return good(lab, keys, token).headers.get("x-received-token") == token


def in_result(lab, keys) -> bool:
    token = keys.token()
    return token in json.dumps(good(lab, keys, token).json()["result"].get("_meta"))


def in_error(lab, keys) -> bool:
    forged = keys.forged()
    answer = lab.modern("tools/call", CALL, forged)
    return forged in answer.text and answer.status_code == 401


def wrong(lab, keys) -> str:
    return lab.call("get_invoice", {"invoice_id": 1}, keys.token()).text


SEEN: Mapping[str, Callable[[Any, Any], bool]] = {
    "token-in-header": in_header,
    "token-in-result": in_result,
    "token-in-error": in_error,
    "trace-in-error": lambda lab, keys: "Traceback" in bad(lab, keys).text,
    "trace-of-wrong-arguments": lambda lab, keys: "at update (" in wrong(lab, keys).replace("&nbsp;", ""),
    "trace-of-unknown-tool": lambda lab, keys: "at Lab.Tools" in lab.call("none", {}, keys.token()).text,
    "trace-of-malformed-json": lambda lab, keys: "rpc.php" in lab.post(b"{", keys.token()).text,
    "headers-in-error": lambda lab, keys: (
        "x-here" in lab.modern("tools/call", {"name": "none"}, keys.token(), {"x-here": "1"}).text
    ),
    "credentials-in-error": lambda lab, keys: (
        "postgres://" in lab.modern("prompts/get", {"name": "none"}, keys.token()).text
    ),
    "canary-in-refusal": lambda lab, keys: CANARY in bad(lab, keys).text,
    "canary-in-listing": lambda lab, keys: CANARY in lab.modern("tools/list", {}, keys.token()).text,
    "result-in-refusal-of-unknown-method": lambda lab, keys: '"result"' in lab.modern("probe/unknown", {}).text,
    "answers-publicly-cacheable": lambda lab, keys: (
        "public" in good(lab, keys, keys.token()).headers.get("cache-control", "")
    ),
    "put-401-bare": lambda lab, keys: "www-authenticate" not in put(lab).headers,
    "put-without-token-breaks": lambda lab, keys: put(lab).status_code == 500,
    "unknown-method-with-forged-token-breaks": lambda lab, keys: (
        lab.modern("probe/unknown", {}, keys.forged()).status_code == 502
    ),
    "put-401-without-pointer": lambda lab, keys: "resource_metadata" not in put(lab).headers["www-authenticate"],
    "put-401-with-session": lambda lab, keys: "mcp-session-id" in put(lab).headers,
    "403-with-session": lambda lab, keys: "mcp-session-id" in weak(lab, keys, "").headers,
    "403-bare-without-scopes": lambda lab, keys: "www-authenticate" not in weak(lab, keys, "").headers,
}
_ELSEWHERE = {"token-in-log", "token-passed-on"}


def test_each_fault_has_an_example() -> None:
    assert {*SEEN, *_ELSEWHERE} == set(leaks.FAULTS)


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_does_what_it_says_and_the_sound_lab_does_not(name: str, make_lab, keys) -> None:
    assert SEEN[name](make_lab(fault=FAULTS[name]), keys)
    assert not SEEN[name](make_lab(), keys)


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_refuses_and_serves_as_before(name: str, make_lab, keys) -> None:
    lab = make_lab(fault=FAULTS[name])
    assert good(lab, keys, keys.token()).status_code == 200
    assert bad(lab, keys).status_code == 401
    assert weak(lab, keys, "invoices:write").status_code == 403
    assert "www-authenticate" in weak(lab, keys, "invoices:write").headers


def test_the_payload_is_logged(make_lab, keys, capsys: pytest.CaptureFixture[str]) -> None:
    token = keys.token()
    good(make_lab(), keys, token)
    assert capsys.readouterr().err == ""
    good(make_lab(fault=FAULTS["token-in-log"]), keys, token)
    (line,) = capsys.readouterr().err.splitlines()
    payload = line.removeprefix("DEBUG claims=")
    assert json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"] == "alice"


@pytest.mark.parametrize(("fault", "passed"), [(None, False), ("token-passed-on", True)])
def test_the_upstream_is_told_of_an_export(fault: str | None, passed: bool, make_lab, keys) -> None:
    token, redactor = keys.token(), Redactor()
    label = redactor.register(token, "token")
    with Upstream(redactor) as upstream:
        lab = make_lab(fault=None if fault is None else FAULTS[fault], upstream_uri=upstream.url)
        assert lab.call("export_invoices", {}, token).status_code == 200
        assert lab.call("get_invoice", {"invoice_id": "INV-1"}, token).status_code == 200
        assert lab.call("export_invoices", {}, keys.token(scope="invoices:read")).status_code == 403
        (request,) = upstream.passed
    assert request.request == "GET /exports"
    assert request.tokens == ((("authorization header", label),) if passed else ())


def test_without_an_upstream_nobody_is_told(make_lab, keys) -> None:
    assert make_lab().call("export_invoices", {}, keys.token()).status_code == 200
