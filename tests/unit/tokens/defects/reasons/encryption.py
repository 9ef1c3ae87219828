"""Why a strict verifier refuses the defects of tokens/defects/encryption.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "encrypted_unsigned": {Reason.MALFORMED},
    "encrypted_claims": {Reason.MALFORMED},
    "encrypted_forgery": {Reason.MALFORMED},
    "encrypted_with_public_key": {Reason.MALFORMED},
    "encrypted_by_costly_password": {Reason.MALFORMED},
    "encrypted_bomb": {Reason.MALFORMED},
    "other_token_family": {Reason.MALFORMED},
}
