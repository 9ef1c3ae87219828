"""Reports are written whole or not at all, and a stream that takes nothing ends in one line."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.reports.examples import green, report

from mcp_auth_contract.cli.outputs import Outputs, remove_old, save, write
from mcp_auth_contract.errors import Unwritable
from mcp_auth_contract.reports.annotations import disarmed

KIT = [sys.executable, "-m", "mcp_auth_contract"]
QUICK = ["run", "--sample", "--select", "token-expired-refused", "--json", "r.json"]
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")


def kit(folder: Path, *words: str, closed: str = "", **environ: str) -> "subprocess.CompletedProcess[str]":
    command = 'exec "$@" ' + closed
    env = {**os.environ, **environ}
    return subprocess.run(
        ["sh", "-c", command, "sh", *KIT, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=100
    )


def test_a_report_that_cannot_be_written_does_not_lose_the_others(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    files = {"json": gone / "r.json", "junit": tmp_path / "r.xml", "markdown": gone / "r.md"}
    outputs = Outputs(files, tmp_path / "s.md", quiet=True)
    with pytest.raises(Unwritable) as caught:
        write(green(), outputs)
    assert caught.value.exit_code == 2
    assert len(str(caught.value).splitlines()) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["r.xml", "s.md"]


def test_a_broken_clause_counts_for_more_than_an_unwritable_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(report(), Outputs({"json": tmp_path / "gone" / "r.json"}, quiet=True)) == report().gate.exit_code
    assert "cannot be written" in capsys.readouterr().err


def test_a_failed_write_leaves_neither_a_half_nor_a_stray_file(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        save(file, "half \ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
    save(file, "new")
    assert file.read_text() == "new"
    mask = os.umask(0)
    os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask


def test_links_and_devices_are_written_into(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    save(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    save(Path(os.devnull), "gone")


def test_old_reports_are_removed_and_a_summary_is_kept(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("json", "junit", "markdown")}
    summary = tmp_path / "s.md"
    for file in (*files.values(), summary):
        file.write_text("old")
    remove_old(Outputs(files, summary))
    assert list(tmp_path.iterdir()) == [summary]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "no-such.toml"],
        ["run", "c.toml"],
        ["probe", "http://127.0.0.1:9/mcp"],
        ["run", "--url", "nonsense"],
    ],
)
def test_a_run_that_fails_leaves_no_report_of_an_earlier_one(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("nonsense")
    (tmp_path / "r.json").write_text('{"gate": {"open": true}}')
    assert kit(tmp_path, *words, "--json", "r.json").returncode in (2, 3)
    assert not (tmp_path / "r.json").exists()


@FULL
@pytest.mark.parametrize(
    "words", [QUICK, [*QUICK, "--quiet"], ["run", "--json", "-", *QUICK[1:4]], ["list"], ["--version"]]
)
@pytest.mark.parametrize("closed", [">/dev/full", ">&-"])
def test_standard_output_that_takes_nothing_ends_in_one_line(closed: str, words: list[str], tmp_path: Path) -> None:
    done = kit(tmp_path, *words, closed=closed)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("mcp-auth-contract: standard output cannot be written: ")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == 3
    if "r.json" in words:
        assert json.loads((tmp_path / "r.json").read_text("utf-8"))["gate"]["open"]


@FULL
@pytest.mark.parametrize("closed", ["2>/dev/full", "2>&-"])
@pytest.mark.parametrize(("words", "code"), [(QUICK, 0), (["run", "no-such.toml"], 2), (["nonsense"], 2)])
def test_standard_error_that_takes_nothing_changes_no_exit_code(
    closed: str, words: list[str], code: int, tmp_path: Path
) -> None:
    assert kit(tmp_path, *words, closed=closed).returncode == code


def test_no_line_of_a_report_commands_github(tmp_path: Path) -> None:
    text = "::error::x\n  ::add-mask::y\nsaid ::notice:: here\r\n\t::z\n##[error]w\nse::"
    assert not [line for line in disarmed(text).splitlines() if line.strip().startswith("::")]
    assert "##[" not in disarmed(text)
    assert "said ::notice:: here" in disarmed(text)


def test_a_report_for_github_is_disarmed_without_annotations(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    shown = replace(green(), notes=("::error::from a server\n::set-output name=a::b ##[error]x",))
    for outputs in (Outputs(), Outputs(quiet=True), Outputs(summary=Path("-")), Outputs({"json": Path("-")})):
        write(shown, outputs)
        out = capsys.readouterr().out
        assert out
        assert not [line for line in out.splitlines() if line.strip().startswith("::")]
        assert "##[" not in out
