"""What a token is to be, before it is signed: valid by default."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self, TypeAlias

from mcp_auth_contract.tokens.keys import Algorithm, SigningKey, b64url

__all__ = [
    "BASE64URL",
    "COMPACT",
    "Absent",
    "Borrowed",
    "Crafted",
    "Edited",
    "Honest",
    "Identity",
    "Keyed",
    "Literal",
    "ScopeFormat",
    "SignatureEdit",
    "SignatureTreatment",
    "Spelling",
    "Spellings",
    "TokenProfile",
    "TokenSpec",
    "compact_json",
    "difference",
    "fresh_id",
    "good_token",
]

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


@dataclass(frozen=True, slots=True)
class Honest:
    """Signed by the spec's key over the token's own bytes."""


@dataclass(frozen=True, slots=True)
class Absent:
    """No signature: zero bytes."""


class SignatureEdit(StrEnum):
    """What is done to an honest signature afterwards."""

    FLIPPED = "flipped"
    ZEROS = "zeros"
    ONES = "ones"
    SHORT_BY_ONE = "short-by-one"
    SHORT_BY_EIGHT = "short-by-eight"
    HALF = "half"


@dataclass(frozen=True, slots=True)
class Edited:
    """An honest signature with one edit. FLIPPED turns one bit of the middle byte."""

    edit: SignatureEdit


@dataclass(frozen=True, slots=True)
class Borrowed:
    """The honest signature of another token's header and payload."""

    header: bytes
    payload: bytes


@dataclass(frozen=True, slots=True)
class Keyed:
    """HMAC with SHA-256 over the token's own bytes, with this secret (RFC 7518 §3.2)."""

    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly these bytes."""

    octets: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Crafted:
    """What `make` returns for the signing key and the token's own bytes; `name` tells two of them apart.

    `verifies` says that a verifier which knows the key accepts the result, as it does another spelling of an
    honest signature.
    """

    name: str
    make: Callable[[SigningKey, bytes], bytes] = field(repr=False, compare=False)
    verifies: bool = False


SignatureTreatment: TypeAlias = Honest | Absent | Edited | Borrowed | Keyed | Literal | Crafted


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a segment is written: `encode` makes its text, `name` tells two spellings apart."""

    name: str
    encode: Callable[[bytes], str] = field(repr=False, compare=False)


BASE64URL = Spelling("base64url", b64url)
"""Base64url without padding, the only right spelling (RFC 7515 §2)."""


@dataclass(frozen=True, slots=True)
class Spellings:
    """The spelling of each segment; the signature is made over header and payload as they are spelled."""

    header: Spelling = BASE64URL
    payload: Spelling = BASE64URL
    signature: Spelling = BASE64URL


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSpec:
    """A token before signing. `form` places `{header}`, `{payload}` and `{signature}`, each as `spelled`.

    `introspection` names the way in which the issuer answers for an opaque token. `raw_header` and `raw_payload`, where
    given, are sent instead of the JSON of `header` and `claims`.
    """

    profile: TokenProfile
    now: float
    header: Mapping[str, object]
    claims: Mapping[str, object]
    key: SigningKey
    signature: SignatureTreatment = Honest()
    form: str = COMPACT
    spelled: Spellings = Spellings()
    introspection: str = "usual"
    raw_header: bytes | None = None
    raw_payload: bytes | None = None

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

    def with_header(self, **members: object) -> Self:
        """Return the spec with these header members set."""
        return replace(self, header={**self.header, **members})

    def without_header(self, name: str) -> Self:
        """Return the spec without one header member."""
        return replace(self, header={key: value for key, value in self.header.items() if key != name})

    def with_claim(self, name: str, value: object) -> Self:
        """Return the spec with one claim set."""
        return replace(self, claims={**self.claims, name: value})

    def without_claim(self, name: str) -> Self:
        """Return the spec without one claim."""
        return replace(self, claims={key: value for key, value in self.claims.items() if key != name})


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


_MISSING = object()


def difference(one: TokenSpec, other: TokenSpec) -> frozenset[str]:
    """Return the decoded paths in which two specs differ; two values of `claims.jti` count as equal.

    A path is `header.<member>`, `claims.<name>`, `signature` (key or treatment), `serialization` (form and
    spelling), or `header` or `claims` as a whole where raw bytes stand for it. Types count: 1 and true differ.
    """
    paths: set[str] = set()
    if one.raw_header != other.raw_header:
        paths.add("header")
    if one.raw_payload != other.raw_payload:
        paths.add("claims")
    paths |= {f"header.{name}" for name in _differing(one.header, other.header)}
    fresh = {"jti"} if "jti" in one.claims and "jti" in other.claims else set()
    paths |= {f"claims.{name}" for name in _differing(one.claims, other.claims) - fresh}
    if (one.key, one.signature) != (other.key, other.signature):
        paths.add("signature")
    if (one.form, one.spelled) != (other.form, other.spelled):
        paths.add("serialization")
    if one.introspection != other.introspection:
        paths.add("introspection")
    return frozenset(paths)


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    def written(value: object) -> object:
        return value if value is _MISSING else compact_json(value)

    names = {*one, *other}
    return {name for name in names if written(one.get(name, _MISSING)) != written(other.get(name, _MISSING))}
