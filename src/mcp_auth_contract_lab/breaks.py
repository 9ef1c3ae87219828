"""Which checks fail on each fault: data that was measured, and that the tests hold to be true."""

import tomllib
from collections.abc import Mapping

from mcp_auth_contract.datafiles import data_folder

FILE = "lab-breaks.toml"

PROVIDER_FILE = "provider-breaks.toml"
"""The same of the sample authorization server."""


def read_breaks(file: str = FILE) -> Mapping[str, tuple[str, ...]]:
    """Return the ids of the checks that fail on each fault, and no others; `python -m tests.lab.breaks` writes them."""
    data = tomllib.loads((data_folder("scenarios") / file).read_text("utf-8"))
    return {fault: tuple(checks) for fault, checks in data.items()}
