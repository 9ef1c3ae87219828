"""What probes may ask of, and do to, the issuer that the server under test trusts."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from mcp_auth_contract.tokens import SigningKey

Member: TypeAlias = SigningKey | Mapping[str, object] | str | int | None
"""A member of a key set: a key, whose public half is published, or anything else that may stand there."""


class IssuerControl(Protocol):
    """The embedded issuer, seen from a probe. Changes last until `restore`."""

    def heard(self, name: str) -> Sequence[str]:
        """Return what was requested at a listening URL, as `METHOD /path`."""

    def fetches(self) -> int:
        """Return how often the keys have been fetched so far."""

    def publish(self, *members: Member) -> None:
        """Add members behind those that are published."""

    def replace(self, *members: Member) -> None:
        """Publish these members and no others."""

    def behave(self, name: str) -> None:
        """Answer requests for the keys as the named failure does, such as `outage_503`."""

    def restore(self) -> None:
        """Publish and answer as in the beginning."""

    def revoke(self, token: str) -> None:
        """Call an opaque token inactive from now on."""

    def behave_introspection(self, name: str) -> None:
        """Answer all introspection as the named failure does."""

    def introspections(self) -> int:
        """Return how often tokens have been introspected so far."""

    def anonymous(self) -> int:
        """Return how often that happened without a client's credentials."""

    def odd(self, name: str, good: SigningKey) -> Member:
        """Return an odd member of a key set; some kinds describe the good key anew."""

    def others(self, count: int) -> Sequence[Member]:
        """Return keys that parse and that nobody has."""

    def weak_key(self) -> SigningKey:
        """Return an RSA key of 1024 bits."""

    def symmetric_secret(self) -> bytes:
        """Return the secret of the odd member `symmetric`."""
