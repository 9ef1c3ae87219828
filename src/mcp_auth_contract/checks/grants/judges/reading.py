"""What the judges of an authorization server share."""

from mcp_auth_contract.answers import describe
from mcp_auth_contract.answers.authorization import Issued
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.grants.observation import (
    ClientRequestObserved,
)
from mcp_auth_contract.checks.judging import proves_nothing
from mcp_auth_contract.model import Inconclusive, NotApplicable, Verdict


def answered_request(observed: ClientRequestObserved, facts: Facts) -> tuple[ClientRequestObserved, Issued] | Verdict:
    """Take what an endpoint answered."""
    if observed.absent:
        return NotApplicable(observed.absent)
    if observed.blocked or observed.issued is None:
        return Inconclusive(observed.blocked or "the request was not sent")
    if proves_nothing(observed.issued.answer):
        return Inconclusive(describe(observed.issued.answer))
    return observed, observed.issued


def words(names: frozenset[str]) -> str:
    return " or ".join(f'"{one}"' for one in sorted(names)) or "nothing"
