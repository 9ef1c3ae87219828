"""The archive of evidence: complete, the same for the same report, and its sums are right."""

import hashlib
import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from tests.unit.reports.examples import green, hostile, interrupted, report, waived

from mcp_auth_contract.cli import main
from mcp_auth_contract.reports.bundle import MANIFEST, render_bundle
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.reading import read_report

REPORTS = {"report": report, "interrupted": interrupted, "green": green, "hostile": hostile, "waived": waived}


def read(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", REPORTS)
def test_a_bundle_has_every_form_and_its_sums_are_right(name: str) -> None:
    files = read(render_bundle(REPORTS[name]()))
    expected = {"report.html", "report.json", "report.md", "report.sarif", "exchanges.har", "contract.toml"}
    assert set(files) == expected | {"environment.json", "waivers.json", MANIFEST}
    sums = dict(line.split("  ")[::-1] for line in files.pop(MANIFEST).decode().splitlines())
    assert sums == {file: hashlib.sha256(content).hexdigest() for file, content in files.items()}


def test_equal_reports_make_equal_bytes_and_others_do_not() -> None:
    assert render_bundle(report()) == render_bundle(report())
    assert render_bundle(report()) != render_bundle(replace(report(), started="2026-08-23T10:00:00+00:00"))


def test_a_report_that_was_read_back_makes_the_same_bytes() -> None:
    kept = read_report(render_json(waived()), "r.json")
    assert render_bundle(read_report(render_json(kept), "r.json")) == render_bundle(kept)


def test_waivers_and_environment_are_told() -> None:
    files = read(render_bundle(waived()))
    about = {one["about"]: (one["owner"], len(one["covers"])) for one in json.loads(files["waivers.json"])}
    assert about["check scope-missing-denied"] == ("jane", 5)
    assert about["check prm-served"] == ("jane", 0)
    assert json.loads(files["environment.json"]) == {"kit": "1.2.3", **waived().environment}


def test_a_report_without_a_contract_has_none_in_its_bundle() -> None:
    assert "contract.toml" not in read(render_bundle(replace(report(), source=None)))


def test_the_command_writes_the_same_bundle_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "r.json"
    kept.write_text(render_json(report()), "utf-8")
    for name in ("a.zip", "b.zip"):
        assert main(["report", str(kept), "--bundle", str(tmp_path / name), "-q"]) == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert (tmp_path / "a.zip").read_bytes()[:2] == b"PK"
    assert "gate SHUT" in capsys.readouterr().out
