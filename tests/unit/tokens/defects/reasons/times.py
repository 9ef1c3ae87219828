"""Why a strict verifier refuses the defects of tokens/defects/times.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "expired_oddly_written": {Reason.EXPIRED, Reason.CLAIM},
    "expiry_zero": {Reason.EXPIRED},
    "expiry_type": {Reason.CLAIM},
    "not_before_after_expiry": {Reason.NOT_YET_VALID},
    "not_before_type": {Reason.CLAIM},
}
