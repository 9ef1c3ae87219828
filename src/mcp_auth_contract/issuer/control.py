"""What the issuers publish, changed while they serve: keys, tokens, and how both are answered."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Self, TypeAlias

from mcp_auth_contract.issuer.behaviours import Behaviour, Change
from mcp_auth_contract.issuer.introspection import Introspection
from mcp_auth_contract.tokens.keys import PRIVATE_MEMBERS, SigningKey


class IssuerName(StrEnum):
    """The issuers of one port, named by their path; the trusted one is at the root."""

    TRUSTED = ""
    LOOKALIKE = "lookalike"
    SECOND = "second"

    @property
    def path(self) -> str:
        """The path of the issuer's URL: empty, or with a leading slash."""
        return f"/{self}" if self else ""


Member: TypeAlias = Mapping[str, object] | str | int | None
"""A member of a JWK set: a JWK, or what has no place in one."""

Published: TypeAlias = SigningKey | Member
"""What to publish: the public half of a signing key, any public JWK, odd ones included, or no JWK at all."""


@dataclass(frozen=True, slots=True)
class IssuerState:
    """What one issuer publishes at one moment."""

    keys: tuple[Member, ...] = field(repr=False)
    behaviour: Behaviour = field(default_factory=Behaviour)

    @property
    def kids(self) -> tuple[object, ...]:
        """The key ids in the order of the set; None for a member that has none."""
        return tuple(key.get("kid") if isinstance(key, Mapping) else None for key in self.keys)

    def jwks(self) -> dict[str, object]:
        """Return the JWK set (RFC 7517 §5)."""
        return {"keys": [dict(key) if isinstance(key, Mapping) else key for key in self.keys]}

    def with_keys(self, *keys: Published) -> Self:
        """Return the state with these keys instead; raises ValueError for one with a private member."""
        return replace(self, keys=tuple(_public(key) for key in keys))


def _public(key: Published) -> Member:
    jwk: Member = key.public_jwk() if isinstance(key, SigningKey) else key
    if not isinstance(jwk, Mapping):
        return jwk
    # A symmetric key in a public set is a fault that timelines need, made for that alone.
    allowed = {"k"} if jwk.get("kty") == "oct" else set[str]()
    if private := sorted((PRIVATE_MEMBERS - allowed) & set(jwk)):
        raise ValueError(f"a JWKS never holds a private member: leave out {', '.join(private)}")
    return MappingProxyType(dict(jwk))


class Control:
    """Changes what the issuers publish; safe from any thread, each change seen whole or not at all.

    `initial` tells which keys an issuer starts with. It is asked once per issuer, when first needed.
    """

    def __init__(self, initial: Callable[[IssuerName], tuple[Published, ...]]) -> None:
        self.change = Change()
        self.introspection = Introspection(self.change)
        self._initial = initial
        self._lock = threading.RLock()
        self._states: dict[IssuerName, IssuerState] = {}
        self._first: dict[IssuerName, IssuerState] = {}

    def state(self, issuer: IssuerName = IssuerName.TRUSTED) -> IssuerState:
        """Return what the issuer publishes now."""
        with self._lock:
            if issuer not in self._states:
                self._first[issuer] = IssuerState(()).with_keys(*self._initial(issuer))
                self._states[issuer] = self._first[issuer]
            return self._states[issuer]

    def started(self, issuer: IssuerName) -> bool:
        """Whether the initial keys have been asked for; if not, `state` may take a while."""
        return issuer in self._states

    def publish(self, *keys: Published, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Add keys behind those that are published."""
        with self._lock:
            state = self.state(issuer)
            self._set(issuer, state.with_keys(*state.keys, *keys))

    def withdraw(self, kid: str, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Remove every key with this key id; raises KeyError when there is none."""
        with self._lock:
            state = self.state(issuer)
            left = [key for key, its in zip(state.keys, state.kids, strict=True) if its != kid]
            if len(left) == len(state.keys):
                raise KeyError(kid)
            self._set(issuer, state.with_keys(*left))

    def replace(self, *keys: Published, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Publish these keys and no others."""
        with self._lock:
            self._set(issuer, self.state(issuer).with_keys(*keys))

    def behave(self, behaviour: Behaviour, issuer: IssuerName = IssuerName.TRUSTED) -> None:
        """Answer the JWKS in another way, until told otherwise."""
        with self._lock:
            self._set(issuer, replace(self.state(issuer), behaviour=behaviour))

    def restore(self, issuer: IssuerName | None = None) -> None:
        """Publish the initial keys again, answered in the usual way.

        Without an issuer all of them, and each token is introspected again as it was registered.
        """
        with self._lock:
            for name in IssuerName if issuer is None else (issuer,):
                if name in self._first:
                    self._states[name] = self._first[name]
            if issuer is None:
                self.introspection.restore()
        self.change.announce()

    def _set(self, issuer: IssuerName, state: IssuerState) -> None:
        self._states[issuer] = state
        self.change.announce()
