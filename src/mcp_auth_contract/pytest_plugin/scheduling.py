"""Distribution over the workers of pytest-xdist: a contract stays whole, everything else is spread test by test."""

from collections.abc import Collection
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]


class ContractScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """Keeps the cases of a contract together, which share one issuer, one server and their answers.

    Other tests go where there is room, as with `--dist load`, and those of one `xdist_group` together.
    """

    def __init__(self, config: pytest.Config, log: Any, names: Collection[str]) -> None:
        super().__init__(config, log)
        self._names = frozenset(names)

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file.rpartition("/")[2] in self._names:
            return file
        scope: str = super()._split_scope(nodeid)
        return scope
