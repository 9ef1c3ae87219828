"""Why a strict verifier refuses the defects of tokens/defects/subjects.py and tenants.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "subject_blank": {Reason.CLAIM},
    "subject_other_type": {Reason.CLAIM},
    "subject_operator": {Reason.CLAIM},
    "tenant_blank": {Reason.CLAIM},
    "tenant_other_type": {Reason.CLAIM},
    "tenant_operator": {Reason.CLAIM},
}
