"""The embedded issuer in the hands of the probes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from mcp_auth_contract.checks.issuer_control import IssuerControl, Member
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, BehaviourName
from mcp_auth_contract.issuer.introspection import ClientAuthentication, IntrospectionAnswer
from mcp_auth_contract.issuer.odd_keys import OddKey, odd_key, other_keys, symmetric_secret, weak_key
from mcp_auth_contract.tokens import SigningKey
from mcp_auth_contract.tokens.mint import SPECIAL_CHARACTERS


@dataclass(frozen=True, slots=True)
class Powers(IssuerControl):
    """What a probe asks for, done by the embedded issuer."""

    issuer: EmbeddedIssuer

    def register(self, token: str, told: Mapping[str, object], answered: str) -> None:
        """Make an opaque token known: what is told of it, and in which way."""
        if answered == "empty_object":
            self.issuer.introspection.register(token, IntrospectionAnswer(members={}))
            return
        way = BEHAVIOURS[BehaviourName.USUAL if answered == SPECIAL_CHARACTERS else BehaviourName(answered)]
        members = {each.name: getattr(way, each.name) for each in fields(way)}
        self.issuer.introspection.register(token, IntrospectionAnswer(**members, members=told))

    def heard(self, name: str) -> Sequence[str]:
        return [f"{request.method} {request.path}" for request in self.issuer.heard(name)]

    def fetches(self) -> int:
        return self.issuer.fetches()

    def publish(self, *members: Member) -> None:
        self.issuer.control.publish(*members)

    def replace(self, *members: Member) -> None:
        self.issuer.control.replace(*members)

    def behave(self, name: str) -> None:
        self.issuer.control.behave(BEHAVIOURS[BehaviourName(name)])

    def restore(self) -> None:
        self.issuer.control.restore()

    def revoke(self, token: str) -> None:
        self.issuer.introspection.revoke(token)

    def behave_introspection(self, name: str) -> None:
        self.issuer.introspection.behave(BEHAVIOURS[BehaviourName(name)])

    def introspections(self) -> int:
        return self.issuer.introspection.mark()

    def anonymous(self) -> int:
        asked = self.issuer.introspection.asked()
        return sum(1 for one in asked if one.authentication is ClientAuthentication.NONE)

    def odd(self, name: str, good: SigningKey) -> Member:
        return odd_key(OddKey(name), good.public_jwk())

    def others(self, count: int) -> Sequence[Member]:
        return other_keys(count)

    def weak_key(self) -> SigningKey:
        return weak_key()

    def symmetric_secret(self) -> bytes:
        return symmetric_secret()
