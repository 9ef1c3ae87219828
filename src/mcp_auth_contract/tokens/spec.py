"""What a token is to be, before it is signed: valid by default."""

import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self, TypeAlias

from mcp_auth_contract.tokens.keys import Algorithm, KeyFinder, Role, SigningKey, b64url, published_key

COMPACT = "{header}.{payload}.{signature}"
"""The JWS compact serialization (RFC 7515 §7.1)."""


class ScopeFormat(StrEnum):
    """How a token lists its scopes: one space-separated string (RFC 9068 §2.2.3), or a JSON array."""

    STRING = "string"
    LIST = "list"


def _frozen(members: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(members))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenProfile:
    """How the server under test reads a token. `leeway` and `lifetime` are seconds.

    `algorithm` signs the good tokens, `algorithms` are all that the server accepts. `opaque` tokens say nothing
    themselves: the server asks the issuer about them (RFC 7662).
    `known_scopes` are all scopes that mean something to the server, so none of them is a mere lookalike of another.
    """

    issuer: str
    audience: str
    subject_claim: str = "sub"
    tenant_claim: str | None = None
    scope_claim: str = "scope"
    scope_format: ScopeFormat = ScopeFormat.STRING
    client_claim: str = "client_id"
    typ: str | None = "at+jwt"
    algorithm: Algorithm = Algorithm.RS256
    algorithms: frozenset[Algorithm] = frozenset()
    required: frozenset[str] = frozenset({"sub"})
    known_scopes: frozenset[str] = frozenset()
    extra: Mapping[str, object] = field(default_factory=dict, hash=False)
    opaque: bool = False
    leeway: float = 60
    lifetime: float = 300

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", _frozen(self.extra))
        object.__setattr__(self, "algorithms", self.algorithms | {self.algorithm})

    def claim_name(self, written: str) -> str:
        """Return the name of a claim, in which {subject}, {tenant}, {scope} and {client} stand for the profile's."""
        told = {"tenant": self.tenant_claim, "scope": self.scope_claim, "client": self.client_claim}
        return written.format(subject=self.subject_claim, **told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whom a token speaks for. `claims` are added to the standard ones and win over them."""

    name: str
    subject: str
    tenant: str | None = None
    client: str = "mcp-auth-contract"
    scopes: tuple[str, ...] = ()
    claims: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", _frozen(self.claims))


Encode: TypeAlias = Callable[[bytes], str]
"""Writes the octets of a segment as text."""

Sign: TypeAlias = Callable[[SigningKey, bytes], bytes]
"""Makes the signature of a spec's key over the token's own signing input (RFC 7515 §5.1)."""


def honest(key: SigningKey, message: bytes) -> bytes:
    """Sign as the algorithm of the key prescribes."""
    return key.sign(message)


def signed_again(key: SigningKey, message: bytes) -> bytes:
    """Sign honestly, as a difference of its own: what a token is that the same key signed once more."""
    return honest(key, message)


def unsigned(_key: SigningKey, _message: bytes) -> bytes:
    """Leave the signature empty."""
    return b""


def keyed(secret: bytes, digest: str = "sha256") -> Sign:
    """Return what signs with HMAC and this secret (RFC 7518 §3.2)."""
    return lambda _key, message: hmac.digest(secret, message, digest)


@dataclass(frozen=True, slots=True)
class Spellings:
    """How each segment is written; the signature is made over header and payload as they are spelled.

    Base64url without padding is the only right spelling (RFC 7515 §2).
    """

    header: Encode = b64url
    payload: Encode = b64url
    signature: Encode = b64url


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSpec:
    """A token before signing. `form` places `{header}`, `{payload}` and `{signature}`, each as `spelled`.

    `introspection` names the way in which the issuer answers for an opaque token. `raw_header` and `raw_payload`, where
    given, are sent instead of the JSON of `header` and `claims`. `others` finds the keys of other parties, and
    `listening` is a URL of this one token that nobody should fetch: what a defect may need besides.
    """

    profile: TokenProfile
    now: float
    header: Mapping[str, object]
    claims: Mapping[str, object]
    key: SigningKey
    signature: Sign = honest
    form: str = COMPACT
    spelled: Spellings = Spellings()
    introspection: str = "usual"
    raw_header: bytes | None = None
    raw_payload: bytes | None = None
    others: KeyFinder = field(default=published_key, repr=False, compare=False)
    listening: str = field(default="http://listening.mcp-auth-contract.test/heard/token", repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", _frozen(self.header))
        object.__setattr__(self, "claims", _frozen(self.claims))

    def __hash__(self) -> int:
        told = (self.header_bytes, self.payload_bytes, self.introspection)
        return hash((told, self.key, self.signature, self.form, self.spelled))

    @property
    def header_bytes(self) -> bytes:
        """The bytes of the JOSE header."""
        return compact_json(self.header) if self.raw_header is None else self.raw_header

    @property
    def payload_bytes(self) -> bytes:
        """The bytes of the payload."""
        return compact_json(self.claims) if self.raw_payload is None else self.raw_payload

    @property
    def signing_input(self) -> bytes:
        """The octets that are signed (RFC 7515 §5.1)."""
        return f"{self.spelled.header(self.header_bytes)}.{self.spelled.payload(self.payload_bytes)}".encode()

    def key_of(self, role: Role, alg: Algorithm | None = None) -> SigningKey:
        """Return the key of another party, by default for the algorithm that this token is signed with."""
        return self.others(role, alg or self.key.alg)

    def with_header(self, **members: object) -> Self:
        """Return the spec with these header members set."""
        return replace(self, header={**self.header, **members})

    def without_header(self, name: str) -> Self:
        """Return the spec without one header member; raises KeyError where it has none of that name."""
        return replace(self, header=_without(self.header, name))

    def with_claim(self, name: str, value: object) -> Self:
        """Return the spec with one claim set."""
        return replace(self, claims={**self.claims, name: value})

    def with_claims(self, **claims: object) -> Self:
        """Return the spec with these claims set."""
        return replace(self, claims={**self.claims, **claims})

    def without_claim(self, name: str) -> Self:
        """Return the spec without one claim; raises KeyError where it has none of that name."""
        return replace(self, claims=_without(self.claims, name))


def _without(members: Mapping[str, object], name: str) -> Mapping[str, object]:
    if name not in members:
        raise KeyError(name)
    return {key: value for key, value in members.items() if key != name}


def compact_json(value: Any) -> bytes:
    """Return JSON without spaces, in UTF-8, members in their given order."""
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def fresh_id() -> str:
    """Return a `jti` that no other token has."""
    return secrets.token_hex(16)


def good_token(
    profile: TokenProfile,
    identity: Identity,
    key: SigningKey,
    now: float,
    *,
    scopes: tuple[str, ...] | None = None,
    random_id: Callable[[], str] = fresh_id,
) -> TokenSpec:
    """Return a spec that a sound server accepts from five seconds before `now` until the lifetime after it.

    `scopes` replaces those of the identity. A token without scopes has no scope claim.
    """
    granted = identity.scopes if scopes is None else scopes
    moment = int(now)
    claims: dict[str, object] = {
        "iss": profile.issuer,
        "aud": profile.audience,
        profile.subject_claim: identity.subject,
        profile.client_claim: identity.client,
        "iat": moment - 5,
        "nbf": moment - 5,
        "exp": moment + int(profile.lifetime),
        "jti": random_id(),
    }
    if granted:
        listed = list(granted)
        claims[profile.scope_claim] = " ".join(listed) if profile.scope_format == "string" else listed
    if profile.tenant_claim is not None and identity.tenant is not None:
        claims[profile.tenant_claim] = identity.tenant
    claims |= {**profile.extra, **identity.claims}
    typ = {} if profile.typ is None else {"typ": profile.typ}
    header = {"alg": str(key.alg), **typ, "kid": key.kid}
    return TokenSpec(profile=profile, now=now, header=header, claims=claims, key=key)


def difference(one: TokenSpec, other: TokenSpec) -> frozenset[str]:
    """Return the decoded paths in which two specs differ; two values of `claims.jti` count as equal.

    A path is `header.<member>`, `claims.<name>`, `signature` (key or treatment), `serialization` (form and
    spelling), or `header` or `claims` as a whole where raw bytes stand for it. Types count: 1 and true differ.
    """
    fresh = {"jti"} if "jti" in one.claims and "jti" in other.claims else set()
    wholes = {
        "header": one.raw_header != other.raw_header,
        "claims": one.raw_payload != other.raw_payload,
        "signature": (one.key, one.signature) != (other.key, other.signature),
        "serialization": (one.form, one.spelled) != (other.form, other.spelled),
        "introspection": one.introspection != other.introspection,
    }
    return frozenset(
        {
            *(name for name, differs in wholes.items() if differs),
            *(f"header.{name}" for name in _differing(one.header, other.header)),
            *(f"claims.{name}" for name in _differing(one.claims, other.claims) - fresh),
        }
    )


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    shared = one.keys() & other.keys()
    others = [name for name in shared if one[name] is not other[name]]
    changed = {name for name in others if compact_json(one[name]) != compact_json(other[name])}
    return (one.keys() ^ other.keys()) | changed
