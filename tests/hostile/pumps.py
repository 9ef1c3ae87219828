"""Texts by which a pattern can be made to work hard, derived from the pattern itself, and a measure of its work."""

import ast
import functools
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_auth_contract

__all__ = ["KNOWN_PUMPS", "Site", "demand_linear", "patterns", "texts_for"]

_PARSER: Any = importlib.import_module("re._parser")
_ALPHABET = "aAnz09_-.~+/=%:;,@#$&?!'\"\\<>()[]{}|*^ \t\r\n\x00\x7fé\u2028"
_SEARCHING = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
_LONGEST_PUMP = 80

KNOWN_PUMPS = (
    "eyJ",
    "eyJhbGciOiJSUzI1NiJ9.",
    "eyJ.aaaa",
    "jwt.",
    "authorization: x",
    "authorization: ",
    '"authorization":"',
    "cookie=a;",
    "x",
    "%",
    "%25",
    "%65",
    "&#101;",
    "&amp;",
    "\\u0065",
    "\\",
    "\\n",
    "\n",
    "\r\n",
    " ",
    "\nat ",
    "\\nat x",
    "/app/x",
    "C:\\x",
    'File "',
    '"',
    '"d":"',
    "'",
    "a#",
    "#0123abcd",
    "<redacted>",
    "0",
    "101,",
    "AE",
    "YWFh",
    "A",
    "[",
    "{",
    "[]",
    '{"a":',
    "data: x\n",
    "data: {}\n\n",
    ": x\n\n",
    "Bearer ",
    "Bearer a=b, ",
    'a="b" ',
    "a='",
    "a=[",
    "scope=a,b,",
    "é",
    "\ud800",
)
"""Pieces that made something slow once, and what stands in the languages that servers write."""


@dataclass(frozen=True)
class Site:
    """A pattern, where it stands, and whether it is searched for or only tried at one place."""

    where: str
    pattern: re.Pattern[Any]
    searched: bool

    def work(self, text: str) -> None:
        """Use it as the code does, and in every other way that the code may."""
        given: Any = text if isinstance(self.pattern.pattern, str) else text.encode("utf-8", "surrogatepass")
        self.pattern.match(given)
        self.pattern.fullmatch(given)
        if self.searched:
            for _ in self.pattern.finditer(given):
                pass


