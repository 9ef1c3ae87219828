"""Why a strict verifier refuses the defects of serialization."""

from collections.abc import Mapping

from tests.support.strict_verifier import Reason

REASONS: Mapping[str, set[Reason]] = {
    "extra_segments": {Reason.MALFORMED},
    "stray_characters": {Reason.MALFORMED},
    "odd_base64url": {Reason.MALFORMED},
    "json_serialization": {Reason.MALFORMED},
}
