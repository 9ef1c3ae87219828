"""The pytest plugin: contract files as tests, and fixtures for people's own. Inert unless asked; imports nothing heavy.

Asked means: `--mcp-auth-contract FILE`, the ini key `mcp_auth_contract`, or a contract file named on the command line.
"""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcp_auth_contract.pytest_plugin.fixtures import (
    MovableClock,
    mcp_app,
    mcp_client,
    mcp_clock,
    mcp_contract,
    mcp_issuer,
    mcp_issuer_settings,
    mcp_mint,
    mcp_profile,
    mcp_respx,
    mcp_respx_url,
    mcp_server,
)

if TYPE_CHECKING:
    from mcp_auth_contract.pytest_plugin.client import Client, Connect, Reply
    from mcp_auth_contract.pytest_plugin.items import ContractFile
    from mcp_auth_contract.pytest_plugin.minting import Mint
    from mcp_auth_contract.pytest_plugin.mocked import MockedIssuer
    from mcp_auth_contract.pytest_plugin.refusals import assert_accepted, assert_refused, challenge_of
    from mcp_auth_contract.pytest_plugin.validators import TokenCase, TokenCases, token_cases

__all__ = [
    "Client",
    "Connect",
    "Mint",
    "MockedIssuer",
    "MovableClock",
    "Reply",
    "TokenCase",
    "TokenCases",
    "assert_accepted",
    "assert_refused",
    "challenge_of",
    "mcp_app",
    "mcp_client",
    "mcp_clock",
    "mcp_contract",
    "mcp_issuer",
    "mcp_issuer_settings",
    "mcp_mint",
    "mcp_profile",
    "mcp_respx",
    "mcp_respx_url",
    "mcp_server",
    "token_cases",
]

_LATER = {
    "client": ("Client", "Connect", "Reply"),
    "minting": ("Mint",),
    "mocked": ("MockedIssuer",),
    "refusals": ("assert_accepted", "assert_refused", "challenge_of"),
    "validators": ("TokenCase", "TokenCases", "token_cases"),
}
"""What this module gives when it is first asked for, by the module that has it."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("mcp-auth-contract", "authentication contracts of MCP servers")
    group.addoption(
        "--mcp-auth-contract",
        action="append",
        default=[],
        metavar="FILE",
        help="run this contract, one test for each case; may be given several times",
    )
    group.addoption(
        "--mcp-auth-fail-on",
        choices=("must", "should"),
        default="must",
        help="the mildest level whose failures fail a test; milder ones are expected failures (default: must)",
    )
    group.addoption(
        "--mcp-auth-wait",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="how long a run may wait for time to pass, for a server in another process (default: 0)",
    )
    group.addoption(
        "--mcp-auth-waivers",
        metavar="FILE",
        default=None,
        help="known failures; by default mcp-auth-contract-waivers.toml beside the contract",
    )
    parser.addini("mcp_auth_contract", "contract files that every run collects", type="paths", default=[])


def _is_contract_name(name: str) -> bool:
    if not name.endswith(".toml") or "waivers" in name:
        return False
    return name.startswith("mcp-auth-contract") or name.endswith(".mcp-auth-contract.toml")


_BY_OPTION = pytest.StashKey[tuple[Path, ...]]()
_BY_ARGUMENT = pytest.StashKey[frozenset[Path]]()


def pytest_configure(config: pytest.Config) -> None:
    """Find out which contracts are asked for, and register their markers; does nothing when none is."""
    here = config.invocation_params.dir
    named = [here / name for name in config.getoption("mcp_auth_contract")]
    asked = [Path(path).resolve() for path in (*named, *config.getini("mcp_auth_contract"))]
    for file in asked:
        if not file.is_file():
            raise pytest.UsageError(f"--mcp-auth-contract: {file}: no such contract file")
    given = [(here / argument.partition("[")[0].partition("::")[0]).resolve() for argument in config.args]
    arguments = frozenset(file for file in given if file in asked or _is_contract_name(file.name))
    config.stash[_BY_ARGUMENT] = arguments
    config.stash[_BY_OPTION] = tuple(file for file in dict.fromkeys(asked) if file not in arguments)
    if asked or arguments:
        from mcp_auth_contract.pytest_plugin.items import register_markers

        register_markers(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ContractFile | None":
    """Collect a contract that is an argument; one that merely lies in a folder is left alone."""
    if file_path.suffix != ".toml" or file_path.resolve() not in parent.config.stash.get(_BY_ARGUMENT, frozenset()):
        return None
    from mcp_auth_contract.pytest_plugin.items import ContractFile

    return ContractFile.from_parent(parent, path=file_path)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add the contracts of the option and the ini key to what the arguments collect, wherever the files are."""
    report = yield
    if not isinstance(collector, pytest.Session) or not report.passed:
        return report
    added: tuple[Path, ...] = collector.config.stash.get(_BY_OPTION, ())
    if added:
        from mcp_auth_contract.pytest_plugin.items import ContractFile

        # As an argument of its own, pytest 8 would collect the file and forget the folder around it.
        report.result = [*report.result, *(ContractFile.from_parent(collector, path=file) for file in added)]
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the cases of a contract on one worker, where pytest-xdist would spread them."""
    contracts = {*config.stash.get(_BY_ARGUMENT, frozenset()), *config.stash.get(_BY_OPTION, ())}
    if not contracts or config.getvalue("dist") not in ("load", "worksteal", "loadgroup"):
        return None
    from mcp_auth_contract.pytest_plugin.scheduling import ContractScheduling

    return ContractScheduling(config, log, {file.name for file in contracts})
