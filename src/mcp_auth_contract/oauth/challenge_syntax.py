"""Reading the challenge list of RFC 9110 §11.6.1: strict about faults, lenient about what it still reads."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class FaultKind(StrEnum):
    """What can be wrong with a WWW-Authenticate field."""

    SYNTAX = "syntax"
    UNQUOTED = "value needs quotes"
    DUPLICATE = "parameter given twice"
    SINGLE_QUOTES = "single quotes"
    MISSING_COMMA = "missing comma"
    UNTERMINATED = "quotation not closed"
    CONTROL = "control character"
    NON_ASCII = "character outside ASCII"
    EMPTY = "empty field line"
    UNQUOTED_REALM = "realm without quotes"  # RFC 9110 §11.5 binds senders only; every parser reads it
    CHARACTERS = "character outside RFC 6750"
    EMPTY_SCOPE = "empty scope"
    SCOPE_FORM = "scope not separated by spaces"

    @property
    def is_syntax(self) -> bool:
        """Whether RFC 9110 forbids it. The other kinds concern senders of `realm`, or RFC 6750 §3."""
        return self not in _BEYOND_SYNTAX


_BEYOND_SYNTAX = {FaultKind.UNQUOTED_REALM, FaultKind.CHARACTERS, FaultKind.EMPTY_SCOPE, FaultKind.SCOPE_FORM}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, in printable ASCII. `scheme` is that of its challenge, as sent; None outside any."""

    kind: FaultKind
    detail: str
    scheme: str | None = None


@dataclass(slots=True)
class RawChallenge:
    """A challenge under construction. `scheme` is empty where parameters came without one."""

    scheme: str
    token68: str | None = None
    params: list[tuple[str, str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]++")

# Control characters count as white space between elements, so that what follows can still be read.
_WS = r"[\x00-\x20\x7f]"
_SEPARATOR = re.compile(r"[\x00-\x20\x7f,;]*+")
_GAP = re.compile(rf"{_WS}*+")
_EQUALS = re.compile(rf"{_WS}*+={_WS}*+")
_NAME_AHEAD = re.compile(rf"{TOKEN.pattern}{_WS}*+=")
_TOKEN68 = re.compile(rf"([A-Za-z0-9\-._~+/]++=*+)(?={_WS}*+(?:,|$))")
_QUOTED = re.compile(r'"((?:[^"\\]++|\\.)*+)("?)', re.DOTALL)
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)
_END = rf"(?={_WS}|[,;]|$)"
_SINGLE_QUOTED = re.compile(rf"'([^']*+)'{_END}")
_ARRAY = re.compile(rf"\[[^\[\]]*+\]{_END}")
_WORD = re.compile(rf"(?:[^\x00-\x20\x7f,;]++|;(?!{_WS}|$))++")
_LISTED = re.compile(rf",({TOKEN.pattern})(?=,|$)")
_TO_COMMA = re.compile(r"[^,]*+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")

# The IANA registry of schemes, and NTLM. Used only to tell `scope=read,write` from two challenges.
_KNOWN_SCHEME = re.compile(
    r"basic|bearer|concealed|digest|dpop|gnap|hoba|mutual|negotiate|ntlm|oauth|privatetoken|scram-sha-(1|256)|vapid",
    re.IGNORECASE,
)


class _Last(StrEnum):
    """What the element before the current one was."""

    NOTHING = "nothing"
    SCHEME = "scheme"
    TOKEN68 = "token68"
    PARAM = "parameter"
    SKIPPED = "skipped"


