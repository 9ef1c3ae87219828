"""The measure itself: it tells linear from quadratic."""

from tests.work import growth


def test_linear_and_quadratic_work_are_told_apart() -> None:
    assert growth(lambda size: sum(range(size)), 100_000) < 30
    assert growth(lambda size: [each for first in range(size) for each in range(size)], 100) > 40
