"""A check as data: the closed vocabulary in which scenarios/catalogue/*.toml is written."""

from dataclasses import dataclass
from enum import StrEnum

from mcp_auth_contract.model import Impact, Level, Revision


class Axis(StrEnum):
    """Over what a check expands into cases."""

    ONCE = "once"
    """One case for the whole run: metadata documents know no revision of the protocol."""
    CONTROL = "control"
    """One case per revision, on the control operation."""
    OPERATIONS = "operations"
    """One case per revision and operation that needs a token."""
    MISSING_SCOPES = "missing_scopes"
    """One case per revision, operation and scope that the operation needs."""
    RECORDS = "records"
    """One case per revision, record, principal and way of that principal to that record."""
    IMPLIED_SCOPES = "implied_scopes"
    """One case per revision, operation and broader scope that implies one it needs (`policy.implies`)."""
    FREE_OPERATIONS = "free_operations"
    """One case per revision and operation that needs no scope."""


class Need(StrEnum):
    """What must hold before a check can say anything; what the contract lacks makes it not applicable."""

    CONTROL = "control"
    """The same call with the unbroken token is accepted before and after (else inconclusive)."""
    GATED = "gated"
    """The same call without a token is refused; an open operation proves nothing about how a token is offered."""
    SUBJECT = "subject"
    """`claims.required` names the subject claim."""
    TENANT = "tenant"
    """`claims.required` names the tenant claim."""
    RSA = "rsa"
    """The issuer signs with an RSA key."""
    JWT = "jwt"
    """The tokens are JWTs, verified with the issuer's keys."""
    TOOL_CHALLENGE = "tool_challenge"
    """`policy.challenge` lets challenges come in tool results, and the operation is a tool."""
    AUDIT = "audit"
    """The contract names an audit log."""
    OPAQUE = "opaque"
    """The tokens are opaque, and the issuer is asked about them (RFC 7662)."""


class ScopeChoice(StrEnum):
    """Which scopes the token carries."""

    PRINCIPAL = "principal"
    """All that the contract grants to the principal."""
    EXACT = "exact"
    """Just those the operation needs."""
    MISSING = "missing"
    """Every scope of the contract but the one under test, and those that imply it."""
    NONE = "none"
    """No scope at all."""
    SUPERSET = "superset"
    """Every scope of the contract, and some that nobody knows."""
    BROADER = "broader"
    """The broader scope in the place of those that it implies."""
    UNRELATED = "unrelated"
    """Every scope of the contract but those the operation needs, and those that imply one of them."""


@dataclass(frozen=True, slots=True)
class Check:
    """One clause of the contract.

    `tokens`, `presentations` and `forms` are lists: each combination is a case of its own. `presentations` say how the
    token is presented, `forms` name the forms of the question for the probes that have several. `since` and `until`
    are the first and last MCP revision to which the clause applies. `core` checks run on every revision of the server.

    `baseline` is a legal token with the same feature: where the server does not accept it, a refusal of the faulty one
    proves nothing, and the case is not applicable. `tries` is how often the call is made, on fresh connections.
    """

    id: str
    family: str
    title: str
    level: Level
    impact: Impact
    cites: tuple[str, ...]
    requirements: tuple[str, ...]
    probe: str
    judge: str
    why: str
    remedy: str
    over: Axis = Axis.CONTROL
    since: Revision | None = None
    until: Revision | None = None
    needs: frozenset[Need] = frozenset()
    tokens: tuple[str, ...] = ()
    scopes: ScopeChoice = ScopeChoice.PRINCIPAL
    presentations: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    baseline: str | None = None
    tries: int = 1
    core: bool = False

    def applies_to(self, revision: Revision) -> bool:
        """Whether the clause exists in a revision of the protocol."""
        return (self.since is None or revision >= self.since) and (self.until is None or revision <= self.until)
