"""Defects of key selection: kid, jwk, jku, x5u, x5c, keys published for something else, and bound ones.

RFC 8725 §3.10: looking up a kid must not "create SQL or LDAP injection vulnerabilities", and "blindly following a 'jku'
(JWK set URL) or 'x5u' (X.509 URL) header" lets an attacker choose what the server fetches.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import TypeAlias
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from mcp_auth_contract.tokens.defects.defect import (
    ABSENT,
    DISPUTED,
    Break,
    Capability,
    Defects,
    by_party,
    claim,
    header,
)
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, b64url
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json, keyed

DEFECTS = Defects()
_kid = partial(DEFECTS.table, header("kid"))

_RSA = {Capability.RSA_KEY}
_UP = "../../../../../../dev/null"
_QUERY_KEY = "kitsecret"

_kid(
    "kid_missing",
    "The token does not name its key, or names it null; the signature is honest.",
    {"absent": ABSENT, "null": None},
    DISPUTED,
)
_kid(
    "kid_of_wrong_type",
    "The token's key id is no string, or an empty one; the signature is honest.",
    {"number": 1, "true": True, "list": lambda good: [good.header["kid"]], "object": {"$ne": None}, "empty": ""},
)
_kid(
    "kid_lookalike",
    "The token's key id resembles the published one; the signature is honest.",
    {
        "upper": lambda good: str(good.header["kid"]).upper(),
        "trailing_space": lambda good: f"{good.header['kid']} ",
        "trailing_null_character": lambda good: f"{good.header['kid']}\x00",
        "cut_short": lambda good: str(good.header["kid"])[:-1],
    },
)
_kid("kid_long", "The token's key id has 4000 characters; the signature is honest.", {"": "k" * 4000})


def _keyed(kid_and_secret: tuple[str, bytes]) -> Break:
    kid, secret = kid_and_secret
    return lambda good: replace(good.with_header(alg="HS256", kid=kid), signature=keyed(secret))


DEFECTS.table(
    _keyed,
    "kid_names_file",
    "The token's key id is the path of an empty file, whose content is the secret of HS256.",
    {
        "relative": (_UP, b""),
        "relative_newline": (_UP, b"\n"),
        "relative_null_octet_as_base64": (_UP, b"AA=="),
        "absolute": ("/dev/null", b""),
        "backslashes": ("..\\..\\..\\nul", b""),
        "file_url": ("file:///dev/null", b""),
    },
)
DEFECTS.table(
    _keyed,
    "kid_names_query",
    "The token's key id is a piece of a query that yields the secret of HS256.",
    {
        "union": (f"x' UNION SELECT '{_QUERY_KEY}' -- ", _QUERY_KEY.encode()),
        "union_base64": ("x' UNION SELECT 'a2l0c2VjcmV0' -- ", _QUERY_KEY.encode()),
        "quote": ("'", b""),
        "directory_filter": ("*)(uid=*", b""),
    },
)
DEFECTS.table(
    _keyed,
    "kid_names_prototype",
    "The token's key id is a member that objects of JavaScript have by themselves.",
    {name: (name, b"") for name in ("__proto__", "constructor", "hasOwnProperty", "toString")},
)


def _bare(good: TokenSpec) -> str:
    """The listening URL without its scheme."""
    return good.listening.partition("://")[2]


_Text: TypeAlias = Callable[[TokenSpec], str]


@DEFECTS.each(
    {
        "url": lambda good: good.listening,
        "userinfo": lambda good: f"@{_bare(good)}#",
        "network_path": lambda good: f"//{_bare(good)}?",
        "line_break": lambda good: f"{good.key.kid}\r\nHost: {urlsplit(good.listening).netloc}\r\n",
    },
    fetched=True,
)
def kid_leads_elsewhere(good: TokenSpec, kid: _Text) -> TokenSpec:
    """A stranger signed the token, and its key id leads to a URL of the stranger's."""
    return replace(good.with_header(kid=kid(good)), key=good.key_of(Role.STRANGER))


def _by_stranger(good: TokenSpec, *, own_kid: bool, **members: object) -> TokenSpec:
    key = good.key_of(Role.STRANGER)
    return replace(good.with_header(**members, kid=key.kid if own_kid else good.header["kid"]), key=key)


def _behind_userinfo(good: TokenSpec) -> str:
    listening = urlsplit(good.listening)
    trusted = urlsplit(good.profile.issuer).hostname or "issuer"
    return listening._replace(netloc=f"{trusted}@{listening.netloc}").geturl()


