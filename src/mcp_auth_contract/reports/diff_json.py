"""The difference between two reports as JSON, version 1, and the schema of that."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mcp_auth_contract.reports.diff import Changed, Difference, Moved
from mcp_auth_contract.reports.plain import encodable


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


Word = Literal["kit error", "broken", "waived", "not observed", "held", "not applicable", "not run"]


class MovedV1(_Part):
    """A case whose outcome is another one now."""

    case: str
    check: str
    revision: str | None
    level: Literal["MUST", "SHOULD", "MAY"]
    before: Word | None = Field(description="Null where the old report has no such case.")
    after: Word | None = Field(description="Null where the new report has no such case.")
    said: str
    binding: bool = Field(description="Its level shuts the gate.")


class ChangedV1(_Part):
    """Something beside the cases that is another now."""

    what: str
    before: str
    after: str


class DiffV1(_Part):
    """What changed between two reports. Fields are added, never renamed or removed, within version 1."""

    version: Literal[1] = 1
    regression: bool
    reasons: list[str]
    old: str = Field(description="When the old run was started.")
    new: str = Field(description="When the new run was started.")
    broken: list[MovedV1]
    unseen: list[MovedV1]
    waived: list[MovedV1]
    fixed: list[MovedV1]
    added: list[MovedV1] = Field(description="New cases that held.")
    gone: list[MovedV1] = Field(description="Cases that are no longer asked, or no longer apply.")
    still_broken: int
    about: list[ChangedV1]
    measured: list[ChangedV1]
    metadata: list[ChangedV1]
    undeclared: list[str] = Field(description="What the server lists since then, and the contract does not name.")


def render_diff_json(difference: Difference) -> str:
    """Render a difference as JSON version 1."""

    def moved(cases: Sequence[Moved]) -> list[dict[str, Any]]:
        return [
            {
                "case": one.case,
                "check": one.check,
                "revision": one.revision,
                "level": one.level,
                "before": None if one.before is None else one.before.value,
                "after": None if one.after is None else one.after.value,
                "said": one.said,
                "binding": one.binding,
            }
            for one in cases
        ]

    def changed(changes: Sequence[Changed]) -> list[dict[str, str]]:
        return [{"what": one.what, "before": one.before, "after": one.after} for one in changes]

    value = {
        "regression": difference.regression,
        "reasons": difference.reasons,
        "old": difference.old.started,
        "new": difference.new.started,
        **{name: moved(getattr(difference, name)) for name in ("broken", "unseen", "waived", "fixed", "added", "gone")},
        "still_broken": difference.still_broken,
        **{name: changed(getattr(difference, name)) for name in ("about", "measured", "metadata")},
        "undeclared": difference.undeclared,
    }
    checked = DiffV1.model_validate(encodable(value))
    return json.dumps(checked.model_dump(mode="json"), indent=1, ensure_ascii=True) + "\n"


def diff_schema() -> str:
    """Return the JSON Schema of version 1, as published in docs/report-diff-v1.schema.json."""
    schema = DiffV1.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "mcp-auth-contract report diff, version 1"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
