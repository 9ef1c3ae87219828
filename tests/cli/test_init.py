"""`init`: a look at a server becomes a contract that loads, plans and runs, and asks for what it could not see."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_auth_contract.asgi import bind, serve_in_thread, url_of
from mcp_auth_contract.cli import main
from mcp_auth_contract.clock import system_clock
from mcp_auth_contract.contract import load_contract, read_contract
from mcp_auth_contract.execution.credentials import OwnIssuer
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.wire import Redactor
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.settings import LabSettings

FILE = Path("mcp-auth-contract.toml")
COMMAND = [sys.executable, "-m", "mcp_auth_contract"]
TRUST = [
    *("--env", "ISSUER=${issuer.url}"),
    *("--env", "JWKS_URI=${issuer.jwks_uri}"),
    *("--env", "RESOURCE=${target.resource}"),
]
ALL_TOOLS = {
    "list_invoices": ["invoices:read"],
    "get_invoice": ["invoices:read"],
    "search_invoices": ["invoices:read"],
    "whoami": ["invoices:read"],
    "export_invoices": ["invoices:export"],
    "update_invoice": None,
    "approve_invoice": None,
    "list_currencies": None,
}
"""The sample's tools with the scopes that challenges tell; of those that write nobody asks."""

SERVER = """
import os

from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.server import settings_from

app = create_app(settings_from(os.environ, int(os.environ.get("PORT", 8000))))
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def issuer() -> Iterator[EmbeddedIssuer]:
    with EmbeddedIssuer() as running:
        yield running


@contextmanager
def lab(issuer: EmbeddedIssuer, *profiles: Profile) -> Iterator[str]:
    """The sample server on a free port; yields its endpoint."""
    with bind("127.0.0.1", 0) as listener:
        base = url_of(listener)
        settings = LabSettings(
            issuer=issuer.url,
            jwks_uri=issuer.jwks_uri,
            resource=f"{base}/mcp",
            base=base,
            profiles=frozenset(profiles),
        )
        with serve_in_thread(create_app(settings), listener=listener):
            yield f"{base}/mcp"


def token_for(issuer: EmbeddedIssuer, url: str) -> str:
    principal = '[principals.alice]\nsubject = "alice"\ntenant = "t1"\nscopes = ["invoices:read", "invoices:export"]'
    contract = read_contract(f'[target]\nurl = "{url}"\n{principal}\n[[tools]]\nname = "whoami"\n', Path("t.toml"))
    return OwnIssuer(contract, issuer, Redactor()).minter(url, system_clock).mint("alice", "good").token


def drafted(file: Path = FILE) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8"))


def scopes_of(entries: list[dict[str, Any]]) -> dict[str, list[str] | None]:
    return {entry["name"]: entry.get("scopes") for entry in entries}


def test_an_application_that_trusts_the_kit_is_drafted_whole_and_its_draft_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("my_server.py").write_text(SERVER, "utf-8")
    assert main(["init", "--app", "my_server:app", *TRUST]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert re.fullmatch(
        r'mcp-auth-contract: mcp-auth-contract\.toml: 8 tools, 3 resources, 1 prompt; \d+ questions are marked "# \?"\n',
        told.err,
    )
    contract = load_contract(FILE)
    assert scopes_of(drafted()["tools"]) == ALL_TOOLS
    assert [tool.name for tool in contract.tools if tool.control] == ["list_invoices"]
    assert [one.uri for one in contract.resources] == ["invoice://INV-1", "invoice://INV-11", "invoice://{invoice_id}"]
    assert dict(contract.resources[2].arguments) == {"invoice_id": "INV-1"}
    assert all(one.scopes == ("invoices:read",) for one in (*contract.resources, *contract.prompts))
    assert len(contract.target.revisions) == 4
    assert contract.policy.public == ()
    assert set(contract.principals["alice"].scopes) == {"invoices:read", "invoices:write", "invoices:export"}

    text = (
        FILE.read_text("utf-8")
        .replace("# leeway = 60", "leeway = 0")
        .replace('# required = ["sub"', 'required = ["sub"')
    )
    FILE.write_text(text, "utf-8")
    assert main(["plan"]) == 0
    assert "token-expired-refused[list_invoices]" in capsys.readouterr().out
    chosen = ["scope-missing-denied", "token-expired-refused", "prm-served"]
    assert main(["run", "--json", "report.json", *(word for check in chosen for word in ("--select", check))]) == 0
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert report["counts"]["pass"] > 8
    assert report["counts"]["inconclusive"] == 0


def test_a_started_server_is_drafted_with_the_port_that_will_be_picked() -> None:
    source = "import os, uvicorn\nfrom my_server import app\nuvicorn.run(app, port=int(os.environ['PORT']), log_level='error')\n"
    Path("my_server.py").write_text(SERVER, "utf-8")
    Path("started.py").write_text(source, "utf-8")
    words = ["--start", "${python} started.py", "--env", "PORT=${target.port}", *TRUST, "--output", "c.toml"]
    assert main(["init", *words]) == 0
    target = load_contract(Path("c.toml")).target
    assert target.url == "http://127.0.0.1:0/mcp"
    assert target.start == ("${python}", "started.py")
    assert target.resource is None
    assert scopes_of(drafted(Path("c.toml"))["tools"]) == ALL_TOOLS


def test_open_lists_are_read_without_a_token(issuer: EmbeddedIssuer, capsys: pytest.CaptureFixture[str]) -> None:
    with lab(issuer, Profile.PUBLIC_DISCOVERY) as url:
        assert main(["init", url]) == 0
        contract = load_contract(FILE)
        assert [tool.name for tool in contract.tools] == list(ALL_TOOLS)
        assert set(contract.policy.public) == {
            *("initialize", "ping", "prompts/list", "resources/list", "resources/templates/list"),
            *("server/discover", "tools/list"),
        }
        assert contract.policy.challenge == "http"
        assert "scopes" not in drafted()["tools"][0]
        assert "# ? which scopes does it need? The server offers invoices:read" in FILE.read_text("utf-8")
        capsys.readouterr()
        assert main(["plan"]) == 0


def test_security_schemes_and_challenges_in_results_are_seen(issuer: EmbeddedIssuer) -> None:
    with lab(issuer, Profile.TOOL_CHALLENGE) as url:
        assert main(["init", url]) == 0
    contract = load_contract(FILE)
    assert contract.policy.challenge == "tool"
    assert "# ? does it refuse by HTTP status elsewhere?" in FILE.read_text("utf-8")
    known = {tool.name: tool.scopes for tool in contract.tools}
    assert known["whoami"] == ()
    assert known["approve_invoice"] == ("invoices:read", "invoices:write")
    assert known["list_currencies"] is None
    assert known["export_invoices"] == ("invoices:export",)


def test_a_closed_server_gets_examples_and_the_way_to_more(
    issuer: EmbeddedIssuer, capsys: pytest.CaptureFixture[str]
) -> None:
    with lab(issuer) as url:
        assert main(["init", url]) == 0
    told = capsys.readouterr().err
    assert "not shown: tools, resources, templates, prompts (401). To see more" in told
    assert "init --token-env NAME" in told
    assert "mcp-auth-contract.toml: tools: no tool, resource or prompt is declared" in told
    text = FILE.read_text("utf-8")
    assert "# [[tools]]" in text
    assert f"# Now it trusts: {issuer.url}" in text
    assert drafted()["principals"]["alice"]["scopes"] == ["invoices:read", "invoices:write", "invoices:export"]
    assert main(["plan"]) == 2


def test_a_genuine_token_opens_the_lists_and_stands_nowhere(
    issuer: EmbeddedIssuer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with lab(issuer) as url:
        token = token_for(issuer, url)
        monkeypatch.setenv("ACCESS_TOKEN", token)
        assert main(["init", url, "--token-env", "ACCESS_TOKEN"]) == 0
        told = capsys.readouterr()
        text = FILE.read_text("utf-8")
        for part in (*token.split("."), "ACCESS_TOKEN=" + token):
            assert part not in told.out + told.err + text
        assert "# Listed with a token of $ACCESS_TOKEN: tools" in text
        assert [tool.name for tool in load_contract(FILE).tools] == list(ALL_TOOLS)
        assert "scopes" not in drafted()["tools"][0]
        assert drafted()["issuer"] == {"algorithms": ["RS256"]}
        assert main(["plan", str(FILE)]) == 0


def test_views_are_read_and_drafted(issuer: EmbeddedIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    with lab(issuer, Profile.VIEWS) as url:
        monkeypatch.setenv("ACCESS_TOKEN", token_for(issuer, url))
        assert main(["init", url, "--token-env", "ACCESS_TOKEN"]) == 0
        visible = {tool.name: tool.visibility for tool in load_contract(FILE).tools if tool.visibility is not None}
        assert visible == {"show_invoice": ("model", "app"), "refresh_invoice": ("app",)}
        assert drafted()["views"] == [{"tool": "show_invoice"}]
        assert drafted()["apps"] == {"csp": {"resource": ["https://assets.example.com"]}, "permissions": []}
        assert not any(one["uri"].startswith("ui://") for one in drafted()["resources"])
        assert main(["plan", str(FILE), "--select", "app-resource-resolves"]) == 0


def test_a_token_that_is_refused_is_told(
    issuer: EmbeddedIssuer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with lab(issuer) as url:
        token = token_for(issuer, "http://127.0.0.1:1/other")
        monkeypatch.setenv("ACCESS_TOKEN", token)
        assert main(["init", url, "--token-env", "ACCESS_TOKEN"]) == 0
    told = capsys.readouterr().err
    assert 'the token was refused: 401 with error="invalid_token"' in told
    assert token not in told


def test_stdout_holds_the_contract_alone(issuer: EmbeddedIssuer, capsys: pytest.CaptureFixture[str]) -> None:
    with lab(issuer, Profile.PUBLIC_DISCOVERY) as url:
        assert main(["init", url, "--output", "-"]) == 0
    told = capsys.readouterr()
    assert [tool["name"] for tool in tomllib.loads(told.out)["tools"]] == list(ALL_TOOLS)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "link"])
def test_nothing_is_overwritten_and_nothing_is_sent_then(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    if kind == "file":
        FILE.write_text("mine", "utf-8")
    else:
        FILE.symlink_to("nowhere")
    assert main(["init", "http://127.0.0.1:9/mcp"]) == 2
    assert capsys.readouterr().err == (
        "mcp-auth-contract: mcp-auth-contract.toml: exists; it is never overwritten: name another file with --output\n"
    )
    assert kind == "link" or FILE.read_text("utf-8") == "mine"


def test_a_file_that_appears_meanwhile_is_left_alone(
    issuer: EmbeddedIssuer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def meanwhile(draft: object) -> str:
        FILE.write_text("mine", "utf-8")
        return ""

    monkeypatch.setattr("mcp_auth_contract.cli.init.render", meanwhile)
    with lab(issuer) as url:
        assert main(["init", url]) == 2
    assert "exists; it is never overwritten" in capsys.readouterr().err
    assert FILE.read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 2, "init: name the server: its URL, --app module:attribute, or --start"),
        (("nonsense",), 2, '"nonsense": not an http or https URL'),
        (("http://u:p@127.0.0.1/mcp",), 2, "a URL with a user name or password"),
        (("http://127.0.0.1:9/mcp",), 3, "start the server, or let --start do it"),
        (("http://127.0.0.1:9/mcp", "--env", "A=b"), 2, "--env: belongs to --app or --start"),
        (("--app", "m:app", "--env", "A"), 2, "--env: write NAME=VALUE"),
        (
            ("--app", "m:app", "--env", "A=${isuer.url}"),
            2,
            'target.env.A: unknown variable "${isuer.url}"; did you mean',
        ),
        (("--app", "nowhere:app"), 2, "target.app: there is no module nowhere"),
        (("--start", "python 's.py"), 2, "--start: not a command line"),
        (("--start", "python s.py"), 2, "target.url: picks a free port, but the server is not told which"),
        (
            ("--app", "m:app", "--token-env", "NOPE"),
            2,
            "--token-env NOPE: the environment variable is not set or empty",
        ),
        (("http://127.0.0.1:9/mcp", "-o", "no/c.toml"), 2, "no/c.toml: its folder does not exist"),
    ],
)
def test_wrong_use_is_one_line(
    words: tuple[str, ...], code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NOPE", raising=False)
    assert main(["init", *words]) == code
    said = capsys.readouterr()
    assert told in said.err
    assert said.err.count("\n") == 1, said.err
    assert said.out == ""
    assert not FILE.exists()


def test_an_application_that_lacks_a_setting_is_told_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my_server.py").write_text("import os\nos.environ['NO_SUCH_SETTING']\n", "utf-8")
    assert main(["init", "--app", "my_server:app"]) == 2
    told = capsys.readouterr().err
    assert "importing my_server failed (my_server.py, line 2): KeyError: 'NO_SUCH_SETTING'" in told
    assert "set what it needs with --env" in told


def test_a_genuine_token_and_the_kits_issuer_exclude_each_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", "abc")
    assert main(["init", "--app", "m:app", *TRUST, "--token-env", "ACCESS_TOKEN"]) == 2
    assert "--token-env ACCESS_TOKEN: the server is told to trust the kit's issuer" in capsys.readouterr().err


def test_what_is_no_mcp_server_is_not_drafted(capsys: pytest.CaptureFixture[str]) -> None:
    with bind("127.0.0.1", 0) as listener, serve_in_thread(Starlette(), listener=listener):
        assert main(["init", f"{url_of(listener)}/mcp"]) == 3
    assert "this is no MCP server: it answers `initialize` with 404" in capsys.readouterr().err
    assert not FILE.exists()


def test_metadata_fills_in_what_it_knows(issuer: EmbeddedIssuer) -> None:
    """A server behind a proxy, whose authorization server alone names scopes."""

    async def answer(request: Request) -> Response:
        base = str(request.base_url).rstrip("/")
        match request.url.path:
            case "/.well-known/oauth-protected-resource/mcp":
                return JSONResponse({"resource": "https://mcp.example.com/mcp", "authorization_servers": [base]})
            case "/.well-known/oauth-authorization-server":
                return JSONResponse({"issuer": base, "scopes_supported": ["openid", "notes:read", "two words", 7]})
            case "/mcp":
                return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
            case _:
                return Response(status_code=404)

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST", "DELETE"])])
    with bind("127.0.0.1", 0) as listener, serve_in_thread(app, listener=listener):
        assert main(["init", f"{url_of(listener)}/mcp"]) == 0
    known, text = drafted(), FILE.read_text("utf-8")
    assert known["target"]["resource"] == "https://mcp.example.com/mcp"
    assert "# ? is this the audience that tokens must carry?" in text
    assert known["principals"]["alice"]["scopes"] == ["notes:read"]
    assert "# The scopes are those that its authorization server offers." in text


HOSTILE_NAMES = [
    'a"]\n[policy]\nwrites = true',
    "\x1b[31mred",
    "${env:ACCESS_TOKEN}",
    "",
    "x" * 100_000,
    "\u202eevil",
    "a",
]


async def _hostile(request: Request) -> Response:
    """A server that repeats the token wherever it can, and lists names that nobody wants to read."""
    if request.method != "POST":
        return Response(status_code=405)
    message = await request.json()
    said = request.headers.get("authorization", "nothing")
    named = [{"name": name, "description": f"you sent {said}\n# ? no"} for name in [*HOSTILE_NAMES, said]]
    many = [{"name": f"get_{number}", "annotations": {"readOnlyHint": True}} for number in range(500)]
    schema = {"required": [said, "v"], "properties": {"v": {"default": f"{said} ${{env:ACCESS_TOKEN}}"}}}
    results: dict[str, Any] = {
        "server/discover": {
            "supportedVersions": ["2026-07-28", "\x1b[31m", 7],
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": f"evil {said}\n[issuer]", "version": "1"}},
        },
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": f"evil {said}\n[issuer]", "version": said},
        },
        "tools/list": {"tools": [{"name": "get", "inputSchema": schema}, *named, *many, 7, {"name": 7}]},
        "resources/list": {"resources": [{"uri": f"x://{said}"}, {"uri": "no uri"}]},
        "tools/call": {"content": [{"type": "text", "text": said}]},
    }
    result = results.get(message.get("method"))
    answer = {"error": {"code": -32601, "message": said}} if result is None else {"result": result}
    return JSONResponse({"jsonrpc": "2.0", "id": message.get("id"), **answer})


def test_a_hostile_server_gets_nothing_into_the_contract(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "s3cret-token-of-alice-0123456789"
    monkeypatch.setenv("ACCESS_TOKEN", secret)
    app = Starlette(routes=[Route("/mcp", _hostile, methods=["GET", "POST", "DELETE"])])
    with bind("127.0.0.1", 0) as listener, serve_in_thread(app, listener=listener):
        assert main(["init", f"{url_of(listener)}/mcp", "--token-env", "ACCESS_TOKEN"]) == 0
    told = capsys.readouterr()
    text = FILE.read_text("utf-8")
    assert secret not in told.out + told.err + text
    assert all(one == "\n" or one.isprintable() for one in told.err + text)
    contract = load_contract(FILE)
    assert contract.policy.writes is False
    assert len(contract.tools) == 100
    assert contract.tools[0].name == "get"
    assert contract.tools[0].arguments["v"].endswith(" $${env:ACCESS_TOKEN}")
    assert [tool.name for tool in contract.tools[1:6]] == [
        name.replace("${", "$${") for name in HOSTILE_NAMES if name and len(name) < 1000
    ]
    assert "3 tools with a name that no contract can hold; 408 tools after" in text.replace("\n# ", " ")


def test_in_a_pipeline_nothing_is_asked(issuer: EmbeddedIssuer, tmp_path: Path) -> None:
    with lab(issuer, Profile.PUBLIC_DISCOVERY) as url:
        done = subprocess.run(
            [*COMMAND, "init", url], cwd=tmp_path, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert FILE.is_file()


def on_a_terminal(
    url: str, folder: Path, typed: str, *words: str, env: dict[str, str] | None = None, stop_at: str = ""
) -> tuple[int, str]:
    """Run init on a terminal, type, and return the exit code and what the terminal showed.

    `stop_at` is the question at which the user interrupts.
    """
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if name != "CI"} | (env or {})
    shown = b""
    with subprocess.Popen(
        [*COMMAND, "init", url, *words], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environ
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        with contextlib.suppress(OSError):  # the other side has closed
            while read := os.read(ours, 65536):
                shown += read
                if stop_at and stop_at.encode() in shown:
                    process.send_signal(signal.SIGINT)
                    stop_at = ""
        code = process.wait(60)
    os.close(ours)
    return code, shown.decode("utf-8", "replace")


def test_on_a_terminal_the_answers_go_into_the_contract(issuer: EmbeddedIssuer, tmp_path: Path) -> None:
    answers = ["u-1", "", "u-2", "-", "invoices:read", *[""] * 20]
    with lab(issuer, Profile.PUBLIC_DISCOVERY) as url:
        code, shown = on_a_terminal(url, tmp_path, "\n".join(answers) + "\n")
    assert code == 0, shown
    contract = load_contract(FILE)
    assert contract.principals["alice"].subject == "u-1"
    assert contract.principals["alice"].tenant == "t1"
    assert contract.principals["bob"].tenant is None
    assert contract.tools[0].scopes == ("invoices:read",)
    last = shown.strip().splitlines()[-2:]
    assert 'questions are marked "# ?"' in last[0]
    assert "next: answer them, then `mcp-auth-contract plan` and `mcp-auth-contract run`" in last[1]


def test_ctrl_c_leaves_no_file(issuer: EmbeddedIssuer, tmp_path: Path) -> None:
    with lab(issuer, Profile.PUBLIC_DISCOVERY) as url:
        code, shown = on_a_terminal(url, tmp_path, "u-1\n", stop_at="Tenant of alice")
    assert code == 3, shown
    assert "interrupted" in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("words", "env"), [(("--yes",), {}), ((), {"CI": "true"})], ids=["yes", "ci"])
def test_nobody_is_asked_who_does_not_want_to_be(
    words: tuple[str, ...], env: dict[str, str], issuer: EmbeddedIssuer, tmp_path: Path
) -> None:
    with lab(issuer, Profile.PUBLIC_DISCOVERY) as url:
        code, shown = on_a_terminal(url, tmp_path, "", *words, env=env)
    assert code == 0, shown
    assert "Subject" not in shown
    assert shown.count("\n") == 1
    assert shown.startswith("mcp-auth-contract: mcp-auth-contract.toml: 8 tools")
