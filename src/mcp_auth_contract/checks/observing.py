"""What every probe brings back: one frozen value per question, without an opinion."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from mcp_auth_contract.answers import Answer


class Observation:
    """What one question brought back; the subjects' `observation` modules define the kinds."""

    __slots__ = ()

    @property
    def answers(self) -> Iterator[Answer]:
        """Every answer that the observation rests on, the decisive ones first: those of its fields, in order."""
        return answers_in(self)


def answers_in(value: object) -> Iterator[Answer]:
    """Yield every answer in a value: in its elements, or in its fields, one after the other."""
    if isinstance(value, Answer):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from answers_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from answers_in(getattr(value, field.name))
