"""Signing keys: made fresh, read from JWK files, or taken from the published test keys."""

import hashlib
import json
import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, assert_never

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import get_default_algorithms

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError, UsageError

PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
"""JWK members that hold secrets (RFC 7518 §6.2.2, §6.3.2, §6.4)."""


class CannotSign(Exception):
    """A token needs a signature or a key that nobody here has; the message is the reason, fit for a report."""


class Algorithm(StrEnum):
    """The JWS algorithms that the kit signs with (RFC 7518 §3.1, RFC 8037 §3.1)."""

    RS256 = "RS256"
    PS256 = "PS256"
    ES256 = "ES256"
    EDDSA = "EdDSA"

    @property
    def is_rsa(self) -> bool:
        """Whether an RSA key makes this signature."""
        return self in {Algorithm.RS256, Algorithm.PS256}


class Role(StrEnum):
    """Who holds a key: the trusted issuer, a second and a look-alike one, or an attacker in no JWKS.

    ENCRYPTION is the trusted issuer's too, published for encrypting to it and never for signing (RFC 7517 §4.2).
    """

    ISSUER = "issuer"
    SECOND = "second"
    LOOKALIKE = "lookalike"
    STRANGER = "stranger"
    ENCRYPTION = "encryption"


def b64url(octets: bytes) -> str:
    """Encode as base64url without padding (RFC 7515 §2)."""
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def unb64url(text: str) -> bytes:
    """Decode base64url with or without padding; raises ValueError on any other character."""
    if not set(text) <= _BASE64URL:
        raise ValueError("not base64url")
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except Base64Error as fault:
        raise ValueError("not base64url") from fault


_BASE64URL = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=")


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key bound to one algorithm and one key id; two are equal when their public halves are.

    Its repr shows the algorithm and the key id only.
    """

    alg: Algorithm
    kid: str
    private: PrivateKey = field(repr=False, compare=False)
    thumbprint: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "thumbprint", b64url(hashlib.sha256(self.thumbprint_input).digest()))

    @property
    def thumbprint_input(self) -> bytes:
        """The required public members in canonical JSON (RFC 7638 §3)."""
        members = {name: value for name, value in self.public_jwk().items() if name not in {"kid", "alg", "use"}}
        return json.dumps(members, separators=(",", ":"), sort_keys=True).encode()

    def public_jwk(self) -> dict[str, str]:
        """Return the JWK to publish: `kty`, `kid`, `alg`, `use` and the public members, nothing else."""
        public = self.private.public_key()
        members = _JWS[self.alg].to_jwk(public, as_dict=True)
        named = {"kty": members["kty"], "kid": self.kid, "alg": str(self.alg), "use": "sig"}
        return {**named, **{name: members[name] for name in _PUBLIC_MEMBERS if name in members}}

    def public_pem(self) -> bytes:
        """Return the public key as PEM, a SubjectPublicKeyInfo (RFC 7468 §13)."""
        return self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def sign(self, message: bytes) -> bytes:
        """Return the JWS signature of `message` (RFC 7518 §3.3 to §3.5, RFC 8037 §3.1)."""
        signature: bytes = _JWS[self.alg].sign(message, self.private)
        return signature

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether it is this key's signature of `message` in the form that JWS has for the algorithm."""
        return bool(_JWS[self.alg].verify(message, self.private.public_key(), signature))


_JWS: Mapping[str, Any] = get_default_algorithms()
_PUBLIC_MEMBERS = ("n", "e", "crv", "x", "y")

KeyFinder: TypeAlias = Callable[[Role, Algorithm], SigningKey]
"""Finds the key that a role signs with; `published_key` is one."""


def fresh_key(alg: Algorithm, kid: str) -> SigningKey:
    """Return a new key of the algorithm's usual strength: RSA 2048, P-256, Ed25519."""
    match alg:
        case Algorithm.RS256 | Algorithm.PS256:
            return SigningKey(alg, kid, rsa.generate_private_key(public_exponent=65537, key_size=2048))
        case Algorithm.ES256:
            return SigningKey(alg, kid, ec.generate_private_key(ec.SECP256R1()))
        case Algorithm.EDDSA:
            return SigningKey(alg, kid, ed25519.Ed25519PrivateKey.generate())
        case _:
            assert_never(alg)


