"""Of each check a failure that was really observed, from scenarios/examples.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from mcp_auth_contract.datafiles import data_folder

FILE = "examples.toml"
"""Its name in the folder `scenarios`."""


@dataclass(frozen=True, slots=True)
class Example:
    """What a run told of a server that breaks the check."""

    case: str
    expected: str
    observed: str


def load_examples() -> Mapping[str, Example]:
    """Return the examples by the id of their check; your own checks (`--scenarios`) have none."""
    content = tomllib.loads((data_folder("scenarios") / FILE).read_text("utf-8"))
    return {check: Example(**told) for check, told in content.items()}
