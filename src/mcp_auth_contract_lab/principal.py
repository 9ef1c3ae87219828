"""Who is calling, as the verified token says."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller. `expires` is the token's NumericDate, None where no token was needed."""

    subject: str
    tenant: str
    client: str = ""
    scopes: frozenset[str] = field(default=frozenset())
    expires: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What a session or a page token is bound to: subject, tenant and client, whatever the token."""
        return (self.subject, self.tenant, self.client)

    def same(self, other: "Principal") -> bool:
        """Whether another caller is the same subject, tenant and client, whatever the tokens."""
        return self.key == other.key


ANONYMOUS = Principal("", "")
"""The caller of an operation that needs no token; owns nothing and holds no scope."""
