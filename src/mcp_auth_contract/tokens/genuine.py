"""A genuine token: one that an issuer signed whom the kit does not control, and what can be made of it."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.tokens.defects import DEFECTS, mint_case
from mcp_auth_contract.tokens.keys import (
    Algorithm,
    CannotSign,
    KeyFinder,
    PrivateKey,
    Role,
    SigningKey,
    b64url,
    fresh_key,
    published_key,
    unb64url,
)
from mcp_auth_contract.tokens.mint import MintedWrongly, mint
from mcp_auth_contract.tokens.spec import Identity, TokenProfile, TokenSpec, compact_json, good_token, unsigned

_NO_KEY = "needs a key of the token's issuer"


@dataclass(frozen=True, slots=True)
class GenuineToken:
    """The parts of a JWT in compact serialization, exactly as they were signed; its repr shows none of them."""

    header: Mapping[str, object] = field(repr=False)
    claims: Mapping[str, object] = field(repr=False)
    header_bytes: bytes = field(repr=False)
    payload_bytes: bytes = field(repr=False)
    signature: bytes = field(repr=False)

    @property
    def algorithm(self) -> Algorithm | None:
        """What it is signed with; None for an algorithm that the kit does not sign with."""
        named = self.header.get("alg")
        return Algorithm(named) if isinstance(named, str) and named in set(Algorithm) else None

    @property
    def signing_input(self) -> bytes:
        """The octets that the signature is over (RFC 7515 §5.1)."""
        return f"{b64url(self.header_bytes)}.{b64url(self.payload_bytes)}".encode()


class _GenuineKey(SigningKey):
    """Stands for the key of a genuine token: it has that one signature and neither a private nor a public half.

    Whatever needs more raises CannotSign.
    """

    __slots__ = ("_token",)

    _token: GenuineToken | None

    def __init__(self, token: GenuineToken | None) -> None:
        kid = token.header.get("kid") if token is not None else None
        object.__setattr__(self, "_token", token)
        object.__setattr__(self, "kid", kid if isinstance(kid, str) else "")
        object.__setattr__(self, "thumbprint", "genuine")

    def __repr__(self) -> str:
        return "<the key of a genuine token>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _GenuineKey) and self._token == other._token

    def __hash__(self) -> int:
        return hash(None if self._token is None else self._token.signing_input)

    @property
    def alg(self) -> Algorithm:  # a field of the base, unknown here for some tokens
        named = None if self._token is None else self._token.algorithm
        if named is None:
            raise CannotSign("the kit does not sign with the algorithm of this token")
        return named

    @property
    def private(self) -> PrivateKey:  # a field of the base that this key does not have
        raise CannotSign(_NO_KEY)

    def sign(self, message: bytes) -> bytes:
        """Return the genuine signature of the genuine signing input; raises CannotSign for any other message."""
        token = self._token
        if token is None:
            raise CannotSign("an opaque token has no signature")
        if message != token.signing_input:
            same_payload = message.rpartition(b".")[2] == token.signing_input.rpartition(b".")[2]
            changed = "header" if same_payload else "claim"
            raise CannotSign(f"a changed {changed} would be refused for its signature")
        return token.signature

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether it is the genuine signature of the genuine message: no other one can be recognised."""
        token = self._token
        return token is not None and message == token.signing_input and signature == token.signature


class _Claims(dict[str, object]):
    """Claims of which none can be counted on: a defect may ask for one that a genuine token does not have."""

    def __missing__(self, name: str) -> object:
        raise CannotSign(f'the token has no claim "{name}"')


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _GenuineSpec(TokenSpec):
    """A spec whose header and payload keep their exact octets as long as their content is the genuine one."""

    genuine: GenuineToken

    def __post_init__(self) -> None:
        TokenSpec.__post_init__(self)
        object.__setattr__(self, "claims", MappingProxyType(_Claims(self.claims)))

    @property
    def header_bytes(self) -> bytes:
        return _exact(self.raw_header, self.header, self.genuine.header, self.genuine.header_bytes)

    @property
    def payload_bytes(self) -> bytes:
        return _exact(self.raw_payload, self.claims, self.genuine.claims, self.genuine.payload_bytes)


