"""Log files are read from where they were when the run began."""

from pathlib import Path

from mcp_auth_contract.server import LogFiles, tail


def test_only_what_was_written_since_is_read(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("before\n")
    logs = LogFiles.begun([log])
    with log.open("a") as file:
        file.write("since\n")
    assert logs.written() == [("server.log", "since\n")]


def test_a_file_that_came_later_is_read_whole(tmp_path: Path) -> None:
    logs = LogFiles.begun([tmp_path / "server.log"])
    (tmp_path / "server.log").write_text("since\n")
    assert logs.written() == [("server.log", "since\n")]


def test_a_file_that_was_begun_anew_is_read_from_its_start(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("a long line from before\n")
    logs = LogFiles.begun([log])
    log.write_text("anew\n")
    assert logs.written() == [("server.log", "anew\n")]


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert LogFiles.begun([tmp_path / "none.log"]).written() == [("none.log", None)]


def test_of_a_long_file_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"x" * 3 * 1024 * 1024 + b"end")
    text = tail(log)
    assert text is not None
    assert len(text) == 2 * 1024 * 1024
    assert text.endswith("xend")
