"""Why a strict verifier refuses the defects of tokens/defects/algorithms.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "algorithm_of_wrong_type": {Reason.ALGORITHM},
    "pss_key_with_pkcs1_signature": {Reason.SIGNATURE},
    "algorithm_of_other_key_type": {Reason.ALGORITHM, Reason.SIGNATURE, Reason.KEY},
    "sha1_signature": {Reason.ALGORITHM, Reason.SIGNATURE},
    "hmac_with_es256_key": {Reason.ALGORITHM},
    "hmac_with_eddsa_key": {Reason.ALGORITHM},
    "hmac_with_weak_secret": {Reason.ALGORITHM},
    "pkcs1_padding_edited": {Reason.SIGNATURE},
    "es256_degenerate": {Reason.SIGNATURE},
    "es256_encoding": {Reason.SIGNATURE},
}
