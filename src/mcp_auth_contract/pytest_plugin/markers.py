"""The markers of cases: one for all, one for each family, level and impact."""

import pytest

from mcp_auth_contract.catalogue import FAMILIES, Check
from mcp_auth_contract.model import Impact, Level

EVERY = "mcp_auth_contract"
"""The marker that every case has."""


def _word(text: str) -> str:
    return text.replace("-", "_")


def markers_of(check: Check) -> tuple[str, ...]:
    """Return the names of a check's markers, as `mcp_auth_contract`, `family_token`, `must`, `impact_auth_bypass`."""
    return (EVERY, f"family_{_word(check.family)}", check.level.lower(), f"impact_{_word(check.impact)}")


def register(config: pytest.Config) -> None:
    """Make the markers known, for `--strict-markers` and `pytest --markers`."""
    known = {EVERY: "a case of an authentication contract"}
    known |= {f"family_{_word(family)}": f"a case of a check {family}-…" for family in FAMILIES}
    known |= {level.lower(): f"a case of a check of level {level}" for level in Level}
    known |= {f"impact_{_word(impact)}": f"what a failure means: {impact}" for impact in Impact}
    for name, meaning in known.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
