"""Keeping secrets out of everything that is written down."""

import hashlib
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from mcp_auth_contract.wire.spellings import KEY, SHORTEST, base64_tails, spellings
from mcp_auth_contract.wire.windows import Windows

REDACTED = "<redacted>"
REDACTED_JWT = "<redacted JWT>"

# Texts up to this length, field values above all, come again and again.
_OFTEN = 200

_RUN = re.compile(rf"[A-Za-z0-9\-._~+/=%]{{{KEY},}}")
_PART_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
# Whole runs of parts, so that no character is looked at from more than one beginning.
_PARTS = re.compile(r"[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]*+)*+")
_SHORTEST_PART = 4
_OF_THE_SERVER = "environment:"

_CREDENTIAL_FIELDS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_SCHEMES = frozenset({"basic", "bearer", "digest", "dpop", "jwt", "negotiate", "token"})
_FIELD_NAMES = r"(?:(?:proxy-)?authorization|(?:set-)?cookie)"
_FIELD_IN_TEXT = re.compile(
    rf"""(?ix)
    (?P<lead>
      (?P<quote>\\?["']) {_FIELD_NAMES} (?P=quote) \s* [:,=] \s* b? (?P=quote)  # a JSON member, a pair of strings
    | (?<![\w-]) {_FIELD_NAMES} [ \t]* [:=] [ \t]*                              # a header line
    )
    (?P<value> [^"'\\\r\n,<>{{}}\[\]]+ )
    """
)
# A key set that gives private members away (RFC 7518 §6) must not give them away once more in a report.
_PRIVATE_MEMBER = re.compile(r'("(?:d|p|q|dp|dq|qi|k)"\s*:\s*")[A-Za-z0-9_-]{16,}+(?=")')
_LABEL = re.compile(r"(<redacted(?: JWT)?>|(?<![^\s\"',;=#%])[^\s\"',;=#%]++\#[0-9a-f]{8})")
_NUMBER = re.compile(r"(?:0[xX])?[0-9A-Fa-f]{2,3}")
_COOKIE_NAME = re.compile(r"[\w.-]{1,40}=")


@dataclass(frozen=True, slots=True)
class _Needle:
    """A text that gives a secret away. `rest`: what stands before and after it belongs to the secret too."""

    text: str
    label: str
    rest: bool = False


