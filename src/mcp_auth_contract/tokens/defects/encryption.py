"""Defects of encryption and of header extensions: a JWE, tokens of other families, crit, b64, zip, repeated claims.

RFC 8725 §2.3: decrypting proves nothing about who made the token; only the signature inside does. RFC 7515 §4.1.11: "If
any of the listed extension Header Parameters are not understood and supported by the recipient, then the JWS is
invalid."
"""

import os
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mcp_auth_contract.tokens.defects import urls
from mcp_auth_contract.tokens.defects.defect import DISPUTED, Capability, Defects, form, header, saying
from mcp_auth_contract.tokens.defects.secrets import spki_der
from mcp_auth_contract.tokens.defects.subjects import SUBJECT_NOBODY
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, b64url
from mcp_auth_contract.tokens.mint import mint
from mcp_auth_contract.tokens.spec import COMPACT, Spellings, TokenSpec, compact_json, unsigned

DEFECTS = Defects()

_BOMB = 2_000_000
"""Octets of the plaintext of a token that unpacks to far more than it weighs."""

_Recipient: TypeAlias = Callable[[TokenSpec], SigningKey]
_ENCRYPTION_KEY: dict[str, _Recipient] = {"encryption_key": lambda good: good.key_of(Role.ENCRYPTION, Algorithm.RS256)}
_BOTH_KEYS: dict[str, _Recipient] = {**_ENCRYPTION_KEY, "signing_key": lambda good: good.key}


def _sealed(
    good: TokenSpec, header: dict[str, object], encrypted_key: bytes, content_key: bytes, plaintext: bytes
) -> TokenSpec:
    """Return a JWE in compact serialization, encrypted with AES-GCM (RFC 7516 §7.1, RFC 7518 §5.3)."""
    typ = good.header.get("typ")
    protected = b64url(compact_json({**header, **({} if typ is None else {"typ": typ})}))
    vector = os.urandom(12)
    sealed = AESGCM(content_key).encrypt(vector, plaintext, protected.encode())
    parts = (encrypted_key, vector, sealed[:-16], sealed[-16:])
    return replace(good, form=".".join((protected, *(b64url(part) for part in parts))))


def _to(good: TokenSpec, recipient: _Recipient, plaintext: Callable[[], bytes], **members: object) -> TokenSpec | None:
    key = recipient(good)
    if not isinstance(key.private, rsa.RSAPrivateKey):
        return None
    content_key = os.urandom(32)
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    wrapped = key.private.public_key().encrypt(content_key, oaep)
    header = {"alg": "RSA-OAEP-256", "enc": "A256GCM", "kid": key.kid, **members}
    return _sealed(good, header, wrapped, content_key, plaintext())


