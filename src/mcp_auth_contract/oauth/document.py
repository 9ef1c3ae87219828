"""Strict reading of a JSON document: what lenient parsers forgive is noted (RFC 8259)."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 100

_MAX_DIGITS = 1000
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A JSON object, and what is odd about its text.

    `value` is None unless the body is one JSON object. A fault is a short phrase in printable ASCII: "not
    JSON", "not a JSON object", "not UTF-8", "byte order mark", "duplicate member 'resource'", "nested
    deeper than 100 levels". After "not JSON" a second phrase may name the cause. Of a duplicate member the
    last value is kept.
    """

    value: Mapping[str, Any] | None = None
    faults: tuple[str, ...] = ()


def read_json_object(body: bytes | str) -> JsonDocument:
    """Read a body that should be one JSON object. Never raises, whatever the body.

    A number too large to hold is read as null, an unpaired surrogate as "?"; both are faults.
    """
    reading = _Reading()
    text = reading.decode(body)
    value = None if text is None else reading.parse(text)
    return JsonDocument(value, tuple(dict.fromkeys(reading.faults)))


class _LiteralError(ValueError):
    """A literal that Python's parser takes and JSON does not have."""


class _Reading:
    """The faults of one document, collected while it is read."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def decode(self, body: bytes | str) -> str | None:
        if isinstance(body, bytes):
            try:
                body = body.decode("utf-8")
            except UnicodeDecodeError:
                self.faults.append("not UTF-8")
                return None
        if body.startswith("\ufeff"):
            self.faults.append("byte order mark")
        return body.removeprefix("\ufeff")

    def parse(self, text: str) -> Mapping[str, Any] | None:
        # The parser recurses, so depth is counted before it sees the text.
        if _is_too_deep(text):
            self.faults.append(f"nested deeper than {MAX_DEPTH} levels")
            return None
        try:
            value = json.loads(
                text,
                object_pairs_hook=self._object,
                parse_constant=self._constant,
                parse_float=self._float,
                parse_int=self._int,
            )
        except _LiteralError as literal:
            self.faults += ["not JSON", str(literal)]
            return None
        except json.JSONDecodeError:
            self.faults += ["not JSON"] if text.strip() else ["not JSON", "an empty body"]
            return None
        if not isinstance(value, dict):
            self.faults.append("not a JSON object")
            return None
        return self._without_surrogates(value) if _SURROGATE.search(text) else value

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    self.faults.append(f"duplicate member {name[:60]!a}")
                seen.add(name)
        return members

    def _constant(self, literal: str) -> None:
        raise _LiteralError(f"{literal} is not a JSON number")

    def _float(self, digits: str) -> float | None:
        number = float(digits)
        if math.isinf(number):
            self.faults.append("a number out of range")
            return None
        return number

    def _int(self, digits: str) -> int | None:
        # Python refuses to convert more than 4300 digits, a limit that the environment can change.
        if len(digits) > _MAX_DIGITS:
            self.faults.append(f"a number of more than {_MAX_DIGITS} digits")
            return None
        return int(digits)

    def _without_surrogates(self, value: dict[str, Any]) -> dict[str, Any]:
        encoded = json.dumps(value, ensure_ascii=False)
        try:
            encoded.encode("utf-8")
        except UnicodeEncodeError:
            self.faults.append("an unpaired surrogate")
            cleaned: dict[str, Any] = json.loads(encoded.encode("utf-8", "replace"))
            return cleaned
        return value


def _is_too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for found in _STRUCTURE.finditer(text):
        match found.group()[0]:
            case "[" | "{":
                depth += 1
                if depth > MAX_DEPTH:
                    return True
            case "]" | "}":
                depth -= 1
            case _:
                pass
    return False
