"""Each fault of introspection shows, and the sound server does not show it."""

import httpx
import pytest

from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, Behaviour, BehaviourName
from mcp_auth_contract.issuer.introspection import ClientAuthentication, IntrospectionAnswer
from mcp_auth_contract_lab import fetching
from mcp_auth_contract_lab.faults import introspection
from mcp_auth_contract_lab.faults.introspection import FAULTS
from mcp_auth_contract_lab.profile import Profile

CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
GOOD = "opaque-token-of-alice-1"


class Room:
    """A lab that introspects, its issuer, its clock, and the keys that make claims."""

    def __init__(self, lab, issuer, moving, keys):
        self.lab, self.issuer, self.moving, self._keys = lab, issuer, moving, keys

    def know(self, token=GOOD, **changes):
        members = {"active": True, **self._keys.claims(iss=self.issuer.url), **changes}
        answer = IntrospectionAnswer(members={name: value for name, value in members.items() if value is not ...})
        self.issuer.introspection.register(token, answer)
        return token

    def ask(self, token=GOOD) -> httpx.Response:
        return self.lab.modern("tools/call", CALL, token)

    def reads(self, token=GOOD) -> bool:
        return CANARY in self.ask(token).text

    def trouble(self, name) -> None:
        self.know()
        self.issuer.introspection.behave(BEHAVIOURS[name])


def said(**changes):
    return lambda room: room.reads(room.know(**changes))


def in_trouble(name):
    def shows(room):
        room.trouble(name)
        return room.reads()

    return shows


def cached_for_ever(room):
    room.know(exp=room.moving.now + 60)
    assert room.reads()
    room.moving.now += 3600
    return room.reads()


def cached_when_revoked(room):
    room.know()
    assert room.reads()
    room.issuer.introspection.revoke(GOOD)
    room.moving.now += 6
    return room.reads()


def other_suffix(room):
    room.know()
    assert room.reads()
    return room.reads(GOOD + "x")


def injected(room):
    room.know()
    return room.reads(f"{GOOD}&client_id=somebody")


def anonymous(room):
    mark = room.issuer.introspection.mark()
    room.know()
    assert room.reads()
    (asked,) = room.issuer.introspection.asked(after=mark)
    return asked.authentication is ClientAuthentication.NONE


def follows(room):
    room.trouble(BehaviourName.INTROSPECTION_MOVED)
    return room.reads(room.know("fresh"))


def server_error(room):
    room.trouble(BehaviourName.OUTAGE_503)
    return room.ask().status_code == 500


def breaks_on(**members):
    return lambda room: broken(room, room.know("strange", **members))


def broken(room, token):
    try:
        return room.ask(token).status_code == 500
    except RuntimeError:
        return True


def breaks_on_delay(room):
    members = {"active": True, **room._keys.claims(iss=room.issuer.url)}
    room.issuer.introspection.register("slow", IntrospectionAnswer(members=members, delay=0.15))
    return broken(room, "slow")


def breaks_on_a_page(room):
    room.trouble(BehaviourName.HTML_PAGE)
    return broken(room, GOOD)


def not_asked_again(room):
    room.trouble(BehaviourName.OUTAGE_503)
    room.ask()
    room.ask()
    room.issuer.introspection.behave(Behaviour())
    room.moving.now += 60
    return not room.reads(room.know("fresh"))


SHOWN = {
    "introspection-outage-remembered": [not_asked_again],
    "introspection-surprises-break": [breaks_on(token_type="DPoP"), breaks_on(aud=...), breaks_on_a_page],
    "introspection-impatient": [breaks_on_delay],
    "introspection-active-ignored": [said(active=False), said(active=...)],
    "introspection-active-truthy": [said(active="false"), said(active=1)],
    "introspection-active-missing-accepted": [said(active=...), said(active=None)],
    "introspection-audience-ignored": [said(aud="https://other.test"), said(aud=...)],
    "introspection-open-on-error-status": [in_trouble(BehaviourName.ERROR_500), in_trouble(BehaviourName.NOT_FOUND)],
    "introspection-open-on-no-answer": [in_trouble(BehaviourName.HANG), in_trouble(BehaviourName.HTML_PAGE)],
    "introspection-cached-for-ever": [cached_for_ever, cached_when_revoked],
    "introspection-cached-by-prefix": [other_suffix],
    "introspection-form-injection": [injected],
    "introspection-anonymous": [anonymous],
    "introspection-redirect-followed": [follows],
    "introspection-500-on-outage": [server_error],
}
CASES = [(fault, shows) for name, fault in FAULTS.items() for shows in SHOWN[name]]


@pytest.fixture
def make_room(make_lab, issuer, moving, keys, monkeypatch):
    monkeypatch.setattr(fetching, "_TIMEOUT_S", 0.3)
    monkeypatch.setattr(introspection, "_PATIENCE_S", 0.1)

    def make(fault=None):
        issuer.control.restore()
        return Room(
            make_lab(Profile.OPAQUE, fault=fault, issuer=issuer.url, keys=None, clock=moving), issuer, moving, keys
        )

    return make


@pytest.mark.parametrize(("fault", "shows"), CASES, ids=lambda value: getattr(value, "name", None))
def test_the_fault_shows_and_the_sound_server_does_not_show_it(make_room, fault, shows):
    assert not shows(make_room())
    assert shows(make_room(fault))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_the_rest_of_the_server_stays_sound(make_room, fault):
    room = make_room(fault)
    assert room.reads(room.know())
    assert room.reads(room.know("bobs", sub="bob")) is False
    if fault.name != "introspection-active-ignored":
        assert room.ask("unknown").status_code == 401


def test_every_fault_is_shown():
    assert set(FAULTS) == set(SHOWN)
