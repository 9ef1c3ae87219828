"""Tokens: valid by default, with exactly one thing wrong on request."""

from mcp_auth_contract.tokens.defects import DEFECTS, Minted, mint_case
from mcp_auth_contract.tokens.genuine import (
    GenuineToken,
    genuine_spec,
    obstacle,
    opaque_spec,
    parse_genuine,
    strangers_keys,
)
from mcp_auth_contract.tokens.keys import (
    Algorithm,
    CannotSign,
    KeyFinder,
    Role,
    SigningKey,
    holds_published_key,
    published_key,
)
from mcp_auth_contract.tokens.spec import Identity, ScopeFormat, TokenProfile, TokenSpec, good_token

__all__ = [
    "DEFECTS",
    "Algorithm",
    "CannotSign",
    "GenuineToken",
    "Identity",
    "KeyFinder",
    "Minted",
    "Role",
    "ScopeFormat",
    "SigningKey",
    "TokenProfile",
    "TokenSpec",
    "genuine_spec",
    "good_token",
    "holds_published_key",
    "mint_case",
    "obstacle",
    "opaque_spec",
    "parse_genuine",
    "published_key",
    "strangers_keys",
]
