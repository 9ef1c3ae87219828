"""Each fault of the key life shows, and the sound server does not show it."""

import asyncio
import hmac
import json
from dataclasses import replace

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from freezegun import freeze_time
from jwt.algorithms import RSAAlgorithm
from jwt.utils import base64url_encode

from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, Behaviour, BehaviourName
from mcp_auth_contract.issuer.odd_keys import OddKey, odd_key, symmetric_secret, weak_key
from mcp_auth_contract_lab import fetching
from mcp_auth_contract_lab.faults import FAULTS as REGISTERED
from mcp_auth_contract_lab.faults.keys import FAULTS

CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}


class Room:
    """A lab that fetches its keys from an issuer, whose JWKS holds the key k1 of the tests."""

    def __init__(self, lab, issuer, moving, keys):
        self.lab, self.issuer, self.moving, self.keys = lab, issuer, moving, keys
        (self.jwk,) = keys.jwks["keys"]
        self.control = issuer.control
        self.control.replace(self.jwk)
        self.mark = issuer.mark()

    def ask(self, token) -> httpx.Response:
        return self.lab.modern("tools/call", CALL, token)

    def reads(self, kid="k1", key=None, **header) -> bool:
        return CANARY in self.ask(self.token(kid, key, **header)).text

    def token(self, kid="k1", key=None, **header) -> str:
        claims = self.keys.claims(iss=self.issuer.url, exp=self.moving.now + 300)
        signing = self.keys if key is None else replace(self.keys, own=key)
        return signing.sign(claims, {"kid": kid, **header})

    def fetches(self) -> int:
        return self.issuer.fetches(after=self.mark)

    def warm(self) -> None:
        assert self.reads()

    def second(self):
        """Publish the stranger's key as k2 and return it."""
        self.control.publish(described(self.keys.stranger, "k2"))
        return self.keys.stranger


def described(key: rsa.RSAPrivateKey, kid: str, **changes):
    jwk = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    return {**jwk, "kid": kid, "use": "sig", "alg": "RS256", **changes}


def never_refetched(room):
    room.warm()
    key = room.second()
    room.moving.now += 1000
    return not room.reads("k2", key)


def fetched_each_time(room):
    for _ in range(4):
        room.warm()
    return room.fetches() == 4


def flooded(room):
    room.warm()
    for number in range(5):
        room.ask(room.token(f"unknown-{number}"))
    return room.fetches() == 6


def withdrawn(room):
    key = room.second()
    assert room.reads("k2", key)
    room.control.withdraw("k2")
    room.moving.now += 1000
    room.warm()
    return room.reads("k2", key)


def replaced(room):
    room.warm()
    room.control.replace(described(room.keys.stranger, "k1"))
    room.moving.now += 1000
    assert room.reads("k1", room.keys.stranger) is not room.reads()
    return room.reads()


def wiped(room):
    room.warm()
    room.control.behave(BEHAVIOURS[BehaviourName.OUTAGE_503])
    room.moving.now += 20
    room.ask(room.token("unknown"))
    return not room.reads()


def forged_when_cold(room):
    room.control.behave(BEHAVIOURS[BehaviourName.OUTAGE_503])
    return room.reads("k1", room.keys.stranger)


def server_error(room):
    room.control.behave(BEHAVIOURS[BehaviourName.HTML_PAGE])
    return room.ask(room.token()).status_code == 500


def blocked(room):
    """A known key waits for the fetch that an unknown one has caused, which the sample server gives up after seconds."""
    room.warm()
    room.moving.now += 20
    room.control.behave(Behaviour(hang=True))
    room.mark = room.issuer.mark()

    async def send(token):
        transport = httpx.ASGITransport(app=room.lab.app)
        async with httpx.AsyncClient(transport=transport, base_url=room.lab.settings.base) as client:
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            return await client.post("/mcp", content=b"{", headers=headers)

    async def run():
        unknown = asyncio.create_task(send(room.token("unknown")))
        while not room.fetches():
            await asyncio.sleep(0)
        assert (await send(room.token())).status_code == 400
        waited = unknown.done()
        room.control.restore()
        assert (await unknown).status_code == 401
        return waited

    return asyncio.run(run())


def strangers_keys(room):
    stranger = described(room.keys.stranger, "k9")
    room.control.replace(stranger)
    room.control.behave(BEHAVIOURS[BehaviourName.REDIRECT_SAME_ORIGIN])
    return room.reads("k9", room.keys.stranger)


def one_bad_member(room):
    room.control.replace(odd_key(OddKey.RSA_N_MISSING, room.jwk), room.jwk)
    return room.ask(room.token()).status_code == 503


def one_text_member(room):
    room.control.replace("text", room.jwk)
    return room.ask(room.token()).status_code == 503


def second_is_unknown(room):
    return not room.reads("k2", room.second())


def symmetric(room):
    room.control.publish(odd_key(OddKey.SYMMETRIC, room.jwk))
    header, payload, _ = room.token("odd-symmetric", alg="HS256").split(".")
    tag = hmac.new(symmetric_secret(), f"{header}.{payload}".encode(), "sha256").digest()
    return CANARY in room.ask(f"{header}.{payload}.{base64url_encode(tag).decode()}").text


