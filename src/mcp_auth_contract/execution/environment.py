"""What a run was made with: the interpreter, the platform, and the packages on which the kit rests."""

import platform
import re
from importlib import metadata

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def environment() -> dict[str, str]:
    """Return the versions by name, the interpreter and the platform first."""
    found = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}".strip()}
    try:
        wanted = metadata.requires("mcp-auth-contract") or []
    except metadata.PackageNotFoundError:
        return found
    names = sorted(
        {name[0] for line in wanted if "extra ==" not in line and (name := _NAME.match(line))}, key=str.lower
    )
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
