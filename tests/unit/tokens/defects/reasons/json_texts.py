"""Why a strict verifier refuses the defects of the JSON inside a token."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "payload_not_object": {Reason.MALFORMED},
    "payload_empty_object": {Reason.ISSUER},
    "header_not_object": {Reason.MALFORMED},
    "trailing_json": {Reason.MALFORMED},
    "payload_not_utf8": {Reason.MALFORMED},
    "subject_not_unicode": {Reason.MALFORMED},
    "claim_twice_wrong_last": {Reason.MALFORMED},
    "claim_twice_wrong_first": {Reason.MALFORMED},
    "subject_twice": {Reason.MALFORMED},
    "alg_twice": {Reason.MALFORMED},
    "alg_twice_signed": {Reason.MALFORMED},
    "claim_in_other_case": {Reason.AUDIENCE, Reason.EXPIRED, Reason.ISSUER},
    "members_in_prototype": {Reason.AUDIENCE, Reason.ISSUER, Reason.ALGORITHM},
    "hostile_claim": {Reason.AUDIENCE, Reason.ISSUER},
    "number_not_json": {Reason.MALFORMED},
    "deep_json": {Reason.MALFORMED},
    "deep_json_signed": {Reason.MALFORMED},
}
