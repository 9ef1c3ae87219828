"""Why a strict verifier refuses the defects of tokens/defects/selection.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "kid_of_wrong_type": {Reason.KEY},
    "kid_lookalike": {Reason.KEY},
    "kid_long": {Reason.KEY},
    "kid_names_file": {Reason.ALGORITHM},
    "kid_names_query": {Reason.ALGORITHM},
    "kid_names_prototype": {Reason.ALGORITHM},
    "kid_leads_elsewhere": {Reason.KEY},
    "jku_of_stranger": {Reason.KEY, Reason.SIGNATURE},
    "x5u_of_stranger": {Reason.KEY, Reason.SIGNATURE},
    "x5c_of_stranger": {Reason.KEY, Reason.SIGNATURE},
    "signed_by_second_issuer_under_trusted_kid": {Reason.SIGNATURE},
    "issued_by_second_issuer": {Reason.KEY, Reason.ISSUER},
}
