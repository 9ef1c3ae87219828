"""Log files are read from where they were when the run began."""

from pathlib import Path

from mcp_auth_contract.server import LogFiles, LogText


def texts(logs: LogFiles) -> list[tuple[str, str]]:
    return [(name, "".join(text or ())) for name, text in logs.written()]


def test_only_what_was_written_since_is_read(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("before\n")
    logs = LogFiles.begun([log])
    with log.open("a") as file:
        file.write("since\n")
    assert texts(logs) == [("server.log", "since\n")]


def test_a_file_that_came_later_is_read_whole(tmp_path: Path) -> None:
    logs = LogFiles.begun([tmp_path / "server.log"])
    (tmp_path / "server.log").write_text("since\n")
    assert texts(logs) == [("server.log", "since\n")]


def test_a_file_that_was_begun_anew_is_read_from_its_start(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("a long line from before\n")
    logs = LogFiles.begun([log])
    log.write_text("anew\n")
    assert texts(logs) == [("server.log", "anew\n")]


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert LogFiles.begun([tmp_path / "none.log"]).written() == [("none.log", None)]


def test_all_of_a_long_file_is_read_and_nothing_is_cut_in_every_piece(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    words = [f"<{number:06}{'é' * 100}>" for number in range(30_000)]
    log.write_text("".join(words), "utf-8")
    pieces = list(LogText(log))
    assert len(pieces) > 3
    assert max(map(len, pieces)) < 2 * 1024 * 1024
    for word in (words[0], *words[::777], words[-1]):
        assert any(word in piece for piece in pieces)
