"""Faults of what a token may be beyond a plain JWS: header extensions passed over, encryption believed."""

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_auth_contract_lab.credentials import Absent, Credential, Presented, authorization_header
from mcp_auth_contract_lab.fault import Change, Faults, all_of
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.jose import CompactJws, decode_segment, object_of, parse_compact
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import accepting, allowing, breaking, breaking_over, sources, unless, verifying
from mcp_auth_contract_lab.verification import Header, Trust

FAULTS = Faults()

_REPLICATED = ("iss", "aud", "exp", "sub")

_uncritical = accepting("critical")


def _unencoded(token: str) -> CompactJws | None:
    """Return a token whose payload stands in the clear, if it is one (RFC 7797 §5.2)."""
    header, _, rest = token.partition(".")
    payload, _, signature = rest.rpartition(".")
    try:
        members = object_of(decode_segment(header))
    except InvalidToken:
        return None
    if not _called_unencoded(members, None):
        return None
    return CompactJws(members, payload.encode(), f"{header}.{payload}".encode(), decode_segment(signature))


def _called_unencoded(header: Header, _trust: Trust | None) -> bool:
    return header.get("crit") == ["b64"] and header.get("b64") is False


async def _any_octets(incoming: Incoming) -> Credential:
    """Take a token with other characters than RFC 6750 §2.1 allows, if its header says why."""
    tokens = (line.partition(" ")[2] for line in incoming.header_lines("authorization"))
    return next((Presented(token) for token in tokens if _unencoded(token) is not None), Absent())


@FAULTS.step("verification", "parse")
def payload_unpacked(token: str) -> CompactJws:
    """A compressed payload is unpacked."""
    jws = parse_compact(token)
    if jws.header.get("zip") != "DEF" or jws.payload.startswith(b"{"):
        return jws
    try:
        return replace(jws, payload=zlib.decompressobj(-zlib.MAX_WBITS).decompress(jws.payload, 65_536))
    except zlib.error:
        raise InvalidToken("the token is malformed") from None


def _inner(payload: bytes) -> list[bytes]:
    parts = payload.split(b".")
    return parts if len(parts) == 3 and payload.startswith(b"eyJ") else []


@FAULTS.step("verification", "parse")
def header_claims_win(token: str) -> CompactJws:
    """Claims in the header win over those of the payload."""
    jws = parse_compact(token)
    replicated = {name: jws.header[name] for name in _REPLICATED if name in jws.header}
    if not replicated:
        return jws
    return replace(jws, payload=json.dumps({**object_of(jws.payload), **replicated}).encode())


_OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
_RSA = "RSA-OAEP-256"


def _header_of(token: str) -> Mapping[str, Any]:
    """Return the header of a JWE in compact serialization, empty for anything else (RFC 7516 §7.1)."""
    if token.count(".") != 4:
        return {}
    try:
        return object_of(decode_segment(token.partition(".")[0]))
    except InvalidToken:
        return {}


def _plaintext(token: str, key: RSAPrivateKey) -> bytes | None:
    protected, *segments = token.split(".")
    wrapped, vector, sealed, tag = (decode_segment(segment) for segment in segments)
    try:
        if _header_of(token).get("alg") == "dir":
            content_key = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)[:32]
        else:
            content_key = key.decrypt(wrapped, _OAEP)
        return AESGCM(content_key).decrypt(vector, sealed + tag, protected.encode())
    except (InvalidTag, ValueError):
        return None


def _decrypting(algorithm: str, believed: Callable[[bytes], str | None]) -> Change:
    """Let the plaintext of a JWE stand for the claims of a verified token.

    `believed` picks the payload, still base64url, out of the plaintext; None for one that is not believed.
    """

    def decrypt(token: str, trust: Trust) -> str:
        key = trust.settings.decryption_key
        if key is None or _header_of(token).get("alg") != algorithm:
            return token
        plaintext = _plaintext(token, key)
        payload = None if plaintext is None else believed(plaintext)
        protected, _, rest = token.partition(".")
        return token if payload is None else f"{protected}.{payload}.{rest.rpartition('.')[2]}"

    return verifying(
        decrypt=decrypt,
        algorithm=allowing(lambda name: name == algorithm),
        signature=unless(lambda token, _keys: token.header.get("alg") == algorithm),
    )


