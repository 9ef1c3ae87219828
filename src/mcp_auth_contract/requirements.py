"""What the specifications require, from scenarios/requirements.toml, and what of it is not tested, and why."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.model import Level


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why something is not tested, or not all of it: a word for it, a sentence, and what it will be tested with."""

    reason: str
    note: str
    capability: str = ""

    @property
    def said(self) -> str:
        """The excuse in one line, as in `later (real providers): Redirect URIs …`."""
        with_what = f" ({self.capability})" if self.capability else ""
        return f"{self.reason}{with_what}: {self.note}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence of a specification. `excuse` tells what no check looks at."""

    id: str
    title: str
    level: Level
    party: str
    excuse: Excuse | None = None


@cache
def load_requirements() -> tuple[Requirement, ...]:
    """Return all requirements in the order of the file."""
    excuses = {one["id"]: _excuse(one) for one in _entries("not-tested.toml", "requirement")}
    return tuple(
        Requirement(one["id"], one["title"], Level(one["level"]), one["party"], excuses.get(one["id"]))
        for one in _entries("requirements.toml", "requirement")
    )


@cache
def load_untested_groups() -> Mapping[str, Excuse]:
    """Return the subjects that are left out as a whole, with why."""
    return {one["id"]: _excuse(one) for one in _entries("not-tested.toml", "group")}


def _entries(file: str, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((data_folder("scenarios") / file).read_text("utf-8"))[table]
    return found


def _excuse(entry: Mapping[str, Any]) -> Excuse:
    return Excuse(entry["reason"], entry["note"], entry.get("capability", ""))
