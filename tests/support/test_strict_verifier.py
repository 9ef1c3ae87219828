"""The strict verifier refuses each thing for its own reason, and accepts whatever is merely unusual."""

import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.support.strict_verifier import Reason, Refused, StrictVerifier

from mcp_auth_contract.tokens import (
    Algorithm,
    Identity,
    Role,
    SigningKey,
    TokenProfile,
    TokenSpec,
    good_token,
    published_key,
)
from mcp_auth_contract.tokens.keys import fresh_key
from mcp_auth_contract.tokens.mint import mint

PROFILE = TokenProfile(issuer="https://issuer.test", audience="https://mcp.test/mcp")
KEY = published_key(Role.ISSUER, Algorithm.ES256)
ALICE = Identity(name="alice", subject="alice", scopes=("read",))
Edit = Callable[[TokenSpec], TokenSpec]


def verify(edit: Edit, key: SigningKey = KEY, typ: str | None = None) -> object:
    token = mint(edit(good_token(PROFILE, ALICE, KEY, time.time())))
    verifier = StrictVerifier(
        [key], issuer=PROFILE.issuer, audience=PROFILE.audience, algorithms=list(Algorithm), leeway=10, typ=typ
    )
    return verifier.verify(token)["sub"]


def claim(name: str, value: object) -> Edit:
    return lambda good: good.with_claim(name, value)


def header(name: str, value: object) -> Edit:
    return lambda good: good.with_header(**{name: value})


def number(name: str, text: str) -> Edit:
    return lambda good: replace(
        good,
        raw_payload=json.dumps({k: v for k, v in good.claims.items() if k != name})[:-1].encode()
        + f',"{name}":{text}}}'.encode(),
    )


def in_seconds(name: str, seconds: float) -> Edit:
    return lambda good: good.with_claim(name, time.time() + seconds)


LEGAL: dict[str, Edit] = {
    "as it is": lambda good: good,
    "audience in a list": claim("aud", ["urn:other", PROFILE.audience]),
    "expiry with a fraction": in_seconds("exp", 5.5),
    "expired within the leeway": in_seconds("exp", -5),
    "not yet valid within the leeway": in_seconds("nbf", 5),
    "expiry with an exponent": number("exp", "1e10"),
    "expiry beyond any float": number("exp", "1" + "0" * 400),
    "issued in the future": in_seconds("iat", 3600),
    "no nbf": lambda good: good.without_claim("nbf"),
    "no iat": lambda good: good.without_claim("iat"),
    "no scope": lambda good: good.without_claim("scope"),
    "scopes in a list": claim("scope", ["read"]),
    "an unknown claim": claim("kit", {"nested": [[1.5, None]]}),
    "an unknown header member": header("kit", 1),
    "a key in the header": header("jwk", KEY.public_jwk()),
    "b64 true": header("b64", True),
    "replicated issuer": header("iss", PROFILE.issuer),
    "nested ninety deep": number("kit", "[" * 90 + "]" * 90),
}

REFUSED: dict[str, tuple[Edit, Reason]] = {
    "an alg that is no text": (header("alg", ["ES256"]), Reason.ALGORITHM),
    "an alg of another case": (header("alg", "es256"), Reason.ALGORITHM),
    "crit": (header("crit", ["exp"]), Reason.CRITICAL),
    "b64 false": (header("b64", False), Reason.CRITICAL),
    "zip": (header("zip", "DEF"), Reason.CRITICAL),
    "a typ that is no text": (header("typ", 1), Reason.KIND),
    "a kid that is no text": (header("kid", [KEY.kid]), Reason.KEY),
    "an unknown kid": (header("kid", "other"), Reason.KEY),
    "another algorithm than the key's": (header("alg", "RS256"), Reason.KEY),
    "another issuer in the header": (header("iss", "https://other.test"), Reason.CLAIM),
    "an issuer in a list": (claim("iss", [PROFILE.issuer]), Reason.ISSUER),
    "an audience list with a number": (claim("aud", [1, PROFILE.audience]), Reason.AUDIENCE),
    "an audience as member": (claim("aud", {PROFILE.audience: 1}), Reason.AUDIENCE),
    "expiry as text": (claim("exp", "9999999999"), Reason.CLAIM),
    "expiry as boolean": (claim("exp", True), Reason.CLAIM),
    "expired": (in_seconds("exp", -11), Reason.EXPIRED),
    "not yet valid": (in_seconds("nbf", 30), Reason.NOT_YET_VALID),
    "nbf null": (claim("nbf", None), Reason.CLAIM),
    "iat as text": (claim("iat", "1"), Reason.CLAIM),
    "a blank subject": (claim("sub", " \t"), Reason.CLAIM),
    "a number as subject": (claim("sub", 7), Reason.CLAIM),
    "a number as scope": (claim("scope", 7), Reason.CLAIM),
    "scopes nested": (claim("scope", [["read"]]), Reason.CLAIM),
    "nested two hundred deep": (number("kit", "[" * 200 + "]" * 200), Reason.MALFORMED),
    "an infinite number": (number("kit", "1e999"), Reason.MALFORMED),
    "five thousand digits": (number("kit", "1" * 5000), Reason.MALFORMED),
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_legal_is_accepted(name: str) -> None:
    assert verify(LEGAL[name]) == "alice"


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused_for_its_own_reason(name: str) -> None:
    edit, reason = REFUSED[name]
    with pytest.raises(Refused) as refused:
        verify(edit)
    assert refused.value.reason is reason


@pytest.mark.parametrize("typ", ["at+jwt", "AT+JWT", "application/at+jwt"])
def test_a_kind_is_compared_as_a_media_type(typ: str) -> None:
    assert verify(header("typ", typ), typ="at+jwt") == "alice"
    assert verify(header("typ", "at+jwt"), typ=typ) == "alice"


@pytest.mark.parametrize("edit", [header("typ", "JWT"), lambda good: good.without_header("typ")])
def test_another_kind_is_refused_only_where_one_is_demanded(edit: Edit) -> None:
    assert verify(edit) == "alice"
    with pytest.raises(Refused) as refused:
        verify(edit, typ="at+jwt")
    assert refused.value.reason is Reason.KIND


def test_a_key_that_is_too_short_proves_nothing() -> None:
    short = SigningKey(Algorithm.RS256, "short", rsa.generate_private_key(65537, 1024))
    with pytest.raises(Refused) as refused:
        verify(lambda good: replace(good.with_header(alg="RS256", kid="short"), key=short), key=short)
    assert refused.value.reason is Reason.KEY


def test_the_signature_of_another_key_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        verify(lambda good: good, key=replace(fresh_key(Algorithm.ES256, "x"), kid=KEY.kid))
    assert refused.value.reason is Reason.SIGNATURE


def test_a_refusal_says_the_reason_and_nothing_of_the_token() -> None:
    with pytest.raises(Refused, match=r"^issuer$"):
        verify(claim("iss", "https://secret.test"))
