"""Why a strict verifier refuses the defects of tokens/defects/kinds.py."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "typ_other_kind": {Reason.KIND},
    "id_token": {Reason.KIND},
    "refresh_token": {Reason.KIND},
    "client_assertion": {Reason.KIND, Reason.KEY},
    "id_jag": {Reason.KIND},
    "other_kind_for_this_server": {Reason.KIND},
    "session_token": {Reason.KIND},
}
