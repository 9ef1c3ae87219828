"""Defects of sender constraint: tokens bound to a key that the sender does not show."""

import hashlib

from mcp_auth_contract.tokens.defects.defect import DISPUTED, Defects, claim
from mcp_auth_contract.tokens.keys import Algorithm, Role, b64url
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json

DEFECTS = Defects()


@DEFECTS.each({"dpop": "jkt", "certificate": "x5t#S256", "key": "jwk"}, DISPUTED)
def bound_to_a_key(good: TokenSpec, method: str) -> TokenSpec:
    """The token is bound to a key or a certificate that the sender does not show.

    RFC 9449 §7.1 and RFC 8705 §3: a server that knows such a binding asks for the proof of it.
    """
    jwk = good.key_of(Role.STRANGER, Algorithm.ES256).public_jwk()
    members = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    thumbprint = b64url(hashlib.sha256(compact_json(members)).digest())
    return good.with_claim("cnf", {method: members if method == "jwk" else thumbprint})


DEFECTS.table(
    claim("cnf"),
    "confirmation_unusual",
    "The token's cnf claim confirms nothing that a server could ask for.",
    {
        "key_id": {"kid": "mcp-auth-contract-unknown"},
        "empty": {},
        "null": None,
        "text": "mcp-auth-contract",
        "unknown": {"urn:example:confirmation": True},
    },
    DISPUTED,
)
