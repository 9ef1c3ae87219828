"""The odd members are odd in one way each, and those that should parse do."""

import json

import pytest
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from mcp_auth_contract.issuer.control import Control
from mcp_auth_contract.issuer.odd_keys import ODD_KEYS, OddKey, odd_key, other_keys, symmetric_secret, weak_key
from mcp_auth_contract.tokens import Algorithm, Role, published_key

GOOD = published_key(Role.ISSUER, Algorithm.RS256).public_jwk()
BROKEN = [
    OddKey.UNSUPPORTED_KTY,
    OddKey.X25519,
    OddKey.EC_OFF_CURVE,
    OddKey.RSA_N_NOT_BASE64,
    OddKey.RSA_N_ZERO,
    OddKey.RSA_N_MISSING,
]
ANEW = {
    OddKey.KEY_OPS_ENCRYPT: {"use", "key_ops"},
    OddKey.USE_ENC: {"use"},
    OddKey.ALG_OTHER: {"alg"},
    OddKey.ALG_MISSING: {"alg"},
    OddKey.KID_MISSING: {"kid"},
}


@pytest.mark.parametrize("name", OddKey)
def test_every_odd_member_can_be_published_and_written(name: OddKey) -> None:
    control = Control(lambda _issuer: ())
    control.publish(odd_key(name, GOOD))
    assert len(json.loads(json.dumps(control.state().jwks()))["keys"]) == 1


def test_every_name_has_a_member() -> None:
    assert set(ODD_KEYS) == set(OddKey)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_key_cannot_be_used_by_anybody(name: OddKey) -> None:
    with pytest.raises((PyJWTError, ValueError)):
        PyJWK(dict(odd_key(name, GOOD)), "ES256" if name is OddKey.EC_OFF_CURVE else None)


@pytest.mark.parametrize("name", ANEW)
def test_the_good_key_described_anew_differs_in_that_alone(name: OddKey) -> None:
    odd = odd_key(name, GOOD)
    assert {member for member in {*odd, *GOOD} if odd.get(member) != GOOD.get(member)} == ANEW[name]


def test_the_weak_key_signs_and_is_the_one_that_is_published() -> None:
    assert odd_key(OddKey.RSA_1024, GOOD) == weak_key().public_jwk()
    assert weak_key().private.key_size == 1024
    assert len(weak_key().sign(b"message")) == 128


def test_the_symmetric_key_holds_the_secret() -> None:
    key = PyJWK(dict(odd_key(OddKey.SYMMETRIC, GOOD)))
    assert key.key == symmetric_secret()


def test_other_keys_parse_and_differ() -> None:
    keys = other_keys(999)
    assert len({key["kid"] for key in keys}) == len({key["n"] for key in keys}) == 999
    assert {PyJWK(dict(key)).key.key_size for key in (keys[0], keys[500], keys[-1])} == {2048}
