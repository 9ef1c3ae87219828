"""Short exchanges between a client and an authorization server, by name."""

from collections.abc import Awaitable, Callable
from inspect import getdoc

from mcp_auth_contract.checks.grants.observation import ClientRequestObserved
from mcp_auth_contract.provider.tenant import Tenant

Scene = Callable[[Tenant], Awaitable[ClientRequestObserved]]

UNKNOWN = "mcp-auth-contract-unknown"
"""A code, token or client id that nobody issued."""

UNKNOWN_SCOPE = "mcp-auth-contract:unknown"
"""A scope that does not exist."""

NO_OTHER_CLIENT = "the contract names no provider.other_client"
NO_REFRESH_TOKEN = "no refresh token is issued"  # noqa: S105  a sentence
NO_SECRET = "the client has no secret"  # noqa: S105  a sentence


class Scenes(dict[str, Scene]):
    """The scenes of one subject; the docstring of each is its words."""

    def scene(self, function: Scene) -> Scene:
        """Take a scene in under its own name."""
        self[function.__name__] = function
        return function

    @property
    def words(self) -> dict[str, str]:
        """What each scene is."""
        return {name: (getdoc(function) or "").rstrip(".") for name, function in self.items()}


def blocked(why: str) -> ClientRequestObserved:
    """Return the observation of a request that could not be sent."""
    return ClientRequestObserved(None, blocked=why)


def absent(why: str) -> ClientRequestObserved:
    """Return the observation of a request that does not apply."""
    return ClientRequestObserved(None, absent=why)


def left_out(tenant: Tenant, capability: str) -> ClientRequestObserved | None:
    """Return why a capability is not tested; None where it is."""
    if getattr(tenant.provider.capabilities, capability) not in ("required", "supported"):
        return absent(f"the contract leaves it out (provider.capabilities.{capability})")
    if capability in ("registration", "revocation", "introspection") and not tenant.http.endpoint(capability):
        return absent(f"the metadata names no {capability}_endpoint")
    return None
