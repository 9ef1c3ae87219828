"""The command hosts, as a user calls it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.cli import main
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.settings import LabSettings


@pytest.fixture
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A sample server whose own authorization server publishes metadata; a parameter names a fault of it."""
    fault = getattr(request, "param", None)
    with bind("127.0.0.1", 0) as listener:
        base = url_of(listener, tls=False)
        settings = LabSettings(
            issuer=f"{base}/nobody",
            jwks_uri=f"{base}/none",
            resource=f"{base}/mcp",
            base=base,
            fault=None if fault is None else FAULTS[fault],
            profiles=frozenset({Profile.OWN_AS}),
        )
        with serve_in_thread(create_app(settings), listener=listener):
            yield f"{base}/mcp"


def test_a_url_is_told_host_by_host_and_every_report_has_the_table(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / f"r.{name}" for name in ("json", "markdown", "html")}
    words = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    assert main(["hosts", url, *words]) == 0
    out = capsys.readouterr().out
    for line in ("Claude Code                      will connect", "Cursor                           cannot tell"):
        assert line in out
    found = {one["id"]: one for one in json.loads(files["json"].read_text("utf-8"))["hosts"]}
    assert found["chatgpt"]["verdict"] == "will connect"
    assert found["messages-api"]["verdict"] == "cannot tell"
    assert "### MCP hosts" in files["markdown"].read_text("utf-8")
    assert '<section id="hosts">' in files["html"].read_text("utf-8")


@pytest.mark.parametrize("url", ["resource-trailing-slash"], indirect=True)
def test_a_named_host_decides_over_the_exit_code(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts", url]) == 0
    assert main(["hosts", url, "--host", "claude"]) == 1
    assert main(["hosts", url, "--host", "vscode"]) == 0
    assert main(["hosts", url, "--host", "messages-api"]) == 3
    assert main(["hosts", url, "--host", "messages-api", "--host", "claude", "-v"]) == 1
    out = capsys.readouterr().out
    assert "wants the resource of the metadata to be the URL as the user enters it" in out
    assert "source: https://claude.com/docs/" in out


def test_a_host_that_nobody_knows_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts", "http://127.0.0.1:9/mcp", "--host", "netscape"]) == 2
    assert "--host netscape: no such host; write one of chatgpt, claude, " in capsys.readouterr().err


def test_a_url_without_an_mcp_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    page = Starlette(routes=[Route("/mcp", lambda _request: PlainTextResponse("hello"), methods=["GET", "POST"])])
    with bind("127.0.0.1", 0) as listener, serve_in_thread(page, listener=listener):
        assert main(["hosts", f"{url_of(listener, tls=False)}/mcp"]) == 3
    assert "this is no MCP server" in capsys.readouterr().err


def test_with_a_contract_a_good_token_is_tried(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    assert main(["hosts", "--sample", "--json", str(file)]) == 0
    found = {one["id"]: one for one in json.loads(file.read_text("utf-8"))["hosts"]}
    assert found["messages-api"]["verdict"] == "will connect"
    assert found["chatgpt"]["verdict"] == "cannot tell"
    assert "the kit's own issuer" in found["chatgpt"]["reasons"][0]["seen"]
