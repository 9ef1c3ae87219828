"""Print what CHANGELOG.md says of a version, and fail unless tag, package and changelog name the same one.

python .ci/release_notes.py v1.2.3
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes_of(tag: str, changelog: str, package: str) -> str:
    """Return the text below the newest version's heading; raises ValueError where the three do not agree."""
    version = tag.removeprefix("v")
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    released = [section for section in sections if not section.startswith("Unreleased")]
    newest = released[0].split()[0].strip("[]") if released else "none"
    found = re.search(r'^__version__ = "([^"]+)"$', package, re.MULTILINE)
    own = found[1] if found else "none"
    if not version == newest == own:
        message = f"the tag says {version}, CHANGELOG.md {newest}, the package {own}"
        raise ValueError(message)
    unreleased = next((section for section in sections if section.startswith("Unreleased")), "")
    if unreleased.partition("\n")[2].strip():
        message = "CHANGELOG.md: there are entries under Unreleased; move them below the version"
        raise ValueError(message)
    return released[0].partition("\n")[2].strip() + "\n"


def main() -> int:
    """Run on the files of this checkout."""
    package = (ROOT / "src" / "mcp_auth_contract" / "__init__.py").read_text("utf-8")
    try:
        sys.stdout.write(notes_of(sys.argv[1], (ROOT / "CHANGELOG.md").read_text("utf-8"), package))
    except ValueError as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
