"""Fixtures for people's own tests. They import what they need when they are used, not when pytest starts."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcp_auth_contract.contract import Contract
    from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
    from mcp_auth_contract.pytest_plugin.client import Connect, Server
    from mcp_auth_contract.pytest_plugin.minting import Mint
    from mcp_auth_contract.pytest_plugin.mocked import MockedIssuer
    from mcp_auth_contract.server import FrozenTime
    from mcp_auth_contract.tokens import TokenProfile

_DEFAULT_NAME = "mcp-auth-contract.toml"
_RESOURCE = "http://127.0.0.1:8000/mcp"


def _contract_file(config: pytest.Config) -> Path | None:
    """The first contract that is named, else the one in pytest's root folder."""
    for name in config.getoption("mcp_auth_contract"):
        return config.invocation_params.dir / str(name)
    for path in config.getini("mcp_auth_contract"):
        return Path(path)
    here = config.rootpath / _DEFAULT_NAME
    return here if here.is_file() else None


@pytest.fixture(scope="session")
def mcp_issuer_settings(pytestconfig: pytest.Config) -> "IssuerSettings":
    """How `mcp_issuer` is served and signs: as the contract says, else RS256 with fresh keys. Made to be overridden."""
    import os

    from mcp_auth_contract.contract import load_contract
    from mcp_auth_contract.execution import issuer_settings
    from mcp_auth_contract.issuer import IssuerSettings

    file = _contract_file(pytestconfig)
    return IssuerSettings() if file is None else issuer_settings(load_contract(file), os.environ)


@pytest.fixture(scope="session")
def mcp_issuer(mcp_issuer_settings: "IssuerSettings") -> "Iterator[EmbeddedIssuer]":
    """An authorization server on a loopback port, for the whole session: metadata, keys, introspection."""
    from mcp_auth_contract.issuer import EmbeddedIssuer

    with EmbeddedIssuer(mcp_issuer_settings) as issuer:
        yield issuer


@pytest.fixture(scope="session")
def mcp_contract(pytestconfig: pytest.Config, mcp_issuer: "EmbeddedIssuer") -> "Contract | None":
    """The contract, its variables replaced; None where there is none. Made to be overridden.

    It is the first that `--mcp-auth-contract` or the ini key names, else `mcp-auth-contract.toml` in the root folder.
    """
    import os

    from mcp_auth_contract.contract import load_contract
    from mcp_auth_contract.execution import resolved_for

    file = _contract_file(pytestconfig)
    return None if file is None else resolved_for(load_contract(file), mcp_issuer, os.environ)


@pytest.fixture(scope="session")
def mcp_profile(mcp_issuer: "EmbeddedIssuer", mcp_contract: "Contract | None") -> "TokenProfile":
    """How the server reads a token: as the contract says, else audience http://127.0.0.1:8000/mcp."""
    from mcp_auth_contract.checks.minting import profile_of
    from mcp_auth_contract.tokens import TokenProfile

    if mcp_contract is None:
        return TokenProfile(issuer=mcp_issuer.url, audience=_RESOURCE, algorithm=mcp_issuer.settings.algorithms[0])
    return profile_of(mcp_contract, mcp_issuer.url, mcp_contract.target.audience)


@pytest.fixture
def mcp_mint(mcp_issuer: "EmbeddedIssuer", mcp_profile: "TokenProfile", mcp_contract: "Contract | None") -> "Mint":
    """Mints tokens of `mcp_issuer`: `mcp_mint("alice", defect="expired", scopes=["read"])` returns one."""
    from mcp_auth_contract.pytest_plugin.minting import Mint

    return Mint(mcp_issuer, mcp_profile, mcp_contract, listening=mcp_issuer.listening_url)


@pytest.fixture(scope="session")
def mcp_app() -> Any:
    """The ASGI application to run in place of what the contract says; None for that. Made to be overridden."""
    return None


