"""Which contract a command means."""

from dataclasses import dataclass
from pathlib import Path

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.reports.groups import SAMPLE

DEFAULT_NAME = "mcp-auth-contract.toml"


@dataclass(frozen=True, slots=True)
class FoundContract:
    """A contract file. `sample`: the built-in one, because none was named and none stands here."""

    path: Path
    sample: bool = False

    @property
    def name(self) -> str:
        """What reports and command lines call it."""
        return SAMPLE if self.sample else str(self.path)


def find_contract(named: Path | None) -> FoundContract:
    """Return the named contract, else the one in the current folder, else the built-in sample."""
    if named is not None:
        if not named.is_file():
            raise UsageError(f"{named}: no such contract file")
        return FoundContract(named)
    here = Path(DEFAULT_NAME)
    if here.is_file():
        return FoundContract(here)
    return FoundContract(data_folder("scenarios") / "contracts" / "sample.toml", sample=True)