def _as_data(good: TokenSpec) -> str:
    keys = compact_json({"keys": [good.key_of(Role.STRANGER).public_jwk()]})
    return f"data:application/json;base64,{b64url(keys)}"


@DEFECTS.each(
    {
        "own_kid": (lambda good: good.listening, True),
        "trusted_kid": (lambda good: good.listening, False),
        "userinfo": (_behind_userinfo, True),
        "fragment": (lambda good: f"{good.listening}#{good.profile.issuer}/jwks", True),
        "query": (lambda good: f"{good.listening}?{good.profile.issuer}/jwks", True),
        "data": (_as_data, True),
    },
    fetched=True,
)
def jku_of_stranger(good: TokenSpec, where: tuple[_Text, bool]) -> TokenSpec:
    """A stranger signed the token and named the URL of the keys to verify it with."""
    url, own_kid = where
    return _by_stranger(good, own_kid=own_kid, jku=url(good))


@DEFECTS.single(DISPUTED, fetched=True)
def jku_with_trusted_signature(good: TokenSpec) -> TokenSpec:
    """The token is honest, and names a foreign URL for keys besides."""
    return good.with_header(jku=good.listening)


@DEFECTS.each({"own_kid": True, "trusted_kid": False}, needs=_RSA, fetched=True)
def x5u_of_stranger(good: TokenSpec, own_kid: bool) -> TokenSpec:
    """A stranger signed the token and named the URL of a certificate to verify it with."""
    return _by_stranger(good, own_kid=own_kid, x5u=f"{good.listening}/cert.pem")


@cache
def _chain_of(key: SigningKey) -> tuple[str, ...]:
    """Return the value of `x5c`: one self-signed certificate in standard base64 (RFC 7515 §4.1.6)."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stranger.test")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.private.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2100, 1, 1, tzinfo=UTC))
    )
    digest = None if isinstance(key.private, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return (b64encode(builder.sign(key.private, digest).public_bytes(Encoding.DER)).decode(),)


@DEFECTS.each({"own_kid": True, "trusted_kid": False})
def x5c_of_stranger(good: TokenSpec, own_kid: bool) -> TokenSpec:
    """A stranger signed the token and put a certificate of that key into the header."""
    return _by_stranger(good, own_kid=own_kid, x5c=list(_chain_of(good.key_of(Role.STRANGER))))


DEFECTS.table(
    header("jwk"),
    "jwk_of_issuer",
    "The token is honest, and its header repeats the issuer's public key.",
    {"": lambda good: good.key.public_jwk()},
    DISPUTED,
)


@DEFECTS.single(DISPUTED, needs=_RSA)
def signed_with_encryption_key(good: TokenSpec) -> TokenSpec:
    """The issuer's published encryption key signed the token.

    RFC 7517 §4.2: use "identifies the intended use of the public key", sig or enc.
    """
    published = good.key_of(Role.ENCRYPTION, Algorithm.RS256)
    key = SigningKey(good.key.alg, published.kid, published.private)
    return replace(good.with_header(kid=key.kid), key=key)


@DEFECTS.single()
def signed_by_second_issuer_under_trusted_kid(good: TokenSpec) -> TokenSpec:
    """Another issuer's key signed a token that claims to be the trusted issuer's, key id included."""
    return replace(good, key=good.key_of(Role.SECOND))


@DEFECTS.single()
def issued_by_second_issuer(good: TokenSpec) -> TokenSpec:
    """An issuer whom nobody configured issued the token honestly, under a URL where its keys are."""
    return by_party(good.with_claim("iss", f"{good.profile.issuer.rstrip('/')}/second"), Role.SECOND)


@DEFECTS.each({"dpop": "jkt", "certificate": "x5t#S256", "key": "jwk"}, DISPUTED)
def bound_to_a_key(good: TokenSpec, method: str) -> TokenSpec:
    """The token is bound to a key or a certificate that the sender does not show.

    RFC 9449 §7.1 and RFC 8705 §3: a server that knows such a binding asks for the proof of it.
    """
    jwk = good.key_of(Role.STRANGER, Algorithm.ES256).public_jwk()
    members = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    thumbprint = b64url(hashlib.sha256(compact_json(members)).digest())
    return good.with_claim("cnf", {method: members if method == "jwk" else thumbprint})


DEFECTS.table(
    claim("cnf"),
    "confirmation_unusual",
    "The token's cnf claim confirms nothing that a server could ask for.",
    {
        "key_id": {"kid": "mcp-auth-contract-unknown"},
        "empty": {},
        "null": None,
        "text": "mcp-auth-contract",
        "unknown": {"urn:example:confirmation": True},
    },
    DISPUTED,
)
