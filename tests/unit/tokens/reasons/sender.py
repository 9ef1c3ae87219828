"""Why a strict verifier refuses the defects of tokens/defects/sender.py."""

from collections.abc import Mapping

from mcp_auth_contract.tokens.verify import Reason

REASONS: Mapping[str, set[Reason]] = {}
