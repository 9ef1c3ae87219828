"""Tokens: valid by default, with exactly one thing wrong on request."""

from mcp_auth_contract.tokens.defects import (
    DEFECTS,
    Defect,
    Expectation,
    Kind,
    Minted,
    Need,
    defect_named,
    mint_case,
)
from mcp_auth_contract.tokens.keys import (
    Algorithm,
    KeyFinder,
    Role,
    SigningKey,
    fresh_key,
    load_folder,
    load_key,
    published_key,
)
from mcp_auth_contract.tokens.mint import MintedWrongly, decode_parts, mint
from mcp_auth_contract.tokens.spec import (
    Identity,
    ScopeFormat,
    TokenProfile,
    TokenSpec,
    difference,
    good_token,
)

__all__ = [
    "DEFECTS",
    "Algorithm",
    "Defect",
    "Expectation",
    "Identity",
    "KeyFinder",
    "Kind",
    "Minted",
    "MintedWrongly",
    "Need",
    "Role",
    "ScopeFormat",
    "SigningKey",
    "TokenProfile",
    "TokenSpec",
    "decode_parts",
    "defect_named",
    "difference",
    "fresh_key",
    "good_token",
    "load_folder",
    "load_key",
    "mint",
    "mint_case",
    "published_key",
]