def old_dropped(room):
    room.warm()
    room.second()
    room.moving.now += 1000
    assert room.reads("k2", room.keys.stranger)
    return not room.reads()


def never_tried_again(room):
    room.control.behave(BEHAVIOURS[BehaviourName.OUTAGE_503])
    room.ask(room.token())
    room.control.behave(Behaviour())
    room.moving.now += 350
    return not room.reads()


def registered_media_type(room):
    room.control.behave(BEHAVIOURS[BehaviourName.JWK_SET_MEDIA_TYPE])
    return not room.reads()


def breaks_on_weak(room):
    key = weak_key()
    room.control.publish(key)
    try:
        return room.ask(room.token(key.kid, key.private)).status_code == 500
    except RuntimeError:
        return True


def breaks_on_duplicates(room):
    room.control.publish(described(room.keys.stranger, "k1"))
    try:
        return room.ask(room.token()).status_code == 500
    except RuntimeError:
        return True


def without(*members):
    """The key of the tests is published without these members, and its tokens are refused."""

    def shows(room):
        room.control.replace({name: value for name, value in room.jwk.items() if name not in members})
        return not room.reads()

    return shows


SHOWN = {
    "keys-picked-by-alg": [without("alg")],
    "keys-picked-by-use": [without("use")],
    "keys-never-refetched": [never_refetched],
    "keys-fetched-for-every-request": [fetched_each_time],
    "keys-refetched-for-every-unknown-kid": [flooded],
    "withdrawn-keys-kept": [withdrawn],
    "old-keys-dropped-for-new": [old_dropped],
    "same-kid-never-refreshed": [replaced],
    "key-cache-wiped-on-error": [wiped],
    "open-on-jwks-error": [forged_when_cold],
    "500-on-jwks-error": [server_error],
    "slow-jwks-blocks-all": [blocked],
    "jwks-outage-remembered": [never_tried_again],
    "jwks-media-type-refused": [registered_media_type],
    "jwks-redirects-followed": [strangers_keys],
    "key-set-refused-for-one-bad-member": [one_bad_member, one_text_member],
    "first-key-only": [second_is_unknown],
    "weak-keys-break": [breaks_on_weak],
    "duplicate-kids-break": [breaks_on_duplicates],
    "symmetric-key-accepted": [symmetric],
}
CASES = [(fault, shows) for name, fault in FAULTS.items() for shows in SHOWN[name]]


@pytest.fixture
def make_room(make_lab, issuer, moving, keys):
    def make(fault=None):
        issuer.control.restore()
        lab = make_lab(fault=fault, issuer=issuer.url, keys=None, jwks_uri=issuer.jwks_uri, clock=moving)
        return Room(lab, issuer, moving, keys)

    return make


@pytest.mark.parametrize(("fault", "shows"), CASES, ids=lambda value: getattr(value, "name", None))
def test_the_fault_shows_and_the_sound_server_does_not_show_it(make_room, fault, shows):
    assert not shows(make_room())
    assert shows(make_room(fault))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_the_rest_of_the_server_stays_sound(make_room, fault):
    room = make_room(fault)
    assert room.reads()
    assert not room.reads("k1", room.keys.stranger)
    assert not room.reads("unknown", room.keys.stranger)


def test_every_fault_is_shown_and_has_a_name_of_its_own():
    assert set(FAULTS) == set(SHOWN)
    assert all(REGISTERED[name] is fault for name, fault in FAULTS.items())


@pytest.mark.parametrize("name", [BehaviourName.HANG, BehaviourName.DRIP])
def test_the_sound_server_waits_for_keys_in_bounds(make_room, monkeypatch, name):
    monkeypatch.setattr(fetching, "_TIMEOUT_S", 0.2)
    room = make_room()
    room.control.behave(BEHAVIOURS[name])
    assert room.ask(room.token()).status_code == 503


def test_keys_that_come_in_drops_are_given_up_though_the_clock_stands_still(issuer, monkeypatch):
    monkeypatch.setattr(fetching, "_TIMEOUT_S", 0.2)
    issuer.control.behave(Behaviour(drip=20))
    with freeze_time("2026-01-01", real_asyncio=True), pytest.raises(fetching.Unreachable):
        fetching.exchange(issuer.jwks_uri)


ODD_SETS = [
    [OddKey.UNSUPPORTED_KTY, OddKey.ML_DSA, OddKey.X25519, OddKey.EC_OFF_CURVE],
    [OddKey.RSA_N_NOT_BASE64, OddKey.RSA_N_ZERO, OddKey.RSA_N_MISSING, OddKey.STRING, OddKey.NULL],
    [OddKey.USE_ENC, OddKey.ALG_OTHER, OddKey.KID_MISSING, OddKey.SYMMETRIC, OddKey.RSA_1024],
]


@pytest.mark.parametrize("names", ODD_SETS)
def test_the_sound_server_finds_the_good_key_among_odd_ones(make_room, names):
    room = make_room()
    room.control.replace(*(odd_key(name, room.jwk) for name in names), room.jwk)
    assert room.reads()