def shown(text: str) -> str:
    """Quote a piece of foreign text for a message: printable ASCII, at most 60 characters of it."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


def read_lines(lines: Iterable[str]) -> tuple[list[RawChallenge], list[Fault]]:
    """Read the field lines in order as one list (RFC 9110 §5.3). Total: never raises, in linear time.

    An unclosed quotation ends with its line. A line that starts with a parameter continues the challenge
    before it.
    """
    reader = _Reader()
    for line in lines:
        reader.read(line)
    return reader.challenges, reader.faults


class _Reader:
    """One pass over the lines. `position` only ever grows within a line."""

    def __init__(self) -> None:
        self.challenges: list[RawChallenge] = []
        self.faults: list[Fault] = []
        self.text = ""
        self.position = 0
        self.last = _Last.NOTHING

    def read(self, line: str) -> None:
        self.text, self.position = line, 0
        self._scan_characters()
        first = True
        while True:
            separator = self._take(_SEPARATOR)
            if self.position >= len(self.text):
                if ";" in separator:
                    self._fault(FaultKind.SYNTAX, "';' at the end of the field line")
                break
            self._read_element(separator, starts_line=first)
            first = False
        if first:
            self._fault(FaultKind.EMPTY, "a field line without a challenge")

    def _scan_characters(self) -> None:
        scheme = self.challenges[-1].scheme if self.challenges else None
        for pattern, kind in ((_CONTROL, FaultKind.CONTROL), (_NON_ASCII, FaultKind.NON_ASCII)):
            if found := pattern.search(self.text):
                where = f"U+{ord(found.group()):04X} at position {found.start()}"
                self.faults.append(Fault(kind, where, scheme))

    def _read_element(self, separator: str, *, starts_line: bool) -> None:
        name = TOKEN.match(self.text, self.position)
        if name is None:
            self._skip("expected a scheme or a parameter")
            return
        is_param = _EQUALS.match(self.text, name.end()) is not None
        if ";" in separator:
            self._fault(FaultKind.MISSING_COMMA, f"';' stands where ',' belongs before {shown(name.group())}")
        elif "," not in separator and not starts_line and not (is_param and self.last is _Last.SCHEME):
            self._fault(FaultKind.MISSING_COMMA, f"no ',' before {shown(name.group())}")
        if is_param:
            if self.last is _Last.SCHEME and (starts_line or separator.startswith(",")):
                self._fault(FaultKind.SYNTAX, f"a comma directly after the scheme {self._scheme}")
            self._read_param(name.group().lower())
        else:
            self._read_scheme(name)

    def _read_param(self, name: str) -> None:
        if not self.challenges:
            self._fault(FaultKind.SYNTAX, f"the parameter {shown(name)} comes before any scheme")
            self.challenges.append(RawChallenge(""))
        current = self.challenges[-1]
        if current.token68 is not None:
            self._fault(FaultKind.SYNTAX, f"the parameter {shown(name)} follows a token68")
        if name in current.names:
            self._fault(FaultKind.DUPLICATE, f"{shown(name)} is given more than once")
        self._take(TOKEN)
        self._take(_EQUALS)
        self.last = _Last.PARAM
        value = self._read_value(name)
        current.names.add(name)
        current.params.append((name, value))

    def _read_value(self, name: str) -> str:
        start = self.text[self.position : self.position + 1]
        if quoted := _QUOTED.match(self.text, self.position):
            return self._decode_quoted(name, quoted)
        if start == "'" and (single := _SINGLE_QUOTED.match(self.text, self.position)):
            self.position = single.end()
            self._fault(FaultKind.SINGLE_QUOTES, f"{shown(name)} is quoted by ' instead of \"")
            return single.group(1)
        if start in ("", ",", ";"):
            self._fault(FaultKind.SYNTAX, f"{shown(name)} has no value")
            return ""
        return self._read_unquoted(name)

    def _decode_quoted(self, name: str, quoted: re.Match[str]) -> str:
        self.position = quoted.end()
        if not quoted.group(2):
            self.position = len(self.text)
            self._fault(FaultKind.UNTERMINATED, f"the value of {shown(name)} has no closing quotation mark")
        return _QUOTED_PAIR.sub(r"\1", quoted.group(1))

    def _read_unquoted(self, name: str) -> str:
        start = self.position
        if array := _ARRAY.match(self.text, start):
            self.position = array.end()
        else:
            self._take(_WORD)
            self._take_further_words()
            if name == "scope":
                self._take_listed_scopes()
        value = self.text[start : self.position]
        if TOKEN.fullmatch(value) is None:
            self._fault(FaultKind.UNQUOTED, f"the value of {shown(name)} is no token: {shown(value)}")
        elif name == "realm":
            self._fault(FaultKind.UNQUOTED_REALM, f"the value {shown(value)} should be a quoted string")
        return value

    def _take_further_words(self) -> None:
        """Take the words of an unquoted `scope=a b` too, up to what is a parameter of its own."""
        while True:
            gap = _GAP.match(self.text, self.position)
            after = gap.end() if gap else self.position
            if after == self.position or _NAME_AHEAD.match(self.text, after):
                return
            word = _WORD.match(self.text, after)
            if word is None:
                return
            self.position = word.end()

    def _take_listed_scopes(self) -> None:
        """Take all of an unquoted `scope=a,b`, though `b` could be a scheme that nobody has registered."""
        while listed := _LISTED.match(self.text, self.position):
            if _KNOWN_SCHEME.fullmatch(listed.group(1)):
                return
            self.position = listed.end()

    def _read_scheme(self, name: re.Match[str]) -> None:
        self.position = name.end()
        following = self.text[self.position : self.position + 1]
        if following and following != "," and not _GAP.fullmatch(following):
            opens = not self.challenges and following in ":;"
            if opens:
                self.challenges.append(RawChallenge(name.group()))
                self.position += 1
                self.last = _Last.SCHEME
                self._fault(FaultKind.SYNTAX, f"{following!r} after the scheme {shown(name.group())}")
            else:
                self.position = name.start()
                self._skip("expected a scheme or a parameter")
            return
        self.challenges.append(RawChallenge(name.group()))
        self.last = _Last.SCHEME
        self._read_token68()

    def _read_token68(self) -> None:
        gap = _GAP.match(self.text, self.position)
        after = gap.end() if gap else self.position
        if "\t" in self.text[self.position : after] and self.text[after : after + 1] not in ("", ","):
            self._fault(FaultKind.SYNTAX, f"a tab after the scheme {self._scheme} instead of a space")
        found = _TOKEN68.match(self.text, after)
        if found is None or after == self.position:
            return
        current = self.challenges[-1]
        if current.scheme.lower() == "bearer":
            if "=" in found.group(1):
                return  # `Bearer scope=`: a parameter without a value, since this scheme has no token68
            self._fault(FaultKind.SYNTAX, f"Bearer takes parameters, not {shown(found.group(1))}")
        self.position = found.end()
        current.token68 = found.group(1)
        self.last = _Last.TOKEN68

    def _skip(self, expected: str) -> None:
        skipped = self._take(_TO_COMMA)
        self._fault(FaultKind.SYNTAX, f"{expected}, found {shown(skipped)}")
        self.last = _Last.SKIPPED

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.position)
        if found is None:
            return ""
        self.position = found.end()
        return found.group()

    @property
    def _scheme(self) -> str:
        return shown(self.challenges[-1].scheme)

    def _fault(self, kind: FaultKind, detail: str) -> None:
        self.faults.append(Fault(kind, detail, self.challenges[-1].scheme if self.challenges else None))
