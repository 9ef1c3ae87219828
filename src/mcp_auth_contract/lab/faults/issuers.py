"""Faults of the issuer check beyond those of claims.py: types, spellings and unknown issuers."""

from mcp_auth_contract.lab.fault import Fault
from mcp_auth_contract.lab.faults.claim_steps import issuer_if, verifying
from mcp_auth_contract.lab.refusal import HttpRefused
from mcp_auth_contract.lab.verification import Claims, Trust

__all__ = ["FAULTS"]


def _unknown_fails(claims: Claims, trust: Trust) -> None:
    if claims.get("iss") != trust.settings.issuer:
        raise HttpRefused(500, "no settings for this issuer")


FAULTS = (
    Fault(
        "issuer-of-other-type-accepted",
        "An issuer that is no string is not compared.",
        ("token-issuer-type-refused", "token-issuer-lookalike-refused"),
        verifying(issuer=issuer_if(lambda named, _ours: named is not None and not isinstance(named, str))),
    ),
    Fault(
        "issuer-list-accepted",
        "A list that holds the trusted issuer is trusted (CVE-2025-30144).",
        ("token-issuer-lookalike-refused",),
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, list) and ours in named)),
    ),
    Fault(
        "issuer-space-stripped",
        "White space around the issuer makes no difference.",
        ("token-issuer-lookalike-refused",),
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, str) and named.strip() == ours)),
    ),
    Fault(
        "issuer-cut-at-nul",
        "The issuer is read up to the first NUL.",
        ("token-issuer-lookalike-refused",),
        verifying(issuer=issuer_if(lambda named, ours: isinstance(named, str) and named.split("\0")[0] == ours)),
    ),
    Fault(
        "issuer-unknown-fails",
        "The settings of an unknown issuer are looked up, and the request fails.",
        (
            "token-issuer-missing-refused",
            "token-issuer-other-refused",
            "token-issuer-lookalike-refused",
            "token-issuer-trailing-slash-refused",
            "token-issuer-type-refused",
            "token-issuer-case-refused",
            "token-claim-name-case-refused",
            "token-header-repairs-no-claim",
            "token-hostile-claim-refused",
            "token-prototype-member-refused",
            "token-payload-not-object-refused",
        ),
        verifying(issuer=_unknown_fails),
    ),
)
