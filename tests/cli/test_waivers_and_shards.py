"""Waivers, shards and the reports of continuous integration, as the command line has them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from tests.cli.in_process import ROOT, in_process_contract

from mcp_auth_contract.cli import main

EXPIRED = "token-expired-refused"
FEW = ("--select", "scope-missing-denied")
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).date()
YESTERDAY = (datetime.now(UTC) - timedelta(days=2)).date()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "1")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return tmp_path


@pytest.fixture
def broken(here: Path) -> Path:
    in_process_contract(here, fault="expiry-ignored")
    return here


def waivers(folder: Path, *entries: str, name: str = "mcp-auth-contract-waivers.toml") -> Path:
    file = folder / name
    file.write_text("\n".join(f"[[waiver]]\n{entry}" for entry in entries), "utf-8")
    return file


def entry(about: str, expires: object = TOMORROW) -> str:
    return f'{about}\nreason = "#481"\nowner = "jane"\nexpires = {expires}\n'


def read(name: str) -> dict:  # type: ignore[type-arg]
    value = json.loads(Path(name).read_text("utf-8"))
    jsonschema.validate(value, json.loads((ROOT / "docs" / "report-v1.schema.json").read_text("utf-8")))
    return dict(value)


def test_a_waived_failure_opens_the_gate_and_is_told_everywhere(
    broken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--select", EXPIRED, "-q"]) == 1
    assert "of level MUST failed" in capsys.readouterr().out
    waivers(broken, entry(f'check = "{EXPIRED}"'))
    code = main(["run", "--select", EXPIRED, "--json", "r.json", "--junit", "r.xml", "--markdown", "r.md"])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "waived          " in out
    assert f"by jane until {TOMORROW.isoformat()}: #481" in out
    report = read("r.json")
    told = {"reason": "#481", "owner": "jane", "expires": TOMORROW.isoformat()}
    assert report["counts"]["fail"] > 0
    assert {json.dumps(one["waived"]) for one in report["results"] if one["outcome"] == "fail"} == {json.dumps(told)}
    assert report["waivers"][0]["check"] == EXPIRED
    assert 'name="waived.owner" value="jane"' in Path("r.xml").read_text("utf-8")
    assert "### Failed, but waived" in Path("r.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("about", "expires", "select", "code", "said"),
    [
        (f'check = "{EXPIRED}"', YESTERDAY, EXPIRED, 1, f"expired on {YESTERDAY}; repair the server"),
        ('check = "token-expired-long-ago-refused"', TOMORROW, EXPIRED, 1, "of level MUST failed"),
        ('check = "token-issuer-foreign-refused"', TOMORROW, EXPIRED, 2, "no check is called"),
        (f'case = "{EXPIRED}[get_invoce]"', TOMORROW, EXPIRED, 1, f'did you mean "{EXPIRED}[get_invoice]"?'),
        (f'case = "{EXPIRED}[get_invoce]"', TOMORROW, "scope-missing-denied", 0, "gate open"),
        ('check = "scope-missing-denied"', TOMORROW, "scope-missing-denied", 1, "what it is about passes; remove it"),
        ('check = "scope-missing-denied"', TOMORROW, "scope-missing-denied[get_*]", 0, "gate open"),
    ],
)
def test_a_waiver_that_is_no_longer_true_shuts_the_gate_if_it_was_selected(
    about: str, expires: object, select: str, code: int, said: str, broken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waivers(broken, entry(about, expires))
    assert main(["run", "--select", select, "-q"]) == code
    told = capsys.readouterr()
    assert said in told.out + told.err


def test_a_draft_is_made_once_and_used_when_filled_in(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "--select", EXPIRED, "-q"]
    assert main([*words, "--write-waivers", "w.toml"]) == 1
    assert "w.toml: waivers drafted; fill in owner and expires" in capsys.readouterr().err
    assert main([*words, "--write-waivers", "w.toml"]) == 2
    assert "--write-waivers w.toml: exists; it is never overwritten" in capsys.readouterr().err
    assert main([*words, "--waivers", "w.toml"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"mcp-auth-contract: w.toml: waiver 1 ({EXPIRED}[get_invoice]): owner: left to fill in; ")
    assert said.count("\n") == 1
    text = Path("w.toml").read_text("utf-8").replace('owner = ""', 'owner = "jane"')
    Path("w.toml").write_text(text.replace('expires = ""', f"expires = {TOMORROW}"), "utf-8")
    assert main([*words, "--waivers", "w.toml"]) == 0
    assert main([*words, "--waivers", "w.toml", "--write-waivers", "more.toml"]) == 0
    assert "nothing to waive; more.toml was not written" in capsys.readouterr().err
    assert not Path("more.toml").exists()


def test_the_parts_of_a_run_are_merged_into_what_the_whole_run_says(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_process_contract(here, fault="expiry-ignored")
    words = ["run", "-q", *FEW, "--select", EXPIRED]
    waivers(here, entry(f'check = "{EXPIRED}"'), entry('check = "scope-missing-denied"'))
    codes = [main([*words, "--shard", f"{part}/2", "--json", f"{part}.json"]) for part in (1, 2)]
    assert codes == [0, 0], capsys.readouterr().out
    assert read("2.json")["shard"]["index"] == 2
    capsys.readouterr()
    assert main(["report", "merge", "2.json", "1.json", "--json", "all.json", "--junit", "all.xml", "-q"]) == 1
    assert "waiver 2 (check scope-missing-denied): what it is about passes; remove it" in capsys.readouterr().out
    assert main([*words, "--json", "whole.json"]) == 1
    merged, whole = read("all.json"), read("whole.json")
    key = ("case", "revision", "outcome", "waived")
    told = [[[one[name] for name in key] for one in value["results"]] for value in (merged, whole)]
    assert sorted(map(repr, told[0])) == sorted(map(repr, told[1]))
    assert merged["gate"] == whole["gate"]
    assert {one for result in merged["results"] for one in result["evidence"]} == set(merged["exchanges"])
    capsys.readouterr()
    assert main(["report", "render", "all.json", "--markdown", "all.md", "--junit", "again.xml"]) == 0
    assert "gate SHUT (exit 1)" in capsys.readouterr().out
    assert Path("again.xml").read_bytes() == Path("all.xml").read_bytes()
    assert "### Failed, but waived" in Path("all.md").read_text("utf-8")
    assert main(["report", "merge", "1.json"]) == 2
    assert "missing: shard 2/2" in capsys.readouterr().err


def test_a_summary_is_added_to_its_file_or_is_all_there_is_on_stdout(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_process_contract(here)
    Path("summary.md").write_text("# earlier step\n", "utf-8")
    assert main(["run", *FEW, "--summary", "summary.md"]) == 0
    text = Path("summary.md").read_text("utf-8")
    assert text.startswith("# earlier step\n## Authentication contract: gate open (exit 0)\n")
    capsys.readouterr()
    assert main(["run", *FEW, "--summary", "-"]) == 0
    assert capsys.readouterr().out.startswith("## Authentication contract: gate open (exit 0)\n")


def test_annotations_come_after_a_report_that_cannot_command(
    broken: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(broken.parent))
    assert main(["run", "--select", EXPIRED, "--annotations", "github"]) == 1
    lines = capsys.readouterr().out.splitlines()
    word = lines[0].removeprefix("::stop-commands::")
    assert len(word) == 32
    errors = lines[lines.index(f"::{word}::") + 1 :]
    file = f"{broken.name}/mcp-auth-contract.toml"
    assert [line.split("::")[1] for line in errors] == [
        f"error file={file},title=gate SHUT (exit 1)",
        f"error file={file},title=MUST%3A An expired token is refused",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--waivers", "none.toml"], "none.toml: no such waivers file"),
        (["run", "--write-waivers", "missing/w.toml"], "its folder does not exist"),
        (["run", "--write-waivers", "mcp-auth-contract.toml"], "exists; it is never overwritten"),
        (["run", "--shard", "3/2"], '--shard: "3/2": write it like 2/4'),
        (["run", "--markdown", "-"], "--summary writes Markdown to stdout"),
        (["run", "--summary", "missing/s.md"], "its folder does not exist"),
        (["run", "--json", "-", "--summary", "-"], "leaves no room on stdout for --summary -"),
        (["run", "--json", "-", "--annotations", "github"], "leaves no room on stdout for --annotations"),
        (["run", "--annotations", "gitlab"], "write github"),
        (["report", "merge", "none.json"], "none.json: cannot be read: No such file"),
        (["report", "merge", "."], ".: cannot be read"),
        (["report", "merge"], "FILE"),
        (["report", "render", "mcp-auth-contract.toml"], "no JSON report of version 1"),
        (["report", "redner"], "redner"),
    ],
)
def test_wrong_words_are_told_in_one_line(
    words: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_process_contract(here)
    assert main(words) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
