"""Faults of several workers behind one address: what one of them refuses, another accepts."""

from collections import Counter
from collections.abc import Sequence

from jwt import PyJWK

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.jose import CompactJws
from mcp_auth_contract_lab.verification import signature_verified

__all__ = ["FAULTS"]

_WORKERS = 4


def _one_lets_it_in(behaviour: Behaviour) -> Behaviour:
    """Take turns by token, as round-robin balancing does; the last worker does not verify (CVE-2026-35040)."""
    asked: Counter[bytes] = Counter()

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        asked[token.signing_input + token.signature] += 1
        if asked[token.signing_input + token.signature] % _WORKERS:
            signature_verified(token, keys)

    return verifying(signature=signature)(behaviour)


FAULTS = (
    Fault(
        "one-worker-unverifying",
        "Behind the same address one worker in four does not verify signatures.",
        _one_lets_it_in,
    ),
)
