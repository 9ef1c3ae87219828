"""Each fault of issuer, audience, kind and time lets in, or fails on, exactly what it says."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mcp_auth_contract_lab.faults import FAULTS

ISSUER = "https://issuer.test"
RESOURCE = "https://mcp.test/mcp"
CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
FAR = int(time.time()) + 10_000


def answer(lab, token: str):
    return lab.modern("tools/call", CALL, token)


def read(header: Mapping[str, Any] | None = None, **changes: Any) -> Callable[..., bool]:
    """A good token with another header or other claims is accepted."""
    return lambda lab, keys: CANARY in answer(lab, keys.token(header=header, **changes)).text


def fails(header: Mapping[str, Any] | None = None, **changes: Any) -> Callable[..., bool]:
    """The server breaks over a good token with another header or other claims."""
    return lambda lab, keys: answer(lab, keys.token(header=header, **changes)).status_code == 500


def refused(header: Mapping[str, Any] | None = None, **changes: Any) -> Callable[..., bool]:
    """A good token with another header or other claims is refused."""
    return lambda lab, keys: answer(lab, keys.token(header=header, **changes)).status_code == 401


JWT = {"typ": "JWT"}
SEEN: Mapping[str, Callable[..., bool]] = {
    "issuer-of-other-type-accepted": read(iss=1),
    "issuer-list-accepted": read(iss=["https://other.test", ISSUER]),
    "issuer-space-stripped": read(iss=f"{ISSUER}\n"),
    "issuer-cut-at-nul": read(iss=f"{ISSUER}\0x"),
    "issuer-unknown-fails": fails(iss="https://other.test"),
    "audience-object-accepted": read(aud={RESOURCE: 1}),
    "audience-replaced-by-azp": read(aud=..., azp="kit"),
    "audience-of-client-accepted": read(aud="kit"),
    "audience-from-resource-claim": read(aud="https://other.test", resource=RESOURCE),
    "audience-split-at-spaces": read(aud=f"https://other.test {RESOURCE}"),
    "audience-cut-at-nul": read(aud=f"{RESOURCE}\0x"),
    "audience-query-ignored": read(aud=f"{RESOURCE}?a=1"),
    "audience-member-fails": fails(aud=[1, RESOURCE]),
    "audience-unknown-fails": fails(aud="https://other.test"),
    "resource-claim-fails": fails(resource="https://other.test"),
    "kind-ignored": read({"typ": "logout+jwt"}),
    "id-token-accepted": read(JWT, aud="kit", nonce="n"),
    "refresh-token-accepted": read(JWT, aud=ISSUER, typ="Refresh"),
    "assertion-accepted": read({"typ": "oauth-id-jag+jwt"}, aud=ISSUER, resource=RESOURCE),
    "session-token-accepted": read(JWT, aud=..., sid="s"),
    "typ-jwt-accepted": read(JWT, nonce="n"),
    "typ-long-form-refused": refused({"typ": "application/at+jwt"}),
    "typ-type-fails": fails({"typ": 1}),
    "typ-unknown-fails": fails({"typ": "AT+JWT"}),
    "kind-in-claims-fails": fails(token_use="id"),
    "expiry-zero-accepted": read(exp=0),
    "expiry-of-other-type-accepted": read(exp="never"),
    "expiry-text-fails": fails(exp=str(FAR)),
    "expiry-date-fails": fails(exp=2**63),
    "expiry-32-bits-fail": fails(exp=2**31),
    "not-before-required": refused(),
    "not-before-of-other-type-accepted": read(nbf="never"),
    "not-before-type-fails": fails(nbf=None),
    "issued-at-type-fails": fails(iat="x"),
    "issued-at-without-leeway": refused(iat=int(time.time()) + 30),
    "issued-at-age-fails": fails(iat=FAR),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_of_the_claims_shows_and_the_sound_server_does_not_show_it(make_lab, keys, name):
    assert SEEN[name](make_lab(fault=FAULTS[name]), keys)
    assert not SEEN[name](make_lab(), keys)


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_of_the_claims_leaves_the_rest_alone(make_lab, keys, name):
    lab = make_lab(fault=FAULTS[name])
    assert read(nbf=1)(lab, keys)
    assert CANARY not in answer(lab, keys.token("bob", nbf=1)).text
    assert answer(lab, keys.forged()).status_code == 401
    for changes in ({"exp": 1}, {"aud": "https://nobody.test"}, {"iss": "https://nobody.test"}, {"nbf": FAR}):
        assert not read(**{"nbf": 1, **changes})(lab, keys)


@pytest.mark.parametrize("exp", [2**63, 10**400, FAR + 0.5], ids=["64 bits", "400 digits", "half a second"])
def test_the_sound_server_compares_any_number_with_the_clock(make_lab, keys, exp):
    assert read(exp=exp)(make_lab(leeway=0.5), keys)
    assert refused(exp=-exp)(make_lab(), keys)
