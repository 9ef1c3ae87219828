"""What the issuers publish, changed while they serve: keys, and how the JWKS is answered."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Self, TypeAlias

from mcp_auth_contract.tokens.keys import PRIVATE_MEMBERS, SigningKey

__all__ = ["Behaviour", "Control", "IssuerName", "IssuerState", "Published"]


class IssuerName(StrEnum):
    """The issuers of one port, named by their path; the trusted one is at the root."""

    TRUSTED = ""
    LOOKALIKE = "lookalike"
    SECOND = "second"

    @property
    def path(self) -> str:
        """The path of the issuer's URL: empty, or with a leading slash."""
        return f"/{self}" if self else ""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the JWKS is answered. A `body` is sent instead of the key set."""

    status: int = 200
    content_type: str = "application/json"
    body: bytes | None = None


Published: TypeAlias = SigningKey | Mapping[str, object]
"""A key to publish: the public half of a signing key, or any public JWK, odd ones included."""


@dataclass(frozen=True, slots=True)
class IssuerState:
    """What one issuer publishes at one moment."""

    keys: tuple[Mapping[str, object], ...]
    behaviour: Behaviour = Behaviour()

    def with_keys(self, *keys: Published) -> Self:
        """Return the state with these keys instead; raises ValueError for one with a private member."""
        return replace(self, keys=tuple(_public(key) for key in keys))


def _public(key: Published) -> Mapping[str, object]:
    jwk: Mapping[str, object] = key.public_jwk() if isinstance(key, SigningKey) else key
    if private := sorted(PRIVATE_MEMBERS & set(jwk)):
        raise ValueError(f"a JWKS never holds a private member: leave out {', '.join(private)}")
    return MappingProxyType(dict(jwk))


class Control:
    """Changes what the issuers publish; safe from any thread, each change seen whole or not at all.

    `initial` tells which keys an issuer starts with. It is asked once per issuer, when first needed.
    """

    def __init__(self, initial: Callable[[IssuerName], tuple[Published, ...]]) -> None:
        self._initial = initial
        self._lock = threading.RLock()
        self._states: dict[IssuerName, IssuerState] = {}

    def state(self, issuer: IssuerName = IssuerName.TRUSTED) -> IssuerState:
        """Return what the issuer publishes now."""
        with self._lock:
            if issuer not in self._states:
                self._states[issuer] = IssuerState(()).with_keys(*self._initial(issuer))
            return self._states[issuer]

    def publish(self, *keys: Published, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Add keys behind those that are published."""
        with self._lock:
            state = self.state(issuer)
            self._states[issuer] = state.with_keys(*state.keys, *keys)

    def withdraw(self, kid: str, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Remove every key with this key id; raises KeyError when there is none."""
        with self._lock:
            state = self.state(issuer)
            left = [key for key in state.keys if key.get("kid") != kid]
            if len(left) == len(state.keys):
                raise KeyError(kid)
            self._states[issuer] = state.with_keys(*left)

    def replace(self, *keys: Published, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Publish these keys and no others."""
        with self._lock:
            self._states[issuer] = self.state(issuer).with_keys(*keys)

    def behave(self, behaviour: Behaviour, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Answer the JWKS in another way, until told otherwise."""
        with self._lock:
            self._states[issuer] = replace(self.state(issuer), behaviour=behaviour)

    def restore(self, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Publish the initial keys again, answered in the usual way."""
        with self._lock:
            self._states[issuer] = IssuerState(()).with_keys(*self._initial(issuer))
