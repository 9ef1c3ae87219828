"""Why a strict verifier refuses the defects of tokens/defects/sender.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {}
