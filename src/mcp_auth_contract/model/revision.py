"""The MCP revisions the kit speaks."""

from enum import StrEnum


class Revision(StrEnum):
    """A protocol revision; members are in order of publication, so `<` compares age (ISO dates sort)."""

    R2025_03_26 = "2025-03-26"
    R2025_06_18 = "2025-06-18"
    R2025_11_25 = "2025-11-25"
    R2026_07_28 = "2026-07-28"

    @property
    def stateless(self) -> bool:
        """Whether each POST stands alone: no `initialize`, no session (2026-07-28 and later)."""
        return self >= Revision.R2026_07_28

    @property
    def batches(self) -> bool:
        """Whether a POST may hold a JSON-RPC array (2025-03-26 only)."""
        return self == Revision.R2025_03_26
