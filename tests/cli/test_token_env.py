"""`run --token-env`: one clear line for what is wrong with the variable, and never a word of what it holds."""

import base64
import json
import time
from pathlib import Path

import pytest

from mcp_auth_contract.cli import main

CONTRACT = """[target]
url = "http://127.0.0.1:9/mcp"
{more}
[principals.alice]
subject = "alice"
[[tools]]
name = "get_invoice"
scopes = []
[[tools]]
name = "whoami"
"""

SECRET = "c2VjcmV0LXNpZ25hdHVyZQ"


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def write(folder: Path, more: str = "") -> Path:
    file = folder / "mcp-auth-contract.toml"
    file.write_text(CONTRACT.format(more=more), "utf-8")
    return file


def jwt_until(expiry: float) -> str:
    parts = ({"alg": "RS256"}, {"sub": "alice", "exp": expiry})
    segments = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join((*segments, SECRET))


def refused(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    assert main(["run", *words]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    return said.err


def test_a_variable_that_is_missing_or_empty_is_named(
    contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ACCESS_TOKEN", raising=False)
    assert "--token-env ACCESS_TOKEN: the environment variable is not set or empty" in refused(
        capsys, 2, "--token-env", "ACCESS_TOKEN"
    )
    monkeypatch.setenv("ACCESS_TOKEN", " \n")
    assert "not set or empty" in refused(capsys, 2, "--token-env", "ACCESS_TOKEN")


@pytest.mark.parametrize("held", [f"Bearer {SECRET}", f"{SECRET}\n{SECRET}", f'"{SECRET}"', f"{SECRET}\u00e9"])
def test_a_variable_that_holds_more_than_a_token_is_named_and_not_repeated(
    held: str, contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", held)
    said = refused(capsys, 2, "--token-env", "ACCESS_TOKEN")
    assert "--token-env ACCESS_TOKEN: holds white space or characters that no bearer token has" in said
    assert SECRET not in said


def test_an_expired_token_is_refused_before_anything_is_sent(
    contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", jwt_until(int(time.time()) - 100))
    said = refused(capsys, 2, "--token-env", "ACCESS_TOKEN")
    assert "--token-env ACCESS_TOKEN: the token expired 10" in said
    assert SECRET not in said


def test_a_server_that_is_not_up_is_told_as_always(
    contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", jwt_until(time.time() + 600))
    assert "nothing accepts connections" in refused(capsys, 3, "--token-env", "ACCESS_TOKEN")


def test_a_variable_of_the_kits_issuer_has_no_value(
    contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", jwt_until(time.time() + 600))
    write(contract.parent, 'start = ["server"]\nenv = { ISSUER = "${issuer.url}" }')
    said = refused(capsys, 2, "--token-env", "ACCESS_TOKEN")
    assert "mcp-auth-contract.toml: target.env.ISSUER: ${issuer.url} has no value with --token-env" in said
    assert "--url" in said
    assert "nothing accepts" in refused(capsys, 3, "--token-env", "ACCESS_TOKEN", "--url", "http://127.0.0.1:9/mcp")


def test_the_table_issuer_is_not_read(
    contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", jwt_until(time.time() + 600))
    write(contract.parent, '[issuer]\nkeys = "${env:NO_SUCH_FOLDER_OF_KEYS}"')
    assert "nothing accepts connections" in refused(capsys, 3, "--token-env", "ACCESS_TOKEN")


def test_an_unknown_principal_is_told(
    contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", jwt_until(time.time() + 600))
    said = refused(capsys, 2, "--token-env", "ACCESS_TOKEN", "--principal", "alcie")
    assert '--principal: the contract has no principal "alcie"; did you mean "alice"?' in said


def test_a_principal_without_a_token_is_refused(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--principal: belongs to --token-env" in refused(capsys, 2, "--principal", "alice")