def load_key(path: Path) -> SigningKey:
    """Read one private JWK file (RFC 7517).

    Raises UsageError when there is no such file, ContractError when it is not a usable signing key. No
    message repeats a member's value, except that of `alg`, `kty` and `crv`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{path}: cannot be read: name a JWK file in UTF-8") from None
    try:
        jwk = json.loads(text)
    except ValueError:
        raise ContractError(f"{path}: is not JSON: a key file holds one JWK object") from None
    if not isinstance(jwk, dict):
        raise ContractError(f"{path}: is not a JSON object: a key file holds one JWK, not a list or a set")
    member = _Members(path, jwk)
    written = member.text("alg")
    if written not in set(Algorithm):
        raise ContractError(f"{path}: alg is {written!r}: use one of {', '.join(Algorithm)}")
    alg = Algorithm(written)
    return SigningKey(alg, member.text("kid"), member.private(alg))


@dataclass(frozen=True, slots=True)
class _Members:
    """The members of a JWK file, each read with its own complaint."""

    path: Path
    jwk: Mapping[str, object] = field(repr=False)

    def text(self, name: str) -> str:
        value = self.jwk.get(name)
        if not isinstance(value, str) or not value:
            raise ContractError(f"{self.path}: {name} is missing: a private JWK needs it as a string")
        return value

    def octets(self, name: str) -> bytes:
        try:
            return unb64url(self.text(name))
        except ValueError:
            raise ContractError(f"{self.path}: {name} is not base64url: write it as RFC 7518 §6 says") from None

    def number(self, name: str) -> int:
        return int.from_bytes(self.octets(name), "big")

    def is_(self, name: str, expected: str, alg: Algorithm) -> None:
        if self.text(name) != expected:
            raise ContractError(f"{self.path}: {name} is {self.text(name)!r}: {alg} needs {expected!r}")

    def private(self, alg: Algorithm) -> PrivateKey:
        make = {Algorithm.ES256: self._ec, Algorithm.EDDSA: self._ed25519}.get(alg, self._rsa)
        try:
            return make(alg)
        except ValueError:
            raise ContractError(
                f"{self.path}: d does not belong to the public members: generate the key again"
            ) from None

    def _rsa(self, alg: Algorithm) -> PrivateKey:
        self.is_("kty", "RSA", alg)
        public = rsa.RSAPublicNumbers(self.number("e"), self.number("n"))
        p, q, d = self.number("p"), self.number("q"), self.number("d")
        dp, dq, qi = self.number("dp"), self.number("dq"), self.number("qi")
        if not min(p, q, d, public.e) > 1 or p * q != public.n or d * public.e % math.lcm(p - 1, q - 1) != 1:
            raise ValueError("the numbers are not of one key")
        if (dp, dq) != (d % (p - 1), d % (q - 1)) or qi * q % p != 1:
            raise ValueError("the numbers are not of one key")
        # OpenSSL would test p and q for primality besides, at 25 ms a key.
        numbers = rsa.RSAPrivateNumbers(p, q, d, dp, dq, qi, public)
        key = numbers.private_key(unsafe_skip_rsa_key_validation=True)
        if key.key_size < 2048:
            raise ContractError(f"{self.path}: n has {key.key_size} bits: RSA keys need 2048 (RFC 7518 §3.3)")
        return key

    def _ec(self, alg: Algorithm) -> PrivateKey:
        self.is_("kty", "EC", alg)
        self.is_("crv", "P-256", alg)
        point = ec.EllipticCurvePublicNumbers(self.number("x"), self.number("y"), ec.SECP256R1())
        return ec.EllipticCurvePrivateNumbers(self.number("d"), point).private_key()

    def _ed25519(self, alg: Algorithm) -> PrivateKey:
        self.is_("kty", "OKP", alg)
        self.is_("crv", "Ed25519", alg)
        key = ed25519.Ed25519PrivateKey.from_private_bytes(self.octets("d"))
        if key.public_key().public_bytes_raw() != self.octets("x"):
            raise ValueError("x is of another key")
        return key


def load_folder(path: Path) -> dict[tuple[Role, Algorithm], SigningKey]:
    """Read every `*.json` JWK file of a folder, one key per role and algorithm.

    A file named `second-….json`, `lookalike-….json` or `stranger-….json` is that role's; any other one is the
    trusted issuer's. Raises UsageError for a folder that is missing or empty, ContractError for a bad file,
    two keys of one role and algorithm, or a key id used twice.
    """
    if not path.is_dir():
        raise UsageError(f'{path}: is not a folder: name one with JWK files, or write "fresh"')
    keys: dict[tuple[Role, Algorithm], SigningKey] = {}
    origin: dict[str, Path] = {}
    for file in sorted(path.glob("*.json")):
        key = load_key(file)
        prefix = file.name.partition("-")[0]
        role = Role(prefix) if prefix in set(Role) else Role.ISSUER
        if (role, key.alg) in keys:
            raise ContractError(f"{file}: alg {key.alg} has two keys of the role {role}: keep one of the files")
        if key.kid in origin:
            raise ContractError(f"{file}: kid is also that of {origin[key.kid].name}: give each key its own")
        keys[role, key.alg] = key
        origin[key.kid] = file
    if not keys:
        raise UsageError(f'{path}: holds no JWK file: add one named *.json, or write "fresh"')
    return keys


@cache
def _published() -> frozenset[str]:
    return frozenset(key.thumbprint for key in load_folder(data_folder("keys")).values())


def holds_published_key(folder: Path) -> bool:
    """Whether a folder holds a key whose private half this project publishes, in whatever file, under whatever name."""
    return any(key.thumbprint in _published() for key in load_folder(folder).values())


@cache
def published_key(role: Role, alg: Algorithm) -> SigningKey:
    """Return the published, non-production test key of a role; for loopback targets only."""
    return load_key(data_folder("keys") / f"{role}-{alg.lower()}.json")
