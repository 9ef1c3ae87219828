"""Why a strict verifier refuses each defect: the reasons that are right, by defect."""

from tests.unit.tokens.defects.reasons import (
    algorithms,
    basic,
    encryption,
    extensions,
    json_texts,
    kinds,
    scopes,
    selection,
    sender,
    serialization,
    subjects,
    times,
)

REASONS = {
    **algorithms.REASONS,
    **basic.REASONS,
    **encryption.REASONS,
    **extensions.REASONS,
    **json_texts.REASONS,
    **kinds.REASONS,
    **scopes.REASONS,
    **selection.REASONS,
    **sender.REASONS,
    **serialization.REASONS,
    **subjects.REASONS,
    **times.REASONS,
}
