"""Wrong use gets one clear line and exit code 2 or 3, never a traceback."""

import socket
from pathlib import Path

import pytest

from mcp_auth_contract import __version__
from mcp_auth_contract.cli import main
from mcp_auth_contract.cli.parameters import check_ids, fault_names
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.tokens.keys import Algorithm
from mcp_auth_contract.tokens.mint import decode_parts

CONTRACT = """[target]
url = "http://127.0.0.1:{port}/mcp"
{more}
[principals.alice]
subject = "alice"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
"""


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def write(folder: Path, more: str = "", port: int | str = 9) -> Path:
    file = folder / "mcp-auth-contract.toml"
    file.write_text(CONTRACT.format(more=more, port=port), "utf-8")
    return file


def refused(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    assert main(list(words)) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert said.err.count("\n") == 1, said.err
    assert said.err.startswith("mcp-auth-contract: ")
    return said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "none.toml"], "none.toml: no such contract file"),
        (
            ["run", "--select", "token-expird-refused"],
            'no check or case is called "token-expird-refused"; did you mean',
        ),
        (["plan", "--select", "token-expird-refused"], 'did you mean "token-expired-refused"?'),
        (["explain", "token-expird-refused"], 'did you mean "token-expired-refused", "'),
        (["explain", "nonsense"], 'no check is called "nonsense"; did you mean "'),
        (["list", "tokn"], 'no family is called "tokn"; did you mean "token"?'),
        (["list", "--level", "mst"], 'no level is called "MST"; did you mean "MUST"?'),
        (["list", "--impact", "tenant"], 'no impact is called "tenant"; did you mean "tenant-leak"?'),
        (["run", "--url", "mcp.example.com"], "not an http or https URL"),
        (["run", "--url", "https://mcp.example.com/mcp"], "authorized = true"),
        (["run", "--json", "missing/report.json"], "its folder does not exist"),
        (["run", "--json", "."], "a folder; name the file to write"),
        (["run", "--junit", "missing/report.xml"], "its folder does not exist"),
        (["run", "--junit", "-"], "only --json writes to stdout"),
        (["probe", "http://127.0.0.1:99999/mcp"], "not an http or https URL"),
        (
            ["probe", "http://127.0.0.1:9/mcp", "--select", "no-such-check"],
            'no check or case is called "no-such-check"',
        ),
        (["run", "--jobs", "0"], "--jobs"),
        (["run", "--nonsense"], "--nonsense"),
        (["explain"], "CHECK"),
        (["mint", "mcp-auth-contract.toml", "alice", "--variant", "x"], "--variant: needs --defect"),
        (["run", "--fail-on", "may"], "write must or should"),
        (["run", "--jobs", "none"], "--jobs"),
        (["rnu"], "rnu"),
        (["probe", "ftp://127.0.0.1/"], "not an http or https URL"),
        (["mint", "mcp-auth-contract.toml", "alic"], 'no principal is called "alic"'),
        (["mint", "mcp-auth-contract.toml", "alice", "--defect", "expird"], 'did you mean "expired"?'),
        (["mint", "mcp-auth-contract.toml", "alice", "--defect", "alg_none", "--variant", "x"], "unknown variant 'x'"),
        (["lab", "--fault", "nonsense"], 'no fault is called "nonsense"'),
        (["lab", "--profile", "nonsense"], 'no profile is called "nonsense"'),
        (["lab", "--variant", "nonsense"], 'no profile is called "nonsense"'),
        (["run", "--scenarios", "nowhere"], "no such folder of checks"),
    ],
)
def test_wrong_words_are_refused_in_one_line(
    words: list[str], said: str, contract: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, 2, *words)


def test_a_faulty_contract_is_refused_with_the_nearest_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, 'resorce = "x"')
    assert 'target.resorce: unknown key; did you mean "resource"?' in refused(capsys, 2, "run", str(file))


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[target\n")
    assert "not TOML" in refused(capsys, 2, "run", str(file))


def test_each_fault_of_a_contract_is_a_line_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, 'resorce = "x"\nstrat = []')
    assert main(["run", str(file)]) == 2
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"mcp-auth-contract: {file}: target.") for line in lines)
    assert said.out == ""


def test_a_file_that_is_no_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in refused(capsys, 2, "run", str(file))


def test_a_server_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        file = write(tmp_path, port=unused.getsockname()[1])
        assert "nothing accepts connections at 127.0.0.1:" in refused(capsys, 3, "run", str(file))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/mcp"
        assert "nothing accepts connections" in refused(capsys, 3, "probe", url)


def test_a_port_in_use_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        file = write(tmp_path, f"[issuer]\nport = {taken.getsockname()[1]}")
        assert "in use" in refused(capsys, 2, "run", str(file))