def patterns() -> list[Site]:
    """Every pattern of the package: compiled ones in its modules, and those written at a call of `re`."""
    found: dict[tuple[str, Any, int], Site] = {}
    for module in _modules():
        tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
        tried = _only_tried(tree)
        sites = [*_compiled(module), *_inline(module.__name__, tree)]
        for name, pattern, searched in sites:
            site = Site(f"{module.__name__}.{name}", pattern, searched=searched and name not in tried)
            key = (module.__name__, pattern.pattern, pattern.flags)
            if key not in found or site.searched:
                found[key] = site
    return list(found.values())


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(mcp_auth_contract.__path__, "mcp_auth_contract."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _compiled(module: Any) -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    def within(value: Any, depth: int = 4) -> Iterator[re.Pattern[Any]]:
        if isinstance(value, re.Pattern):
            yield value
        elif depth and isinstance(value, (tuple, list, set, frozenset)):
            for one in value:
                yield from within(one, depth - 1)
        elif depth and isinstance(value, dict):
            for one in (*value, *value.values()):
                yield from within(one, depth - 1)
        elif depth and isinstance(value, type) and value.__module__ == module.__name__:
            for one in vars(value).values():
                yield from within(one, depth - 1)

    for name, value in vars(module).items():
        for pattern in within(value):
            yield name, pattern, True


def _inline(name: str, tree: ast.AST) -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of, first = node.func.value, node.args[0]
            if isinstance(of, ast.Name) and of.id == "re" and isinstance(first, ast.Constant):
                if node.func.attr == "compile":
                    continue  # found by its value, or made anew at each call
                yield f"line {node.lineno}", re.compile(first.value), node.func.attr in _SEARCHING


def _only_tried(tree: ast.AST) -> frozenset[str]:
    """Names whose every use is `.match` or `.fullmatch`, which begin at one place."""
    uses: dict[str, set[str]] = {}
    direct: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            uses.setdefault(node.value.id, set()).add(node.attr)
            direct.add(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_take":
            direct.update(node.args)  # a reader's own match at its position
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in direct:
            uses.setdefault(node.id, set()).add("handed on")
    return frozenset(name for name, ways in uses.items() if ways <= {"match", "fullmatch", "pattern"})


def texts_for(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], str]]:
    """Makers of texts of a size that repeat what the pattern looks for, or almost, and end as it does not want."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~(re.UNICODE if isinstance(pattern.pattern, bytes) else 0)
    pumps = [one for one in dict.fromkeys(_pieces(_PARSER.parse(source, flags))) if len(one) <= _LONGEST_PUMP]
    for pump in pumps:
        for head in ("", *sorted(pumps, key=len)[-1:]):
            for end in ("", "\x00!\n"):
                yield functools.partial(_pumped, head, pump, end)


def _pumped(head: str, pump: str, end: str, size: int) -> str:
    return head + pump * (size // len(pump)) + end


def _pieces(tree: Any) -> list[str]:
    """Samples of each part of a pattern, alone and joined to what follows it."""
    found: list[str] = []
    _sample(tree, found)
    return found[:400]


def _sample(tree: Any, found: list[str], pick: int = 0) -> str:
    parts = [_one(op, argument, found) for op, argument in tree]
    for start in range(len(parts)):
        joined = ""
        for part in parts[start:]:
            joined += part
            if joined:
                found.append(joined)
    return "".join(parts)


def _one(op: Any, argument: Any, found: list[str]) -> str:
    match str(op):
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        case "ANY":
            return "a"
        case "IN":
            members = [one for one in _ALPHABET if _in(argument, one)] or ["\ud800"]
            found.extend(members)
            return members[0]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, _, inner = argument
            one = _sample(inner, found)
            found.append(one * 3)
            return one * min(max(low, 1), 40)
        case "SUBPATTERN":
            return _sample(argument[3], found)
        case "ATOMIC_GROUP":
            return _sample(argument, found)
        case "BRANCH":
            first, *_ = [_sample(branch, found) for branch in argument[1]]
            return first
        case "ASSERT" | "ASSERT_NOT":
            _sample(argument[1], found)
            return ""
        case _:
            return ""


def _in(members: Any, one: str) -> bool:
    code, negated, inside = ord(one), False, False
    for op, argument in members:
        match str(op):
            case "NEGATE":
                negated = True
            case "LITERAL":
                inside |= code == argument
            case "RANGE":
                inside |= argument[0] <= code <= argument[1]
            case "CATEGORY":
                kind = str(argument).rpartition("_")[2].lower()
                held = {"digit": one.isdigit(), "space": one.isspace(), "word": one.isalnum() or one == "_"}[kind]
                inside |= held is not ("NOT" in str(argument))
    return inside is not negated


_SIZES = (250, 1000, 4000, 16_000)
_NEGLIGIBLE_S = 0.1
_SHORTEST_S = 2e-5
_MARGIN = 4


def demand_linear(work: Callable[[str], object], text_of: Callable[[int], str], what: str) -> None:
    """Fail where 64 times the text takes more than 256 times the work; quadratic work takes 4096 times.

    Time is the process's own, and what stays negligible is not judged, so a busy machine makes no difference.
    """
    first = max(_time(work, text_of(_SIZES[0])), _SHORTEST_S)
    for size in _SIZES[1:]:
        text, most = text_of(size), first * _MARGIN * size / _SIZES[0]
        taken = _time(work, text)
        if taken > max(_NEGLIGIBLE_S, most):
            # Measured again, since a collection may have fallen into it.
            taken = min(taken, _time(work, text))
            assert taken < max(_NEGLIGIBLE_S, most), f"{what}: {size} characters take {taken:.2f} s: {text[:60]!r}…"


def _time(work: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    work(text)
    return time.process_time() - begun
