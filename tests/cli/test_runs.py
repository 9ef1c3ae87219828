"""Runs as a user starts them: output files, and no secret anywhere."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "mcp_auth_contract"]
JWT = re.compile(r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{20,}")


def start(*words: str, folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen([*COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_built_in_sample_is_green_and_no_output_holds_a_token(tmp_path: Path) -> None:
    process = start("run", "--sample", "--json", "r.json", "--junit", "r.xml", folder=tmp_path)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    assert "gate open (exit 0)" in out
    assert "SAMPLE          this tested the kit's own sample server, not yours" in out.splitlines()[1]
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))
    jsonschema.validate(report, json.loads((ROOT / "docs" / "report-v1.schema.json").read_text("utf-8")))
    assert report["gate"] == {"open": True, "exit_code": 0, "reasons": [], "binding": ["MUST"], "stale": []}
    assert report["counts"]["pass"] > 300
    assert (tmp_path / "r.json").stat().st_size < 640 * len(report["results"])
    assert ElementTree.fromstring((tmp_path / "r.xml").read_text("utf-8")).get("failures") == "0"
    for text in (out, err, (tmp_path / "r.json").read_text("utf-8"), (tmp_path / "r.xml").read_text("utf-8")):
        assert JWT.search(text) is None


def test_a_fault_turns_the_gate_and_says_how_to_repeat_it(tmp_path: Path) -> None:
    process = start("run", "--sample", "--fault", "expiry-ignored", "--select", "token", folder=tmp_path)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 1, out + err
    assert "token-expired-refused[get_invoice]" in out
    assert "reproduce 'token-expired-refused[get_invoice]' --sample --fault expiry-ignored" in out
    assert "by hand" not in out
    again = next(line.split("again", 1)[1] for line in out.splitlines() if "again" in line)
    process = start(*shlex.split(again)[1:], folder=tmp_path)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 1, out + err
    assert "observed  200 with a result" in out
    assert "\n> Authorization: Bearer token-expired#" in out
    assert "\n< 200\n" in out
    assert "gate SHUT (exit 1)" in out
    assert JWT.search(out) is None


def test_a_report_that_nobody_reads_does_not_change_the_exit_code(tmp_path: Path) -> None:
    for words in ([], ["--json", "-"], ["--quiet"]):
        process = start("run", "--sample", "--select", "token-expired-refused", *words, folder=tmp_path)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=60) == 0, err
        assert "Traceback" not in err
        assert "BrokenPipe" not in err