def test_a_start_that_dies_is_told_with_its_last_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "import sys; print('no module named invoices'); sys.exit(7)"
    file = write(tmp_path, f'start = ["${{python}}", "-c", "{command}"]')
    said = refused(capsys, 3, "run", str(file))
    assert "ended with code 7" in said
    assert "no module named invoices" in said


def test_a_start_that_does_not_exist_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, 'start = ["no-such-program-anywhere"]')
    assert "cannot run no-such-program-anywhere" in refused(capsys, 2, "run", str(file))


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mcp-auth-contract {__version__}\n"


def test_a_plan_sends_nothing(
    contract: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("a plan opened a connection")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    monkeypatch.setattr(socket.socket, "bind", no_network)
    assert main(["plan"]) == 0
    said = capsys.readouterr()
    assert "token-expired-refused[get_invoice]" in said.out
    assert "Nothing was sent." in said.err


def test_mint_prints_a_token_and_nothing_else(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mint", "mcp-auth-contract.toml", "alice", "--defect", "expired", "--show"]) == 0
    said = capsys.readouterr()
    header, claims = decode_parts(said.out.strip())
    assert header is not None
    assert claims is not None
    assert claims["sub"] == "alice"
    assert said.out.strip() not in said.err


def test_everything_that_can_be_listed_is(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["list"], ["list", "token"], ["defects"], ["lab", "--list"], ["explain", "token-expired-refused"]):
        assert main(words) == 0
    said = capsys.readouterr().out
    assert "alg_none" in said
    assert "rfc-editor.org" in said
    assert "observed  200 with a result (the token expired" in said


def test_a_server_is_not_started_where_another_listens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        file = write(tmp_path, 'start = ["${python}", "-c", "pass"]', port=taken.getsockname()[1])
        assert "listens at 127.0.0.1" in refused(capsys, 2, "run", str(file))


def test_a_port_may_come_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        monkeypatch.setenv("SERVER_PORT", str(port))
        file = write(tmp_path, port="${env:SERVER_PORT}")
        assert f"nothing accepts connections at 127.0.0.1:{port}" in refused(capsys, 3, "run", str(file))


def test_the_issuers_table_may_hold_variables_of_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYS", "no-such-folder")
    file = write(tmp_path, '[issuer]\nkeys = "${env:KEYS}"')
    assert "Traceback" not in refused(capsys, 2, "run", str(file))


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter2@127.0.0.1:9/mcp",
        "https://hunter2@h/",
        "ftp://u:hunter2@h/",
        "u:hunter2@h",
        "http://u:hunter2@[::1",
        "http://u:hunter2@127.0.0.1:0/mcp",
        "http://u:hun@ter2:hunter2@h/",
    ],
)
@pytest.mark.parametrize("words", [["probe"], ["run", "--url"], ["init", "--yes", "-o", "-"]])
def test_a_password_in_a_url_is_refused_and_never_repeated(
    words: list[str], url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, url]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "hunter2" not in said.err


def test_a_list_is_narrowed_by_family_level_and_impact(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "token", "scope-", "--level", "should", "--impact", "interop"]) == 0
    rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert {row[0].split("-")[0] for row in rows} == {"token", "scope"}
    assert {(row[1], row[2]) for row in rows} == {("SHOULD", "interop")}


def test_a_shell_completes_checks_and_faults() -> None:
    assert "token-expired-refused" in check_ids("token-exp")
    assert fault_names("audience-ign") == ["audience-ignored"]


def test_the_list_of_commands_cuts_no_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "..." not in capsys.readouterr().out.split("Commands:")[1]


@pytest.mark.parametrize("command", ["probe", "init"])
def test_a_file_of_certificates_that_is_none_is_refused(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    url = "https://127.0.0.1:9/mcp"
    assert "--ca-file none.pem: No such file" in refused(capsys, 2, command, url, "--ca-file", "none.pem")
    (tmp_path / "empty.pem").write_text("nothing")
    assert "no certificates in it" in refused(capsys, 2, command, url, "--ca-file", "empty.pem")
    monkeypatch.setenv("SSL_CERT_FILE", "empty.pem")
    assert "SSL_CERT_FILE empty.pem: no certificates in it" in refused(capsys, 2, command, url)


def test_a_server_with_a_certificate_of_ones_own_can_be_probed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with EmbeddedIssuer(IssuerSettings(tls=True, algorithms=(Algorithm.ES256,))) as served:
        words = ["probe", f"{served.url}/mcp", "--select", "prm-served", "-q"]
        assert main(words) == 3
        assert "certificate" in capsys.readouterr().err
        assert main([*words, "--ca-file", str(served.ca_file)]) == 3
        assert "this is no MCP server" in capsys.readouterr().err
        monkeypatch.setenv("SSL_CERT_FILE", str(served.ca_file))
        assert main(words) == 3
        assert "this is no MCP server" in capsys.readouterr().err
