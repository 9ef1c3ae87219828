"""Faults of the issuer check beyond those of claims.py: types, spellings and unknown issuers."""

from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import issuer_if, verifying
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.verification import Claims, Trust

__all__ = ["FAULTS"]


def _unknown_fails(claims: Claims, trust: Trust) -> None:
    if claims.get("iss") != trust.settings.issuer:
        raise HttpRefused(500, "no settings for this issuer")


FAULTS = (
    Fault(
        "issuer-of-other-type-accepted",
        "An issuer that is no string is not compared.",
        verifying(issuer=issuer_if(lambda named, _ours: named is not None and not isinstance(named, str))),
    ),
    Fault(
        "issuer-list-accepted",
        "A list that holds the trusted issuer is trusted (CVE-2025-30144).",
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, list) and ours in named)),
    ),
    Fault(
        "issuer-space-stripped",
        "White space around the issuer makes no difference.",
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, str) and named.strip() == ours)),
    ),
    Fault(
        "issuer-cut-at-nul",
        "The issuer is read up to the first NUL.",
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, str) and named.split("\0")[0] == ours)),
    ),
    Fault(
        "issuer-unknown-fails",
        "The settings of an unknown issuer are looked up, and the request fails.",
        verifying(issuer=_unknown_fails),
    ),
)
