"""Finding keys/ and scenarios/: beside the source in a checkout, inside the package in a wheel."""

from pathlib import Path

from mcp_auth_contract.errors import UsageError

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return the folder `keys` or `scenarios`.

    Raises UsageError when neither place holds it, which means a broken installation.
    """
    wheel = _PACKAGE / "_data" / name
    checkout = _PACKAGE.parents[1] / name
    for folder in (wheel, checkout):
        if folder.is_dir():
            return folder
    raise UsageError(f"the folder {name}/ is missing from this installation: install mcp-auth-contract again")
