"""Why a strict verifier refuses the defects of tokens/defects/scopes.py."""

from collections.abc import Mapping

from mcp_auth_contract.tokens.verify import Reason

REASONS: Mapping[str, set[Reason]] = {
    "scope_other_type": {Reason.CLAIM},
}
