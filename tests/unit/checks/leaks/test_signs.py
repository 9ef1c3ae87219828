"""What gives the program behind an error away, as every common runtime writes it, and what is no more than a text."""

import html
import json

import pytest
from tests.unit.checks.leaks.leak_literals import provoked
from tests.unit.checks.literals import answer, judged

from mcp_auth_contract.answers import TransportFailure
from mcp_auth_contract.checks.leaks.observation import ErrorObserved
from mcp_auth_contract.checks.leaks.signs import credential_in, internals_in, program_in
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass

TRACES = {
    "Python": 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in call\nKeyError: 1',
    "V8": "TypeError: no\n    at call (/srv/app.js:10:5)\n    at async Object.<anonymous> (node:internal/main:10:5)",
    "Java": "java.lang.Error: no\n\tat com.example.Tools.call(Tools.java:31)",
    "Java, a cause": "no\nCaused by: com.example.db.NotThereException: no",
    "Java, native": "\tat java.base/jdk.internal.Reflect.invoke0(Native Method)",
    ".NET": "no\n   at System.Text.Json.JsonSerializer.Deserialize[T](String json)",
    ".NET, with files": "no\n   at Tools.Call(String name) in C:\\srv\\Tools.cs:line 31",
    "Go": "goroutine 7 [running]:\nmain.call(...)\n\t/srv/main.go:31 +0x1d",
    "Ruby": "app/tools.rb:31:in `call': no (KeyError)",
    "Ruby 3.4": "app/tools.rb:31:in 'Tools#call': no (KeyError)",
    "PHP": "PHP Fatal error:  Uncaught Error: no in /srv/tools.php:31\nStack trace:\n#0 {main}",
    "PHP, in HTML": "<b>Warning</b>: no in <b>/srv/tools.php</b> on line <b>31</b><br />",
    "Rust": "thread 'main' panicked at src/main.rs:31:5:\nno",
    "Perl": "no at tools.pl line 31.",
}


@pytest.mark.parametrize("runtime", TRACES)
@pytest.mark.parametrize(
    "written",
    [str, json.dumps, html.escape, lambda text: html.escape(text).replace("\n", "<br>").replace("  ", " &nbsp;")],
    ids=["plain", "in JSON", "in HTML", "in HTML with lines"],
)
def test_a_stack_trace_of_every_runtime_is_found_however_it_is_written(runtime: str, written: object) -> None:
    assert program_in(written(TRACES[runtime]))  # type: ignore[operator]


@pytest.mark.parametrize(
    "text",
    [
        "invalid arguments: invoice_id must be a string at /arguments/invoice_id",
        "look at: line 3, column 7",
        "Unexpected token at position 12",
        "the file report.py is not found",
        "not found: kit-no-such-thing",
        '{"message": "Input should be a valid string [type=string_type, input_value={\'kit\': [None, -1]}]"}',
        "For further information visit https://errors.pydantic.dev/2.11/v/string_type",
    ],
)
def test_a_plain_message_is_no_trace(text: str) -> None:
    assert program_in(text) is None
    assert credential_in(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "redis://default:s3cr3t@cache.internal:6379",
        "mongodb+srv://app:pw-11@cluster0.example.net",
        "Server=db;User Id=sa;Password=Pa55w0rd!;",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "sk-proj-" + "a1B2" * 6,
        "xoxb-1234567890-abcdef",
        "glpat-" + "a1B2" * 5,
        "-----BEGIN EC PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_credential_is_found(text: str) -> None:
    assert credential_in(text)
    assert credential_in(json.dumps({"error": text}))


@pytest.mark.parametrize(
    "text",
    [
        "https://user@example.com/",
        "https://mcp.example.com:8443/mcp",
        "password: required",
        "the parameter client_secret=<redacted> is not expected",
        "password=required",
        "http://127.0.0.1:8000/.well-known/oauth-protected-resource",
    ],
)
def test_what_only_speaks_of_credentials_is_none(text: str) -> None:
    assert credential_in(text) is None


def test_paths_and_libraries_are_a_remark() -> None:
    verdict = judged("no_trace_provoked", provoked("no such file: /srv/app/data.db"))
    assert isinstance(verdict, Pass)
    assert verdict.advice
    assert internals_in("jwt.exceptions.DecodeError")


def test_it_is_said_which_runtime_shows_itself_and_what_was_sent() -> None:
    verdict = judged("no_trace_provoked", provoked(TRACES["Go"], 200))
    assert isinstance(verdict, Fail)
    assert verdict.observed == "a stack trace of Go in 200 to malformed JSON"


@pytest.mark.parametrize("name", ["no_trace_provoked", "no_credential_provoked"])
def test_no_answer_gives_nothing_away_and_proves_nothing(name: str) -> None:
    lost = answer(None, failure=TransportFailure.RESET)
    assert isinstance(judged(name, ErrorObserved("a body of 5 MiB", lost, large=True)), NotApplicable)
    assert isinstance(judged(name, ErrorObserved("malformed JSON", lost)), Inconclusive)
