"""One issuer for all runs of a worker: making keys takes longer than a run."""

from collections.abc import Iterator

import pytest

from mcp_auth_contract.issuer import EmbeddedIssuer


@pytest.fixture(scope="session")
def issuer() -> Iterator[EmbeddedIssuer]:
    with EmbeddedIssuer() as served:
        yield served
