"""Running pytest in pytest."""

from collections.abc import Callable
from importlib import import_module

import pytest
from tests.plugin.contracts import PLUGIN

# pytester drops what a run in this process imports anew, and cryptography does not stand being imported twice.
for _name in (
    "fastmcp",
    "mcp.server",
    "mcp_auth_contract_lab.faults",
    "mcp_auth_contract_lab.server",
    "mcp_auth_contract.pytest_plugin.client",
    "mcp_auth_contract.pytest_plugin.items",
    "mcp_auth_contract.pytest_plugin.mocked",
    "mcp_auth_contract.pytest_plugin.refusals",
    "mcp_auth_contract.pytest_plugin.validators",
):
    import_module(_name)


@pytest.fixture
def run(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Run pytest with the plugin, in this process."""

    def runner(*words: object) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider", *words)

    return runner
