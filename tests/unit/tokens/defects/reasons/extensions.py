"""Why a strict verifier refuses the defects of tokens/defects/extensions.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "critical_extension_named": {Reason.CRITICAL},
    "critical_of_wrong_type": {Reason.CRITICAL},
    "payload_unencoded": {Reason.CRITICAL, Reason.MALFORMED},
    "payload_compressed": {Reason.MALFORMED},
    "nested_unsigned": {Reason.MALFORMED},
    "claim_repaired_in_header": {Reason.ISSUER, Reason.AUDIENCE, Reason.EXPIRED},
}
