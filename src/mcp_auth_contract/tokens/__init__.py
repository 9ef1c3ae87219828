"""Tokens: valid by default, with exactly one thing wrong on request."""

from mcp_auth_contract.tokens.defects import (
    DEFECTS,
    Capability,
    Defect,
    Expectation,
    Minted,
    defect_named,
    mint_case,
)
from mcp_auth_contract.tokens.genuine import GenuineToken, genuine_spec, opaque_spec, parse_genuine, strangers_keys
from mcp_auth_contract.tokens.keys import (
    Algorithm,
    CannotSign,
    KeyFinder,
    Role,
    SigningKey,
    fresh_key,
    holds_published_key,
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
from mcp_auth_contract.tokens.trial import obstacle, tampering

__all__ = [
    "DEFECTS",
    "Algorithm",
    "CannotSign",
    "Capability",
    "Defect",
    "Expectation",
    "GenuineToken",
    "Identity",
    "KeyFinder",
    "Minted",
    "MintedWrongly",
    "Role",
    "ScopeFormat",
    "SigningKey",
    "TokenProfile",
    "TokenSpec",
    "decode_parts",
    "defect_named",
    "difference",
    "fresh_key",
    "genuine_spec",
    "good_token",
    "holds_published_key",
    "load_folder",
    "load_key",
    "mint",
    "mint_case",
    "obstacle",
    "opaque_spec",
    "parse_genuine",
    "published_key",
    "strangers_keys",
    "tampering",
]
