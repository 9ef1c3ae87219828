"""WWW-Authenticate as a client reads it: challenges, their values, and every fault of their form."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mcp_auth_contract.oauth.challenge_syntax import Fault, FaultKind, read_lines, shown


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge (RFC 9110 §11.3).

    `scheme` is as sent, and empty where parameters came without a scheme. Parameter names are in lower
    case, values are decoded, and a repeated parameter keeps each of its values.
    """

    scheme: str
    token68: str | None = None
    params: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        """Return the first value of a parameter, or None. Names compare without case."""
        wanted = name.lower()
        return next((value for key, value in self.params if key == wanted), None)

    @property
    def is_bearer(self) -> bool:
        """Whether the scheme is Bearer, in any case."""
        return self.scheme.lower() == "bearer"


@dataclass(frozen=True, slots=True)
class Challenges:
    """All challenges of one answer in order, and what is wrong with the field `lines` that carried them."""

    challenges: tuple[Challenge, ...] = ()
    faults: tuple[Fault, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def bearer(self) -> Challenge | None:
        """The first Bearer challenge that has parameters, else the first Bearer challenge, else None."""
        bearers = [one for one in self.challenges if one.is_bearer]
        return next((one for one in bearers if one.params), bearers[0] if bearers else None)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme of each challenge in lower case, in order."""
        return tuple(one.scheme.lower() for one in self.challenges)

    def get(self, name: str) -> str | None:
        """Return the first value of a parameter in any challenge (RFC 9728 §5.1), or None."""
        return _first(self.challenges, name)

    def of_bearer(self, name: str) -> str | None:
        """Return its first value in any Bearer challenge, or None: gateways add a second one of their own."""
        return _first((one for one in self.challenges if one.is_bearer), name)


def _first(challenges: Iterable[Challenge], name: str) -> str | None:
    values = (one.get(name) for one in challenges)
    return next((value for value in values if value is not None), None)


def parse_challenges(lines: Sequence[str]) -> Challenges:
    """Read the lines of a WWW-Authenticate field, or the strings of a tool result's `mcp/www_authenticate`.

    Reads any text in linear time and never raises. What breaks a rule is in `faults`; the values are then
    those which a lenient client would read.
    """
    return _parsed((lines,) if isinstance(lines, str) else tuple(lines))


@lru_cache(maxsize=256)
def _parsed(kept: tuple[str, ...]) -> Challenges:
    """Read the lines; a server says the same again and again."""
    raw, faults = read_lines(kept)
    challenges = tuple(Challenge(one.scheme, one.token68, tuple(one.params)) for one in raw)
    for challenge in challenges:
        faults.extend(_value_faults(challenge))
    return Challenges(challenges, tuple(faults), kept)


def scopes_of(value: str) -> frozenset[str]:
    """Split a scope value at its spaces (RFC 6749 §3.3)."""
    return frozenset(value.split(" ")) - {""}


# RFC 6750 §3 as repeated by OAuth 2.1; RFC 9449 §7.1 takes over the same parameters.
_OAUTH_SCHEMES = frozenset({"bearer", "dpop"})
_ALIEN = {
    "error": re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]"),
    "error_description": re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]"),
    "error_uri": re.compile(r"[^\x21\x23-\x5b\x5d-\x7e]"),
    "scope": re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]"),
}
_PLAIN_SCOPE = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*+(?:[.:/][A-Za-z0-9_*\-]++)*+")


def _value_faults(challenge: Challenge) -> Iterable[Fault]:
    if challenge.scheme.lower() not in _OAUTH_SCHEMES:
        return
    for name, value in challenge.params:
        alien = _ALIEN[name].search(value) if name in _ALIEN else None
        if alien is not None:
            detail = f"{name} has U+{ord(alien.group()):04X} at position {alien.start()}"
            yield Fault(FaultKind.CHARACTERS, detail, challenge.scheme)
        if name != "scope":
            continue
        if not value.strip():
            yield Fault(FaultKind.EMPTY_SCOPE, "scope is empty", challenge.scheme)
        elif _is_wrong_list(value):
            yield Fault(FaultKind.SCOPE_FORM, f"the scopes {shown(value)}", challenge.scheme)


def _is_wrong_list(scope: str) -> bool:
    """Tell "read,write" and '["read"]' from a legal scope that contains a comma, such as "rating=G,PG-13"."""
    if scope.lstrip().startswith(("[", "{")):
        return True
    words = scope.split()
    if any(word.startswith(",") or word.endswith(",") for word in words):
        return True
    return any(_is_comma_list(word) for word in words if "," in word)


def _is_comma_list(word: str) -> bool:
    parts = word.split(",")
    if any(_PLAIN_SCOPE.fullmatch(part) is None for part in parts):
        return False
    structured = [any(mark in part for mark in ".:/") for part in parts]
    return all(structured) or not any(structured)