@DEFECTS.each(_BOTH_KEYS)
def encrypted_unsigned(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside is an unsigned token."""
    inside = replace(good.with_header(alg="none"), signature=unsigned)
    return _to(good, recipient, lambda: mint(inside).encode(), cty="JWT")


@DEFECTS.each(_BOTH_KEYS)
def encrypted_claims(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside are the claims, signed by nobody."""
    return _to(good, recipient, lambda: good.payload_bytes)


@DEFECTS.each(_BOTH_KEYS)
def encrypted_forgery(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside is a token signed by a stranger."""
    return _to(good, recipient, lambda: mint(replace(good, key=good.key_of(Role.STRANGER))).encode(), cty="JWT")


@DEFECTS.each(_ENCRYPTION_KEY, DISPUTED)
def encrypted_honest(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and inside is an honest token."""
    return _to(good, recipient, lambda: mint(good).encode(), cty="JWT")


@DEFECTS.each(_BOTH_KEYS)
def encrypted_with_public_key(good: TokenSpec, recipient: _Recipient) -> TokenSpec:
    """The token is encrypted with octets of a public key, as if they were a shared secret."""
    key = recipient(good)
    header: dict[str, object] = {"alg": "dir", "enc": "A256GCM", "kid": key.kid}
    return _sealed(good, header, b"", spki_der(key)[:32], good.payload_bytes)


@DEFECTS.single()
def encrypted_by_costly_password(good: TokenSpec) -> TokenSpec:
    """The token asks for 10000000 rounds of key derivation before anything can be verified.

    RFC 7518 §4.8.1.2: the token itself says how often the recipient iterates.
    """
    costly: dict[str, object] = {"p2s": b64url(bytes(16)), "p2c": 10_000_000, "cty": "JWT"}
    # The key is never unwrapped: what counts is how long a server works before it finds that out.
    header = {"alg": "PBES2-HS256+A128KW", "enc": "A128GCM", **costly}
    return _sealed(good, header, os.urandom(24), os.urandom(16), good.payload_bytes)


@DEFECTS.each(_ENCRYPTION_KEY)
def encrypted_bomb(good: TokenSpec, recipient: _Recipient) -> TokenSpec | None:
    """The token is encrypted to a published key, and unpacks to 2000000 octets."""

    def packed() -> bytes:
        packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
        return packer.compress(compact_json({**good.claims, "padding": "0" * _BOMB})) + packer.flush()

    return _to(good, recipient, packed, zip="DEF")


DEFECTS.table(
    form,
    "other_token_family",
    "What is sent is a token of another family than JWT: an SD-JWT, a PASETO or a macaroon.",
    {
        "sd_jwt": "{header}.{payload}.{signature}~",
        "sd_jwt_with_disclosure": "{header}.{payload}.{signature}~WyJzYWx0Iiwic3ViIiwieCJd~",
        "paseto": "v4.public.{payload}{signature}",
        "macaroon": "MDAxY2xvY2F0aW9uIG1jcC50ZXN0Cg{payload}",
    },
)


_crit = partial(DEFECTS.table, header("crit"))


DEFECTS.table(
    saying,
    "critical_extension_named",
    "The token marks as critical what the server cannot process: no extension, or a claim.",
    {
        "absent": {"crit": ["urn:example:absent"]},
        "confirmation": {"crit": ["cnf"], "cnf": {"jkt": "x"}},
        "signing_time": {"crit": ["sigT"], "sigT": "2020-01-01"},
    },
)
_crit(
    "critical_of_wrong_type",
    "The token's list of critical extensions is no list.",
    {"text": "exp", "null": None, "number": 1, "object": {}},
)
_crit(
    "critical_list_pointless",
    "The token's list of critical extensions is empty, or names what is no extension.",
    {"empty": [], "algorithm": ["alg"], "expiry": ["exp"]},
    DISPUTED,
)


def _in_the_clear(raw: bytes) -> str:
    # A dot would end the segment, and a header line takes no more than printable ASCII.
    text = raw.decode().encode("ascii", "backslashreplace").decode()
    return text.replace(".", "\\u002e").replace(" ", "\\u0020")


@DEFECTS.each({"in_the_middle": COMPACT, "detached": "{header}..{signature}"})
def payload_unencoded(good: TokenSpec, form: str) -> TokenSpec:
    """The payload is not base64url, and the header says so (RFC 7797 §7 forbids that for a JWT)."""
    faulty = good.with_header(b64=False, crit=["b64"])
    return replace(faulty, spelled=Spellings(payload=_in_the_clear), form=form)


DEFECTS.table(
    header("b64"),
    "payload_called_unencoded",
    "The header says that the payload is not base64url, without marking that as critical; it is.",
    {"": False},
    DISPUTED,
)


def _deflated(raw: bytes) -> str:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return b64url(packer.compress(raw) + packer.flush())


@DEFECTS.single()
def payload_compressed(good: TokenSpec) -> TokenSpec:
    """The payload is compressed, which a JWS has no parameter for."""
    return replace(good.with_header(zip="DEF"), spelled=Spellings(payload=_deflated))


DEFECTS.table(
    header("zip"),
    "payload_called_compressed",
    "The header says that the payload is compressed; it is not.",
    {"": "DEF"},
    DISPUTED,
)


def _nested(good: TokenSpec, inner: TokenSpec) -> TokenSpec:
    token = mint(inner).encode()
    return replace(good.with_header(cty="JWT"), spelled=Spellings(payload=lambda _: b64url(token)))


@DEFECTS.single()
def nested_unsigned(good: TokenSpec) -> TokenSpec:
    """The issuer signed a token whose payload is another token, and that one is unsigned."""
    return _nested(good, replace(good.with_header(alg="none"), signature=unsigned))


@DEFECTS.single(DISPUTED)
def nested_signed(good: TokenSpec) -> TokenSpec:
    """The issuer signed a token whose payload is another honest token (RFC 7519 §5.2)."""
    return _nested(good, good)


@DEFECTS.each(
    {
        "iss_in_header": ("iss", urls.FOREIGN),
        "aud_in_header": ("aud", f"{urls.FOREIGN}/mcp"),
        "exp_in_header": ("exp", 1_000_000_000),
    }
)
def claim_repaired_in_header(good: TokenSpec, wrong: tuple[str, object]) -> TokenSpec:
    """A claim is wrong, and the header repeats it with the value that would be right.

    RFC 7519 §5.3: an application that receives both "SHOULD verify that their values are identical".
    """
    name, value = wrong
    return good.with_claim(name, value).with_header(**{name: good.claims[name]})


@DEFECTS.single(DISPUTED, needs={Capability.SUBJECT_REQUIRED})
def subject_of_header(good: TokenSpec) -> TokenSpec:
    """The claims speak for nobody whom the server knows, the header for a user of the server."""
    name = good.profile.subject_claim
    return good.with_claim(name, SUBJECT_NOBODY).with_header(**{name: good.claims[name]})


DEFECTS.table(
    saying,
    "claim_contradicted_in_header",
    "The header repeats a claim with another value (RFC 7519 §5.3).",
    {"issuer": {"iss": urls.FOREIGN}, "audience": {"aud": f"{urls.FOREIGN}/mcp"}, "subject": {"sub": SUBJECT_NOBODY}},
    DISPUTED,
)