def _inner_payload(*, signed: bool) -> Callable[[bytes], str | None]:
    """Return what believes a token inside an encrypted one, whether or not somebody signed it."""

    def believed(plaintext: bytes) -> str | None:
        parts = plaintext.decode("ascii", "replace").split(".")
        good = len(parts) == 3 and not plaintext.startswith(b"{") and bool(parts[2]) is signed
        return parts[1] if good else None

    return believed


def _if_claims(plaintext: bytes) -> str | None:
    return urlsafe_b64encode(plaintext).rstrip(b"=").decode() if plaintext.startswith(b"{") else None


def _breaking_over(when: Callable[[Mapping[str, Any]], bool]) -> Change:
    return breaking("decrypt")(lambda token, _trust: when(_header_of(token)))


FAULTS.rows(
    ("critical-without-parameter-ignored", "A critical name is skipped where the header has no such parameter.",
     _uncritical(lambda header, _trust: isinstance(header.get("crit"), list) and header["crit"] != []
                 and not any(str(name) in header for name in header["crit"]))),
    ("critical-of-other-type-ignored", "A crit that is no list is skipped.",
     _uncritical(lambda header, _trust: not isinstance(header.get("crit"), list))),
    ("critical-list-breaks", "A pointless list of critical extensions ends in a 500.",
     breaking_over(lambda token: token.header.get("crit") in ([], ["alg"], ["exp"]))),
    ("payload-called-unencoded-breaks", "A token that is called unencoded and is not ends in a 500.",
     breaking_over(lambda token: token.header.get("b64") is False and "crit" not in token.header)),
    ("payload-called-compressed-breaks", "A token that is called compressed and is not ends in a 500.",
     breaking("signature", after=True)(lambda token, _keys: "zip" in token.header and token.payload.startswith(b"{"))),
    ("header-issuer-breaks", "A foreign issuer in the header ends in a 500.",
     breaking("keys")(lambda token, trust: token.header.get("iss", trust.settings.issuer) != trust.settings.issuer)),
    ("payload-unencoded-read", "A payload in the clear is read as the header asks for (RFC 7797).",
     all_of(sources(_any_octets, authorization_header), _uncritical(_called_unencoded),
            verifying(parse=lambda token: _unencoded(token) or parse_compact(token)))),
    ("nested-not-verified", "A token inside a token is decoded without verifying it.",
     verifying(claims=lambda payload: object_of(
         decode_segment(_inner(payload)[1].decode("ascii", "replace")) if _inner(payload) else payload))),
    ("nested-breaks", "A signed token inside a token ends in a 500.",
     breaking("claims")(lambda payload: _inner(payload)[2:] not in ([], [b""]))),
    ("encrypted-unsigned-believed", "An unsigned token is believed if it was encrypted to the server (CVE-2026-29000).",
     _decrypting(_RSA, _inner_payload(signed=False))),
    ("encrypted-token-not-verified", "The signature of a token inside an encrypted one is not verified.",
     _decrypting(_RSA, _inner_payload(signed=True))),
    ("encrypted-claims-believed", "Claims are believed if they were encrypted to the server.",
     _decrypting(_RSA, _if_claims)),
    ("encryption-with-public-key", "Octets of the public key serve as a shared secret of direct encryption.",
     _decrypting("dir", _if_claims)),
    ("encrypted-breaks", "Whatever is encrypted to a key ends in a 500.",
     _breaking_over(lambda header: header.get("alg") == _RSA)),
    ("costly-password-derived",
     "A key is derived from a password as often as the token asks for, until the worker is killed.",
     _breaking_over(lambda header: str(header.get("alg")).startswith("PBES2"))),
    ("encrypted-bomb-unpacked", "A compressed token is unpacked to any size, until the memory is gone.",
     _breaking_over(lambda header: "zip" in header)),
    ("disclosures-ignored", "A token with disclosures behind it is read without them, as if it were no SD-JWT.",
     verifying(parse=lambda token: parse_compact(token.partition("~")[0]))),
)  # fmt: skip
