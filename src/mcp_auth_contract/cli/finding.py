"""Which contract a command means."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.reports.groups import SAMPLE, faulty_sample

DEFAULT_NAME = "mcp-auth-contract.toml"
_LARGEST_OCTETS = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FoundContract:
    """A contract file. `sample`: the built-in one, whose server has the `fault`, if one is named."""

    path: Path
    sample: bool = False
    fault: str | None = None

    @property
    def name(self) -> str:
        """What reports and command lines call it."""
        if not self.sample:
            return str(self.path)
        return SAMPLE if self.fault is None else faulty_sample(self.fault)


def sample_contract(fault: str | None = None) -> FoundContract:
    """Return the contract of the built-in sample server."""
    return FoundContract(data_folder("scenarios") / "contracts" / "sample.toml", sample=True, fault=fault)


def find_contract(named: Path | None) -> FoundContract:
    """Return the named contract, else the one in the current folder, else the built-in sample.

    Raises UsageError where a file in the folder looks like a contract by another name: it is the one that is meant.
    """
    if named is not None:
        if not named.is_file():
            raise UsageError(f"{named}: no such contract file")
        return FoundContract(named)
    here = Path(DEFAULT_NAME)
    if here.is_file():
        return FoundContract(here)
    similar = sorted(str(file) for file in Path().glob("*.toml") if _looks_like_a_contract(file))
    if similar:
        raise UsageError(f"there is no {DEFAULT_NAME} here; name the contract that is meant: {', '.join(similar)}")
    return sample_contract()


def _looks_like_a_contract(file: Path) -> bool:
    try:
        if file.stat().st_size > _LARGEST_OCTETS:
            return False
        target = tomllib.loads(file.read_text("utf-8")).get("target")
    except (OSError, ValueError):  # not ours to read, or not TOML
        return False
    return isinstance(target, dict) and not target.keys().isdisjoint({"url", "app", "start"})
