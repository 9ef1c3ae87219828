"""Defects of sender constraint: tokens bound to a key that the sender does not show."""

import hashlib

from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Variant, claim
from mcp_auth_contract.tokens.defects.values import values
from mcp_auth_contract.tokens.keys import Algorithm, Role, b64url
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json

__all__ = ["SENDER_DEFECTS"]

_CNF = ("claims.cnf",)


def _thumbprint(bench: Bench) -> str:
    """Return the SHA-256 thumbprint of the stranger's key (RFC 7638 §3)."""
    jwk = bench.keys(Role.STRANGER, Algorithm.ES256).public_jwk()
    return b64url(hashlib.sha256(compact_json({name: jwk[name] for name in ("crv", "kty", "x", "y")})).digest())


def _bound(method: str) -> Break:
    def apply(bench: Bench) -> TokenSpec | None:
        return claim("cnf", lambda _: {method: _thumbprint(bench)})(bench)

    return apply


def _holding_the_key(bench: Bench) -> TokenSpec | None:
    jwk = bench.keys(Role.STRANGER, Algorithm.ES256).public_jwk()
    return claim("cnf", lambda _: {"jwk": {name: jwk[name] for name in ("crv", "kty", "x", "y")}})(bench)


SENDER_DEFECTS = (
    Defect(
        name="bound_to_a_key",
        sentence="The token is bound to a key or a certificate that the sender does not show.",
        kind=Kind.CLAIM,
        changes=_CNF,
        forms=(
            Variant("dpop", _bound("jkt")),
            Variant("certificate", _bound("x5t#S256")),
            Variant("key", _holding_the_key),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="confirmation_unusual",
        sentence="The token's cnf claim confirms nothing that a server could ask for.",
        kind=Kind.CLAIM,
        changes=_CNF,
        forms=values(
            "cnf",
            {
                "key_id": {"kid": "mcp-auth-contract-unknown"},
                "empty": {},
                "null": None,
                "text": "mcp-auth-contract",
                "unknown": {"urn:example:confirmation": True},
            },
        ),
        expectation=Expectation.DISPUTED,
    ),
)
