"""Why a strict verifier refuses the defects of tokens/defects/scopes.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "scope_other_type": {Reason.CLAIM},
}
