"""Which faults a genuine token can be given without its issuer's key, found by trying."""

import time
from functools import cache

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.tokens.defects import DEFECTS, mint_case
from mcp_auth_contract.tokens.genuine import genuine_spec, parse_genuine, strangers_keys
from mcp_auth_contract.tokens.keys import Algorithm, CannotSign, KeyFinder, Role, published_key
from mcp_auth_contract.tokens.mint import MintedWrongly, mint
from mcp_auth_contract.tokens.spec import Identity, TokenProfile, TokenSpec, good_token


def obstacle(good: TokenSpec, defect: str, variant: str | None, keys: KeyFinder) -> str | None:
    """Return why a genuine token cannot have this fault; None where it can.

    The reason is empty where the fault makes no difference for this token.
    """
    try:
        minted = mint_case(good, defect, variant, keys=keys)
    except CannotSign as fault:
        return str(fault)
    except (UsageError, MintedWrongly, ValueError):
        # Its members need not be those, or of the types, that the kit would have written.
        return ""
    return "" if minted.token == mint(good) else None


@cache
def tampering(defect: str) -> bool:
    """Whether a genuine JWT by one of the kit's algorithms can be given this fault by tampering alone."""
    keys = strangers_keys(lambda alg, _kid: published_key(Role.STRANGER, alg))
    variants = DEFECTS[defect].variants or ("",)
    return any(obstacle(good, defect, variant, keys) is None for good in _examples() for variant in variants)


@cache
def _examples() -> tuple[TokenSpec, ...]:
    """One genuine token for each algorithm, with all that a profile may ask for."""
    examples: list[TokenSpec] = []
    for algorithm in Algorithm:
        profile = TokenProfile(
            issuer="https://issuer.mcp-auth-contract.test",
            audience="https://mcp-auth-contract.test/mcp",
            tenant_claim="tenant",
            algorithm=algorithm,
            required=frozenset({"sub", "tenant"}),
        )
        somebody = Identity(name="somebody", subject="somebody", tenant="t1", scopes=("read",))
        signed = good_token(profile, somebody, published_key(Role.ISSUER, algorithm), time.time())
        token = parse_genuine(mint(signed))
        if token is None:
            raise MintedWrongly("the kit's own token is not read as a JWT")
        examples.append(genuine_spec(token, profile, signed.now))
    return tuple(examples)
