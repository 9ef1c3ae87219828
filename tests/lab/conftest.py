"""One issuer for all runs of a worker: making keys takes longer than a run."""

from collections.abc import Iterator

import pytest

from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.tokens import Algorithm


@pytest.fixture(scope="session")
def issuer() -> Iterator[EmbeddedIssuer]:
    with EmbeddedIssuer(IssuerSettings(algorithms=tuple(Algorithm))) as served:
        yield served
