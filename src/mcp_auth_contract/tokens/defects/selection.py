"""Defects of key selection: kid, jwk, jku, x5u, x5c, and keys that are published for something else."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from mcp_auth_contract.tokens.defects.certificates import chain_of
from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Need, Variant, one
from mcp_auth_contract.tokens.keys import Algorithm, Role, SigningKey, b64url
from mcp_auth_contract.tokens.spec import Keyed, TokenSpec, compact_json

__all__ = ["SELECTION_DEFECTS"]

_HMAC = ("header.alg", "header.kid", "signature")
_STRANGE = ("header.kid", "signature")
_UP = "../../../../../../dev/null"
_QUERY_KEY = "kitsecret"


def _kid(kid: Callable[[str], object]) -> Break:
    def apply(bench: Bench) -> TokenSpec | None:
        written = kid(bench.good.key.kid)
        return None if written == bench.good.key.kid else bench.good.with_header(kid=written)

    return apply


def _constant(kid: object) -> Break:
    return _kid(lambda _: kid)


def _keyed(name: str, kid: str, secret: bytes) -> Variant:
    return Variant(name, lambda bench: replace(bench.good.with_header(alg="HS256", kid=kid), signature=Keyed(secret)))


def _stranger(bench: Bench) -> SigningKey:
    return bench.keys(Role.STRANGER, bench.good.key.alg)


def _kid_by_stranger(kid: Callable[[str, str], str]) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        named = kid(bench.good.key.kid, bench.listening)
        return replace(bench.good.with_header(kid=named), key=_stranger(bench))

    return apply


def _without_scheme(url: str) -> str:
    return url.partition("://")[2]


def _location(parameter: str, where: Callable[[Bench], str], *, own_kid: bool = True) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        key = _stranger(bench)
        kid = key.kid if own_kid else bench.good.key.kid
        return replace(bench.good.with_header(**{parameter: where(bench), "kid": kid}), key=key)

    return apply


def _behind_userinfo(bench: Bench) -> str:
    listening = urlsplit(bench.listening)
    trusted = urlsplit(bench.good.profile.issuer).hostname or "issuer"
    return listening._replace(netloc=f"{trusted}@{listening.netloc}").geturl()


def _as_data(bench: Bench) -> str:
    keys = compact_json({"keys": [_stranger(bench).public_jwk()]})
    return f"data:application/json;base64,{b64url(keys)}"


def _certificate(bench: Bench) -> str:
    return f"{bench.listening}/cert.pem"


def _chain(*, own_kid: bool) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        key = _stranger(bench)
        kid = key.kid if own_kid else bench.good.key.kid
        return replace(bench.good.with_header(x5c=list(chain_of(key)), kid=kid), key=key)

    return apply


def _own_jwk(bench: Bench) -> TokenSpec:
    return bench.good.with_header(jwk=bench.good.key.public_jwk())


def _by_encryption_key(bench: Bench) -> TokenSpec:
    published = bench.keys(Role.ENCRYPTION, Algorithm.RS256)
    key = SigningKey(bench.good.key.alg, published.kid, published.private)
    return replace(bench.good.with_header(kid=key.kid), key=key)


def _by_second_under_trusted_kid(bench: Bench) -> TokenSpec:
    return replace(bench.good, key=bench.keys(Role.SECOND, bench.good.key.alg))


def _issued_by_second(bench: Bench) -> TokenSpec:
    key = bench.keys(Role.SECOND, bench.good.key.alg)
    issuer = f"{bench.good.profile.issuer.rstrip('/')}/second"
    return replace(bench.good.with_claim("iss", issuer).with_header(kid=key.kid), key=key)


_KID = (
    Defect(
        name="kid_missing",
        sentence="The token does not name its key, or names it null; the signature is honest.",
        kind=Kind.HEADER,
        changes=("header.kid",),
        forms=(Variant("absent", lambda bench: bench.good.without_header("kid")), Variant("null", _constant(None))),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="kid_of_wrong_type",
        sentence="The token's key id is no string, or an empty one; the signature is honest.",
        kind=Kind.HEADER,
        changes=("header.kid",),
        forms=(
            Variant("number", _constant(1)),
            Variant("true", _constant(True)),
            Variant("list", _kid(lambda kid: [kid])),
            Variant("object", _constant({"$ne": None})),
            Variant("empty", _constant("")),
        ),
    ),
    Defect(
        name="kid_lookalike",
        sentence="The token's key id resembles the published one; the signature is honest.",
        kind=Kind.HEADER,
        changes=("header.kid",),
        forms=(
            Variant("upper", _kid(str.upper)),
            Variant("trailing_space", _kid(lambda kid: f"{kid} ")),
            Variant("trailing_null_character", _kid(lambda kid: f"{kid}\x00")),
            Variant("cut_short", _kid(lambda kid: kid[:-1])),
        ),
    ),
    Defect(
        name="kid_long",
        sentence="The token's key id has 4000 characters; the signature is honest.",
        kind=Kind.HEADER,
        changes=("header.kid",),
        forms=one(_constant("k" * 4000)),
    ),
    Defect(
        name="kid_names_file",
        sentence="The token's key id is the path of an empty file, whose content is the secret of HS256.",
        kind=Kind.HEADER,
        changes=_HMAC,
        forms=(
            _keyed("relative", _UP, b""),
            _keyed("relative_newline", _UP, b"\n"),
            _keyed("relative_null_octet_as_base64", _UP, b"AA=="),
            _keyed("absolute", "/dev/null", b""),
            _keyed("backslashes", "..\\..\\..\\nul", b""),
            _keyed("file_url", "file:///dev/null", b""),
        ),
    ),
    Defect(
        name="kid_names_query",
        sentence="The token's key id is a piece of a query that yields the secret of HS256.",
        kind=Kind.HEADER,
        changes=_HMAC,
        forms=(
            _keyed("union", f"x' UNION SELECT '{_QUERY_KEY}' -- ", _QUERY_KEY.encode()),
            _keyed("union_base64", "x' UNION SELECT 'a2l0c2VjcmV0' -- ", _QUERY_KEY.encode()),
            _keyed("quote", "'", b""),
            _keyed("directory_filter", "*)(uid=*", b""),
        ),
    ),
    Defect(
        name="kid_names_prototype",
        sentence="The token's key id is a member that objects of JavaScript have by themselves.",
        kind=Kind.HEADER,
        changes=_HMAC,
        forms=tuple(_keyed(name, name, b"") for name in ("__proto__", "constructor", "hasOwnProperty", "toString")),
    ),
    Defect(
        name="kid_leads_elsewhere",
        sentence="A stranger signed the token, and its key id leads to a URL of the stranger's.",
        kind=Kind.HEADER,
        changes=_STRANGE,
        forms=(
            Variant("url", _kid_by_stranger(lambda _, url: url)),
            Variant("userinfo", _kid_by_stranger(lambda _, url: f"@{_without_scheme(url)}#")),
            Variant("network_path", _kid_by_stranger(lambda _, url: f"//{_without_scheme(url)}?")),
            Variant(
                "line_break",
                _kid_by_stranger(lambda kid, url: f"{kid}\r\nHost: {urlsplit(url).netloc}\r\n"),
            ),
        ),
        fetched=True,
    ),
)

_LOCATION = (
    Defect(
        name="jku_of_stranger",
        sentence="A stranger signed the token and named the URL of the keys to verify it with.",
        kind=Kind.HEADER,
        changes=("header.jku", *_STRANGE),
        forms=(
            Variant("own_kid", _location("jku", lambda bench: bench.listening)),
            Variant(
                "trusted_kid",
                _location("jku", lambda bench: bench.listening, own_kid=False),
                ("header.jku", "signature"),
            ),
            Variant("userinfo", _location("jku", _behind_userinfo)),
            Variant("fragment", _location("jku", lambda bench: f"{bench.listening}#{bench.good.profile.issuer}/jwks")),
            Variant("query", _location("jku", lambda bench: f"{bench.listening}?{bench.good.profile.issuer}/jwks")),
            Variant("data", _location("jku", _as_data)),
        ),
        fetched=True,
    ),
    Defect(
        name="jku_with_trusted_signature",
        sentence="The token is honest, and names a foreign URL for keys besides.",
        kind=Kind.HEADER,
        changes=("header.jku",),
        forms=one(lambda bench: bench.good.with_header(jku=bench.listening)),
        expectation=Expectation.DISPUTED,
        fetched=True,
    ),
    Defect(
        name="x5u_of_stranger",
        sentence="A stranger signed the token and named the URL of a certificate to verify it with.",
        kind=Kind.HEADER,
        changes=("header.x5u", *_STRANGE),
        forms=(
            Variant("own_kid", _location("x5u", _certificate)),
            Variant("trusted_kid", _location("x5u", _certificate, own_kid=False), ("header.x5u", "signature")),
        ),
        needs=frozenset({Need.RSA_KEY}),
        fetched=True,
    ),
    Defect(
        name="x5c_of_stranger",
        sentence="A stranger signed the token and put a certificate of that key into the header.",
        kind=Kind.HEADER,
        changes=("header.x5c", *_STRANGE),
        forms=(
            Variant("own_kid", _chain(own_kid=True)),
            Variant("trusted_kid", _chain(own_kid=False), ("header.x5c", "signature")),
        ),
    ),
    Defect(
        name="jwk_of_issuer",
        sentence="The token is honest, and its header repeats the issuer's public key.",
        kind=Kind.HEADER,
        changes=("header.jwk",),
        forms=one(_own_jwk),
        expectation=Expectation.DISPUTED,
    ),
)

_OTHER_KEYS = (
    Defect(
        name="signed_with_encryption_key",
        sentence="The issuer's published encryption key signed the token.",
        kind=Kind.SIGNATURE,
        changes=("signature", "header.kid"),
        forms=one(_by_encryption_key),
        expectation=Expectation.DISPUTED,
        needs=frozenset({Need.RSA_KEY}),
    ),
    Defect(
        name="signed_by_second_issuer_under_trusted_kid",
        sentence="Another issuer's key signed a token that claims to be the trusted issuer's, key id included.",
        kind=Kind.SIGNATURE,
        changes=("signature",),
        forms=one(_by_second_under_trusted_kid),
    ),
    Defect(
        name="issued_by_second_issuer",
        sentence="An issuer whom nobody configured issued the token honestly, under a URL where its keys are.",
        kind=Kind.SIGNATURE,
        changes=("claims.iss", "header.kid", "signature"),
        forms=one(_issued_by_second),
    ),
)

SELECTION_DEFECTS = (*_KID, *_LOCATION, *_OTHER_KEYS)