def _demand_contract(contract: "Contract | None", app: Any) -> "Contract":
    from mcp_auth_contract.contract import read_contract
    from mcp_auth_contract.errors import UsageError

    if contract is not None:
        return contract
    if app is None:
        raise UsageError(
            "mcp_client: no server; write mcp-auth-contract.toml into the root folder, name a contract with "
            "--mcp-auth-contract, or override the fixture mcp_app"
        )
    return read_contract(
        f'[target]\nurl = "{_RESOURCE}"\n[principals.alice]\nsubject = "alice"\n[[tools]]\nname = "any"\n',
        Path(_DEFAULT_NAME),
    )


@pytest.fixture(scope="session")
def mcp_server(mcp_issuer: "EmbeddedIssuer", mcp_contract: "Contract | None", mcp_app: Any) -> "Iterator[Server]":
    """The server of the contract, started once for the session: in this process, as a command, or up already."""
    from mcp_auth_contract.pytest_plugin.client import running

    with running(_demand_contract(mcp_contract, mcp_app), mcp_app, mcp_issuer.ca_file) as server:
        yield server


@pytest.fixture
def mcp_client(request: pytest.FixtureRequest, mcp_mint: "Mint") -> "Iterator[Connect]":
    """Makes authenticated MCP clients: `mcp_client("alice").tool("whoami")`.

    A test that uses `mcp_clock` too gets a server of its own, started after the clock was taken over.
    """
    from mcp_auth_contract.errors import UsageError
    from mcp_auth_contract.pytest_plugin.client import Connect, running

    if "mcp_clock" not in request.fixturenames:
        connect = Connect(request.getfixturevalue("mcp_server"), lambda: mcp_mint)
        yield connect
        connect.close()
        return
    request.getfixturevalue("mcp_clock")
    app = request.getfixturevalue("mcp_app")
    contract = _demand_contract(request.getfixturevalue("mcp_contract"), app)
    if app is None and contract.target.app is None:
        raise UsageError("mcp_clock: moves a server in this process only; write target.app, or override mcp_app")
    issuer: EmbeddedIssuer = request.getfixturevalue("mcp_issuer")
    with running(contract, app, issuer.ca_file) as server:
        connect = Connect(server, lambda: mcp_mint)
        yield connect
        connect.close()


class MovableClock:
    """Moves the time of everything in this process: test, issuer, and an application that runs here."""

    def __init__(self, frozen: "FrozenTime") -> None:
        self._frozen = frozen

    def move(self, seconds: float) -> None:
        """Move the clock forwards. Raises ValueError for a move backwards."""
        self._frozen.move(seconds)

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        from mcp_auth_contract.clock import system_clock

        return system_clock()


@pytest.fixture
def mcp_clock() -> Iterator[MovableClock]:
    """The clock of this process: `mcp_clock.move(3600)` moves test, issuer and an application in this process."""
    from mcp_auth_contract.server import FrozenTime

    with FrozenTime() as frozen:
        yield MovableClock(frozen)


@pytest.fixture(scope="session")
def mcp_respx_url() -> str:
    """The URL of the issuer that `mcp_respx` answers for. Made to be overridden."""
    return "https://issuer.mcp-auth-contract.test"


@pytest.fixture
def mcp_respx(pytestconfig: pytest.Config, mcp_respx_url: str) -> "Iterator[MockedIssuer]":
    """An issuer without sockets: httpx finds its metadata, its keys and its introspection at `mcp_respx.url`."""
    from mcp_auth_contract.checks.minting import profile_of
    from mcp_auth_contract.contract import load_contract
    from mcp_auth_contract.issuer import IssuerSettings
    from mcp_auth_contract.pytest_plugin.mocked import mocked
    from mcp_auth_contract.tokens import Algorithm, TokenProfile

    file = _contract_file(pytestconfig)
    url = mcp_respx_url.rstrip("/")
    if file is None:
        profile = TokenProfile(issuer=url, audience=_RESOURCE)
        contract, settings = None, IssuerSettings()
    else:
        contract = load_contract(file)
        audience = contract.target.audience
        profile = profile_of(contract, url, _RESOURCE if "${" in audience else audience)
        settings = IssuerSettings(algorithms=tuple(Algorithm(name) for name in contract.issuer.algorithms))
    with mocked(url, settings, profile, contract) as issuer:
        yield issuer
