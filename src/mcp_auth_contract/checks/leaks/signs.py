"""By what an error gives the program behind it away: stack traces, files, names of libraries, credentials."""

import html
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_TRACES = (
    ("a stack trace", re.compile(r"Traceback \(most recent call last\)")),
    ("a stack trace", re.compile(r'File \\?"[^"\n]{1,200}\\?", line \d+')),
    # `at name (file:line`, or `at file:line`; every repetition is bounded, for a server may write anything.
    (
        "a stack trace",
        re.compile(r"(?:^|\n|\\n)[^\S\n]*+at (?=[\w.$<>/ ][^:\n)])[\w.$<>/ ]{1,120}+\(?(?:[^():\n]{0,200}+:){1,5}\d"),
    ),
    ("a stack trace of Java", re.compile(r"\((?:Unknown Source|Native Method)\)|Exception in thread \"")),
    ("a stack trace of Java", re.compile(r"Caused by: (?:[a-z]\w{0,40}\.){1,12}[A-Z]\w{0,80}(?:Exception|Error)\b")),
    ("a stack trace of .NET", re.compile(r"(?:^|\n|\\n)[^\S\n]*+at (?:System|Microsoft)\.[^\s(]{1,200}\(")),
    ("a stack trace of .NET", re.compile(r"--- End of (?:inner exception )?stack trace|\.cs:line \d")),
    ("a stack trace of Go", re.compile(r"goroutine \d+ \[|\.go:\d{1,6} \+0x[0-9a-f]")),
    ("a stack trace of Ruby", re.compile(r"\.rb:\d{1,6}:in [`'\"]")),
    ("a stack trace of PHP", re.compile(r"\.php(?:\(\d{1,6}\): | on line \d)|\bStack trace:\s{0,4}#0 ")),
    ("a stack trace of Rust", re.compile(r"\bpanicked at |\bstack backtrace:|\.rs:\d{1,6}:\d|/rustc/[0-9a-f]{8}")),
    ("a stack trace of Perl", re.compile(r"\.p[lm] line \d")),
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----")),
)
_INTERNALS = (
    ("a path of the server's files", re.compile(r"/(?:home|usr|opt|srv|var|root|app)/[\w.-]++/[\w.-]")),
    ("a path of the server's files", re.compile(r"\b[A-Z]:\\{1,2}(?:[\w .-]++\\{1,2})++[\w .-]*\.\w")),
    ("a name from a library", re.compile(r"\b(?:jwt|jose|authlib|cryptography|jsonwebtoken)\.[\w.]{0,100}\wError\b")),
)
_CREDENTIALS = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----")),
    ("a URL with a password", re.compile(r"://[^\s/:@\"'<>\\]{1,64}:[^\s/@\"'<>\\]{3,128}@[\w.\[-]")),
    ("an access key of AWS", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a token of GitHub", re.compile(r"\bgh[opsur]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{40}")),
    ("a token of GitLab", re.compile(r"\bglpat-[A-Za-z0-9_-]{20}")),
    ("a token of Slack", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10}")),
    ("an API key", re.compile(r"\b(?:sk|rk)[-_](?:live_|proj-|ant-)?[A-Za-z0-9_-]{20}|\bAIza[A-Za-z0-9_-]{35}")),
    (
        "a password",
        re.compile(
            r"(?i)(?:passw(?:or)?d|pwd|secret|api[-_]?key|access[-_]?key)=['\"]?(?=[^\s'\";&,]{0,64}\d)[^\s'\";&,<*]{6}"
        ),
    ),
)
_LINE_ENDS = re.compile(r"<br\s{0,3}/?>|</(?:p|li|div|pre|tr|td|h\d)>", re.IGNORECASE)
_TAGS = re.compile(r"<[a-zA-Z/!][^<>]{0,200}>")


def program_in(text: str) -> str | None:
    """Return what of a running program stands in a text: a stack trace, or a private key."""
    return _found(text, True)


def internals_in(text: str) -> str | None:
    """Return what a text says of how the server is made: paths, names of libraries."""
    return _found(text, False)


@lru_cache(maxsize=256)
def _found(text: str, program: bool) -> str | None:
    return _first(_TRACES if program else _INTERNALS, _readings(text))


def credential_in(text: str) -> str | None:
    """Return which kind of credential a text looks to hold."""
    return _first(_CREDENTIALS, _readings(text))


def _first(kinds: Iterable[tuple[str, re.Pattern[str]]], texts: Iterable[str]) -> str | None:
    read = tuple(texts)
    return next((what for what, pattern in kinds if any(map(pattern.search, read))), None)


def _readings(text: str) -> Iterator[str]:
    """Yield a text as it is, and as a person reads it: without the escapes of JSON and the markup of HTML."""
    yield text
    plain = text
    if "\\" in plain:
        plain = plain.replace("\\\\", "\\").replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t")
        plain = plain.replace('\\"', '"').replace("\\/", "/").replace("\\u003c", "<").replace("\\u003e", ">")
    if "&" in plain or "<" in plain:
        # What was escaped twice shows its marks only then.
        for _ in range(2):
            plain = html.unescape(_TAGS.sub("", _LINE_ENDS.sub("\n", plain))).replace("\xa0", " ")
    if plain != text:
        yield plain
