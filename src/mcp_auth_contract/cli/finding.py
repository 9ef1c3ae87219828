"""Which contract a command means."""

import os
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcp_auth_contract.contract import Contract, load_contract, table_in
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.reports.groups import SAMPLE, faulty_sample
from mcp_auth_contract.suggest import suggest

DEFAULT_NAME = "mcp-auth-contract.toml"
_PYPROJECT = "pyproject.toml"
_READ = 1_000_000
"""Bytes of a file that is looked at to see whether it is a contract."""


@dataclass(frozen=True, slots=True)
class FoundContract:
    """A contract, read. `name` is what reports call it; `words` ask a command line for the same one.

    `path` is None for the built-in sample.
    """

    contract: Contract
    name: str
    path: Path | None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """Whether the built-in sample is meant, and with which fault; `attended` says that somebody watches."""

    asked: bool = False
    fault: str | None = None
    attended: bool = False


def find_contract(named: Path | None, sample: Sample | None = None) -> FoundContract:
    """Return the named contract, else the one in this folder or the nearest above it that has one.

    It stands in `mcp-auth-contract.toml`, or in `[tool.mcp-auth-contract]` of `pyproject.toml`. The built-in sample is
    returned where it is asked for, or where nothing here looks like a contract and somebody watches.

    Raises UsageError where there is no contract, or only one under another name.
    """
    sample = Sample() if sample is None else sample
    if sample.asked or sample.fault is not None:
        if named is not None:
            raise UsageError(f"--sample: tests the kit's own sample server; leave {named} out, or leave --sample out")
        return _sample(sample.fault)
    if named is not None:
        if not named.is_file():
            near = suggest(named.name, (file.name for file in _beside(named)), "")
            raise UsageError(f"{named}: no such contract file{f'; {near}' if near else ''}")
        return _read(named)
    for file in _upwards():
        return _read(Path(os.path.relpath(file)))
    alike = sorted(file.name for file in Path.cwd().glob("*.toml") if _resembles(file))
    if alike:
        raise UsageError(
            f"no {DEFAULT_NAME} here or above, but {alike[0]} looks like a contract: name it, or rename it"
        )
    if sample.attended:
        return _sample(None)
    raise UsageError(
        f"no {DEFAULT_NAME} here or above, and none in pyproject.toml: name a contract, draft one with "
        "`mcp-auth-contract init`, or try the kit's own sample server with `mcp-auth-contract run --sample`"
    )


def somebody_watches() -> bool:
    """Whether both sides are a terminal, and no build."""
    return sys.stdout.isatty() and sys.stderr.isatty() and not os.environ.get("CI")


def _read(file: Path) -> FoundContract:
    return FoundContract(load_contract(file), str(file), file, (str(file),))


def _sample(fault: str | None) -> FoundContract:
    from mcp_auth_contract.cli.serving import sample_contract

    words = ("--sample",) if fault is None else ("--sample", "--fault", fault)
    name = SAMPLE if fault is None else faulty_sample(fault)
    return FoundContract(sample_contract(fault), name, None, words)


def _upwards() -> Iterator[Path]:
    """Yield the contracts of this folder and of those above it, up to the checkout's root.

    A contract starts commands, so none is taken from a folder above that belongs to somebody else.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if folder != here and hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return
        if (file := folder / DEFAULT_NAME).is_file():
            yield file
        if (file := folder / _PYPROJECT).is_file() and _holds_contract(file):
            yield file
        if (folder / ".git").exists():
            return


def _holds_contract(file: Path) -> bool:
    """Whether a pyproject.toml has our table; one that is no TOML is somebody else's concern."""
    return table_in(_tables(file)) is not None


def _resembles(file: Path) -> bool:
    name = file.stem.replace("_", "-").lower()
    if file.name == _PYPROJECT or "waiver" in name:
        return False
    if "auth-contract" in name or suggest(file.name, [DEFAULT_NAME], ""):
        return True
    tables = _tables(file)
    return "target" in tables and not {"tools", "principals"}.isdisjoint(tables)


def _tables(file: Path) -> dict[str, object]:
    try:
        if file.stat().st_size > _READ:
            return {}
        return tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}


def _beside(named: Path) -> Iterator[Path]:
    folder = named.parent
    return folder.glob("*.toml") if folder.is_dir() else iter(())