class Redactor:
    """The secrets of one run, and their removal from text. Safe to use from several threads.

    A registered secret is found wherever it occurs: as it is, percent-encoded, escaped as in JSON or HTML, inside
    Base64 (as in Basic credentials), and, of a JWT, also its payload or its signature alone. Pieces of
    what looks random in it, a signature above all, are found in any form that `Windows` reads. What only looks like a
    JWT, and the values of Authorization, Proxy-Authorization, Cookie and Set-Cookie, are replaced by a generic mark.
    """

    __slots__ = ("_index", "_known", "_labels", "_lock", "_longest", "_odd", "_shown", "_windows")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._labels: dict[str, str] = {}
        self._shown: set[str] = {REDACTED, REDACTED_JWT}
        # By their last characters, since tokens begin alike and end differently.
        self._index: dict[str, tuple[_Needle, ...]] = {}
        self._odd: tuple[_Needle, ...] = ()
        self._windows = Windows()
        self._longest = 0
        self._known: dict[str, str] = {}

    @property
    def longest(self) -> int:
        """The most characters that a registered secret takes in a text."""
        return self._longest

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._labels)} secrets>"

    def register(self, secret: str, name: str) -> str:
        """Register a secret and return its label: the name and 8 hex digits of its SHA-256, as in "expired#3f9a1c2e".

        The first label of a secret stays. Secrets shorter than 8 characters are not searched for in text.
        """
        return self._labels.get(secret) or self._add(secret, f"{name}#{short_hash(secret)}")

    def hide(self, secret: str) -> None:
        """Register a secret that needs no label of its own; it is shown as `<redacted>`."""
        self._add(secret, REDACTED)

    def hide_of_server(self, secret: str, name: str) -> None:
        """Register a secret that the server was given, shown under the name by which it was given.

        It is nobody's token, so that `labels_in` leaves it out.
        """
        self._add(secret, f"{_OF_THE_SERVER}{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}#{short_hash(secret)}")

    @property
    def of_server(self) -> frozenset[str]:
        """The labels of the secrets that the server was given, as they stand in redacted texts."""
        return frozenset(label for label in self._shown if label.startswith(_OF_THE_SERVER))

    def label_of(self, secret: str) -> str | None:
        """Return the label of a registered secret, or None."""
        return self._labels.get(secret)

    def holds_secret(self, text: str) -> bool:
        """Tell whether a registered secret occurs in the text, in any of the forms that `redact` finds."""
        if any(needle.text in text for needle in self._odd):
            return True
        runs = (found.group() for found in _RUN.finditer(text))
        return any(next(self._spans(run), None) is not None for run in runs) or bool(self._windows.spans(text))

    def labels_in(self, text: str) -> frozenset[str]:
        """Return the labels of the registered secrets that occur in the text, in any of the forms that `redact` finds.

        A secret that is only hidden has no label of its own and is left out, and so is one of the server's own.
        """
        found = {needle.label for needle in self._odd if needle.text in text}
        found |= {label for run in _RUN.finditer(text) for _, _, label in self._spans(run.group())}
        found |= {span.label for span in self._windows.spans(text)}
        return frozenset(found - {REDACTED, REDACTED_JWT} - self.of_server)

    def labels_named(self, texts: Iterable[str]) -> frozenset[str]:
        """Return the labels that stand in redacted texts."""
        return frozenset(part for text in texts for part in _LABEL.findall(text) if part in self._shown)

    def redact(self, text: str) -> str:
        """Return the text without secrets. JSON stays JSON."""
        if len(text) < SHORTEST:
            return text
        if len(text) > _OFTEN:
            return self._without_secrets(text)
        # A later secret replaces the memory, so that what is written into an old one is never read.
        known = self._known
        if text not in known:
            known[text] = self._without_secrets(text)
        return known[text]

    def _without_secrets(self, text: str) -> str:
        for needle in self._odd:
            if needle.text in text:
                text = text.replace(needle.text, needle.label)
        if "eyJ" in text:
            text = _PARTS.sub(self._jwt_mark, text)
        if self._index:
            text = _RUN.sub(self._run_mark, text)
            text = self._without_windows(text)
        if '"' in text:
            text = _PRIVATE_MEMBER.sub(rf"\1{REDACTED}", text)
        # Most texts name none of these fields, and the patterns of the others cost more than a look.
        low = text.lower()
        if "author" not in low and "cook" not in low:
            return text
        return _FIELD_IN_TEXT.sub(lambda found: found["lead"] + self._mark_credentials(found["value"]), text)

    def redact_header(self, name: str, value: str) -> str:
        """Return a header field's value without secrets.

        Of credentials only the scheme and labels are left. A session id is shown as "session#" and 8 hex digits.
        """
        field = name.lower()
        if field == "mcp-session-id":
            return f"session#{short_hash(value)}" if value else ""
        redacted = self.redact(value)
        return self._mark_credentials(redacted) if field in _CREDENTIAL_FIELDS else redacted

    def _add(self, secret: str, label: str) -> str:
        with self._lock:
            known = self._labels.get(secret)
            if known is not None:
                return known
            if len(secret) >= SHORTEST:
                self._shown.add(label)
                forms = spellings(secret)
                # Base64 takes a third more, and a user name may stand before the secret.
                self._longest = max(self._longest, 2 * len(secret), *map(len, forms))
                for text in forms:
                    self._enter(_Needle(text, label))
                for text in base64_tails(secret):
                    self._enter(_Needle(text, label, rest=True))
                self._windows.add(secret, label)
                self._known = {}
            self._labels[secret] = label
        return label

    def _enter(self, needle: _Needle) -> None:
        if _RUN.fullmatch(needle.text):
            key = needle.text[-KEY:]
            self._index[key] = _longest_first(*self._index.get(key, ()), needle)
        else:
            self._odd = _longest_first(*self._odd, needle)

    def _jwt_mark(self, found: re.Match[str]) -> str:
        run = found.group()
        start = _beginning_of_jwt(run)
        if start is None:
            return run
        token = run[start:]
        label = self._labels.get(token)
        if label is None:
            # A token with something before or after it is left to the search by parts.
            label = token if next(self._spans(token), None) is not None else REDACTED_JWT
        return run[:start] + label

    def _run_mark(self, found: re.Match[str]) -> str:
        # The letters of an escape before it stay, lest a lone backslash is left; what follows is hidden all the same.
        run = found.group()
        begun = found.start()
        while begun and found.string[begun - 1] == "\\":
            begun -= 1
        escaped = (found.start() - begun) % 2 == 1 and run[0] in "bfnrtu/"
        kept = 0 if not escaped else 5 if run[0] == "u" else 1
        parts: list[str] = []
        done = 0
        for start, end, label in self._spans(run):
            parts += [run[done : max(start, kept)], label]
            done = end
        return "".join(parts) + run[done:]

    def _without_windows(self, text: str) -> str:
        spans = self._windows.spans(text)
        if not spans:
            return text
        parts: list[str] = []
        done = 0
        for start, end, label, numbers in spans:
            # A list of numbers may stand outside of any string, where JSON has no place for a label.
            parts += (text[done:start], _NUMBER.sub("0", text[start:end]) if numbers else label)
            done = end
        return "".join(parts) + text[done:]

    def _spans(self, run: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and label of each secret in a run of token characters, left to right."""
        index = self._index
        done = 0
        for end in range(KEY, len(run) + 1):
            needles = index.get(run[end - KEY : end])
            for needle in needles or ():
                start = end - len(needle.text)
                if start < done or not run.endswith(needle.text, 0, end):
                    continue
                if needle.rest:
                    yield done, len(run), needle.label
                    return
                yield _start_of_jwt(run, done, start), end, needle.label
                done = end
                break

    def _mark_credentials(self, value: str) -> str:
        parts = _LABEL.split(value)
        for at, part in enumerate(parts):
            if part in self._shown:
                continue
            before_label = at + 1 < len(parts) and parts[at + 1] in self._shown
            parts[at] = _mark_words(part, before_label=before_label)
        return "".join(parts)


def short_hash(secret: str) -> str:
    """Return the first 8 hex digits of the SHA-256 of a secret, by which reports tell secrets apart."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _longest_first(*needles: _Needle) -> tuple[_Needle, ...]:
    return tuple(sorted(needles, key=lambda needle: -len(needle.text)))


def _mark_words(text: str, *, before_label: bool) -> str:
    words = re.split(r"([\s;]+)", text)
    last = len(words) - 1
    for at in range(0, len(words), 2):
        word = words[at]
        names_cookie = before_label and at == last and _COOKIE_NAME.fullmatch(word)
        if word and word.lower() not in _SCHEMES and not names_cookie:
            words[at] = REDACTED
    return "".join(words)


def _start_of_jwt(run: str, done: int, start: int) -> int:
    """Move the start of a JWT's part back over the parts before it, so that one label stands for them all."""
    if start <= done or run[start - 1] != ".":
        return start
    second = _start_of_part(run, done, start - 1)
    first = _start_of_part(run, done, second - 1) if second > done and run[second - 1] == "." else second
    for begin, end in ((first, second - 1), (second, start - 1)):
        at = run.find("eyJ", begin, end) if second < start - 1 else -1
        if at >= 0:
            return at
    return start


def _start_of_part(run: str, done: int, end: int) -> int:
    return done + len(run[done:end].rstrip(_PART_CHARACTERS))


def _beginning_of_jwt(run: str) -> int | None:
    """Where the first JWT begins in a run of parts: at a part with "eyJ" in it and something of a part behind it."""
    at = 0
    parts = run.split(".")
    for part, following in pairwise(parts):
        found = part.find("eyJ")
        if found >= 0 and len(following) >= _SHORTEST_PART:
            return at + found
        at += len(part) + 1
    return None
