"""A run against node-oidc-provider, which is certified and knows nothing of the kit: no false alarm.

`npm install --prefix tests/providers` installs it; without it these tests are skipped.
"""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.provider.provider_runs import options, provider_contract

from mcp_auth_contract.execution import run_provider
from mcp_auth_contract.model import Error, Fail, Inconclusive, Pass
from mcp_auth_contract.server import free_port

_HERE = Path(__file__).parent
_NODE = shutil.which("node")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_NODE is None, reason="Node is not installed"),
    pytest.mark.skipif(
        not (_HERE / "node_modules" / "oidc-provider").is_dir(), reason="run npm install --prefix tests/providers"
    ),
]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    words = [str(_NODE), str(_HERE / "oidc_provider.mjs"), str(_HERE), str(free_port())]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.mark.parametrize("secret", [False, True], ids=["public", "confidential"])
def test_a_sound_configuration_is_green(issuer: str, secret: bool) -> None:
    contract = provider_contract(issuer, secret=secret, edits=[('username = "alice"', 'login = "alice"')])
    report = asyncio.run(run_provider(contract, options()))
    bad = [one.sentence for one in report.results if isinstance(one.outcome, Fail | Inconclusive | Error)]
    assert bad == []
    assert report.gate.exit_code == 0
    assert sum(isinstance(one.outcome, Pass) for one in report.results) > 100
