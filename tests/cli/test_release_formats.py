"""One run in every format: each is written, tokens are decoded in it, and no secret is in any of them."""

import base64
import json
import re
import zipfile
from urllib.parse import quote

import pytest
from tests.cli.in_process import in_process_contract

from mcp_auth_contract.cli import main
from mcp_auth_contract.reports.formats import FORMATS

SECRET = "planted-gateway-secret-3f9a1c2e"
VARIABLE = "planted/from+the=environment-77"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of one run of a server that accepts expired tokens, those of the bundle too."""
    folder = tmp_path_factory.mktemp("formats")
    contract = in_process_contract(folder, fault="expiry-ignored")
    planted = f'headers = {{ X-Gateway = "{SECRET}", X-Other = "${{env:PLANTED}}" }}  # {SECRET}\n'
    text = contract.read_text("utf-8")
    contract.write_text(text.replace("[target]\napp =", f"[target]\n{planted}app =", 1), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("CI", "1")
        patch.setenv("PLANTED", VARIABLE)
        words = [word for one in FORMATS for word in (f"--{one.name}", f"out.{one.name}")]
        selected = ["--select", "token-expired-refused", "--select", "scope-missing-denied", "--select", "prm"]
        assert main(["run", *selected, *words, "--quiet"]) == 1
    files = {one.name: (folder / f"out.{one.name}").read_bytes() for one in FORMATS}
    with zipfile.ZipFile(folder / "out.bundle") as archive:
        files |= {f"bundle/{name}": archive.read(name) for name in archive.namelist()}
    del files["bundle"]
    return files


def test_every_format_is_written(written: dict[str, bytes]) -> None:
    assert {one.name for one in FORMATS} - {"bundle"} <= set(written)
    assert all(written.values())
    assert "bundle/contract.toml" in written


def test_no_secret_is_in_any_of_them(written: dict[str, bytes]) -> None:
    forms = set()
    for secret in (SECRET, VARIABLE):
        whole = base64.b64encode(secret.encode()).decode().rstrip("=")
        forms |= {secret, quote(secret, safe=""), whole, whole.replace("+", "-").replace("/", "_")}
    for name, content in written.items():
        text = content.decode("utf-8")
        assert [form for form in forms if form in text] == [], name
        assert re.findall(r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", text) == [], name
        assert '"d": "' not in text, name


def test_the_broken_claim_of_a_token_is_marked(written: dict[str, bytes]) -> None:
    tokens = json.loads(written["json"])["tokens"]
    expired = [token for label, token in tokens.items() if label.startswith("token-expired")]
    assert expired
    for token in expired:
        changed = {member["name"] for member in token["members"] if member["changed"]}
        assert "exp" in changed
        assert not changed & {"sub", "aud", "iss", "alg"}
    assert "not as in the good token" in written["html"].decode()


def test_a_result_of_sarif_stands_in_the_contract(written: dict[str, bytes]) -> None:
    (run,) = json.loads(written["sarif"])["runs"]
    lines = {
        result["locations"][0]["physicalLocation"]["region"]["startLine"]
        for result in run["results"]
        if result["ruleId"] == "token-expired-refused"
    }
    source = written["bundle/contract.toml"].decode().splitlines()
    assert {source[line - 1] for line in lines} == {"[[tools]]"}


def test_what_a_case_is_about_is_told(written: dict[str, bytes]) -> None:
    results = json.loads(written["json"])["results"]
    denied = next(one for one in results if one["check"] == "scope-missing-denied")
    assert denied["about"]["kind"] in ("tool", "resource", "prompt")
    assert denied["about"]["scope"]