def _exact(raw: bytes | None, now: Mapping[str, object], once: Mapping[str, object], octets: bytes) -> bytes:
    if raw is not None:
        return raw
    written = compact_json(now)
    return octets if written == compact_json(once) else written


def parse_genuine(token: str) -> GenuineToken | None:
    """Return the parts of a JWT in compact serialization; None for a token of any other form, which is opaque."""
    segments = token.split(".")
    if len(segments) != 3:
        return None
    try:
        header, payload, signature = (unb64url(segment) for segment in segments)
        parts = GenuineToken(_members(header), _members(payload), header, payload, signature)
    except (ValueError, RecursionError, AttributeError):  # no base64url, no JSON, or no object
        return None
    written = f"{parts.signing_input.decode()}.{b64url(signature)}"
    return parts if written == token and signature and isinstance(parts.header.get("alg"), str) else None


def _members(octets: bytes) -> Mapping[str, object]:
    """Return a JSON object that can be written again; raises ValueError for everything else."""

    def refuse(constant: str) -> object:
        raise ValueError(f"{constant} is no JSON")

    value: Any = json.loads(octets, parse_constant=refuse)
    compact_json(value)
    return MappingProxyType(dict(value.items()))


def genuine_spec(token: GenuineToken, profile: TokenProfile, now: float) -> TokenSpec:
    """Return the spec of a genuine JWT: minted unchanged it is that token, octet for octet."""
    return _GenuineSpec(
        profile=profile, now=now, header=token.header, claims=token.claims, key=_GenuineKey(token), genuine=token
    )


def opaque_spec(token: str, profile: TokenProfile, now: float) -> TokenSpec:
    """Return the spec of a genuine token that says nothing itself."""
    nothing = GenuineToken({}, {}, b"{}", b"{}", b"")
    return replace(genuine_spec(nothing, profile, now), key=_GenuineKey(None), signature=unsigned, form=token)


def strangers_keys(make: Callable[[Algorithm, str], SigningKey] = fresh_key) -> KeyFinder:
    """Return a finder of a stranger's keys, made on demand; it raises CannotSign for the kit's other parties."""
    known: dict[Algorithm, SigningKey] = {}

    def find(role: Role, alg: Algorithm) -> SigningKey:
        if role is not Role.STRANGER:
            raise CannotSign("needs the kit's own issuer")
        if alg not in known:
            known[alg] = make(alg, f"stranger-{alg.lower()}")
        return known[alg]

    return find


def obstacle(good: TokenSpec, defect: str, variant: str | None, keys: KeyFinder) -> str | None:
    """Return why a genuine token cannot have this fault; None where it can.

    The reason is empty where the fault makes no difference for this token.
    """
    try:
        minted = mint_case(good, defect, variant, keys=keys)
    except CannotSign as fault:
        return str(fault)
    except (UsageError, MintedWrongly, ValueError):
        # Its members need not be those, or of the types, that the kit would have written.
        return ""
    return "" if minted.token == mint(good) else None


@cache
def tampering(defect: str) -> bool:
    """Whether a genuine JWT by one of the kit's algorithms can be given this fault by tampering alone."""
    keys = strangers_keys(lambda alg, _kid: published_key(Role.STRANGER, alg))
    variants = DEFECTS[defect].variants or ("",)
    return any(obstacle(good, defect, variant, keys) is None for good in _examples() for variant in variants)


@cache
def _examples() -> tuple[TokenSpec, ...]:
    """One genuine token for each algorithm, with all that a profile may ask for."""
    examples: list[TokenSpec] = []
    for algorithm in Algorithm:
        profile = TokenProfile(
            issuer="https://issuer.mcp-auth-contract.test",
            audience="https://mcp-auth-contract.test/mcp",
            tenant_claim="tenant",
            algorithm=algorithm,
            required=frozenset({"sub", "tenant"}),
        )
        somebody = Identity(name="somebody", subject="somebody", tenant="t1", scopes=("read",))
        signed = good_token(profile, somebody, published_key(Role.ISSUER, algorithm), time.time())
        token = parse_genuine(mint(signed))
        if token is None:
            raise MintedWrongly("the kit's own token is not read as a JWT")
        examples.append(genuine_spec(token, profile, signed.now))
    return tuple(examples)
