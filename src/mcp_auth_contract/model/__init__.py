"""The words that everything speaks: levels, impacts, outcomes, revisions. Frozen values, no behaviour elsewhere."""

from mcp_auth_contract.model.outcome import (
    Error,
    Fail,
    Inconclusive,
    NotApplicable,
    Outcome,
    Pass,
    Verdict,
    outcome_name,
)
from mcp_auth_contract.model.revision import Revision
from mcp_auth_contract.model.words import Effect, Impact, Level, OperationKind

__all__ = [
    "Effect",
    "Error",
    "Fail",
    "Impact",
    "Inconclusive",
    "Level",
    "NotApplicable",
    "OperationKind",
    "Outcome",
    "Pass",
    "Revision",
    "Verdict",
    "outcome_name",
]
