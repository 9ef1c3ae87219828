"""The server that asks about every token: what it believes, what it refuses, and when it cannot tell."""

import asyncio
import time

import httpx
import pytest

from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, Behaviour, BehaviourName
from mcp_auth_contract.issuer.introspection import ClientAuthentication, IntrospectionAnswer
from mcp_auth_contract_lab import fetching
from mcp_auth_contract_lab.app import create_app
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.profiles import configured
from mcp_auth_contract_lab.settings import LabSettings

CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
GOOD = "opaque-token+with/odd.chars~="


@pytest.fixture
def opaque(make_lab, issuer, moving, keys):
    """Return a lab that introspects, and a maker of known tokens; a change to `...` leaves a member out."""
    lab = make_lab(Profile.OPAQUE, issuer=issuer.url, keys=None, clock=moving)

    def known(token=GOOD, **changes):
        members = {"active": True, **keys.claims(iss=issuer.url), **changes}
        answer = IntrospectionAnswer(members={name: value for name, value in members.items() if value is not ...})
        issuer.introspection.register(token, answer)
        return token

    return lab, known


def read(lab, token):
    return lab.modern("tools/call", CALL, token)


ACCEPTED = [
    {},
    {"iss": ...},
    {"aud": ["https://other.test", "https://mcp.test/mcp"]},
    {"scope": ["invoices:read"]},
    {"token_type": "Bearer"},
    {"nbf": 1},
]
REFUSED = [
    {"active": False},
    {"active": ...},
    {"active": None},
    {"active": "true"},
    {"active": "false"},
    {"active": 1},
    {"active": []},
    {"iss": "https://other.test"},
    {"iss": None},
    {"aud": "https://other.test"},
    {"aud": ...},
    {"exp": 1},
    {"exp": ...},
    {"exp": "tomorrow"},
    {"nbf": 9_999_999_999},
    {"sub": ...},
    {"sub": ""},
    {"tenant_id": ...},
    {"token_type": "refresh_token"},
    {"token_type": 1},
]


@pytest.mark.parametrize("changes", ACCEPTED)
def test_an_active_token_for_this_resource_is_believed(opaque, changes):
    lab, known = opaque
    answer = read(lab, known(**changes))
    assert (answer.status_code, CANARY in answer.text) == (200, True)


@pytest.mark.parametrize("changes", REFUSED)
def test_a_token_that_is_not_active_or_lacks_something_is_refused(opaque, changes):
    lab, known = opaque
    answer = read(lab, known(**changes))
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_the_scope_is_that_of_the_answer(opaque):
    lab, known = opaque
    assert read(lab, known(scope=...)).status_code == 403


def test_an_unknown_token_and_a_signed_one_are_refused(opaque, keys, issuer):
    lab, _ = opaque
    assert read(lab, "unknown").status_code == 401
    assert read(lab, keys.token(iss=issuer.url)).status_code == 401
    assert read(lab, None).status_code == 401


def test_the_server_identifies_itself_and_sends_the_whole_token(opaque, issuer):
    lab, known = opaque
    mark = issuer.introspection.mark()
    read(lab, known())
    (asked,) = issuer.introspection.asked(GOOD, after=mark)
    assert asked.authentication is ClientAuthentication.BASIC
    assert asked.parameters == ("token", "token_type_hint")


TROUBLES = [
    BehaviourName.OUTAGE_503,
    BehaviourName.ERROR_500,
    BehaviourName.UNAUTHORIZED_401,
    BehaviourName.NOT_FOUND,
    BehaviourName.TOO_MANY_REQUESTS,
    BehaviourName.NO_CONTENT,
    BehaviourName.HTML_PAGE,
    BehaviourName.INVALID_JSON,
    BehaviourName.EMPTY_BODY,
    BehaviourName.NULL,
    BehaviourName.TOP_LEVEL_LIST,
    BehaviourName.INTROSPECTION_MOVED,
]


@pytest.mark.parametrize("name", TROUBLES)
def test_while_the_issuer_is_in_trouble_nobody_new_is_let_in(opaque, issuer, name):
    lab, known = opaque
    mark = issuer.mark()
    issuer.introspection.behave(BEHAVIOURS[name])
    answer = read(lab, known())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "www-authenticate" not in answer.headers
    assert issuer.fetches("/introspect-moved", after=mark) == 0
    issuer.introspection.restore()
    assert read(lab, GOOD).status_code == 200


@pytest.mark.parametrize("behaviour", [Behaviour(hang=True), Behaviour(drip=1), Behaviour(body=b" " * 1_100_000)])
def test_an_answer_is_waited_for_in_bounds(opaque, issuer, monkeypatch, behaviour):
    monkeypatch.setattr(fetching, "_TIMEOUT_S", 0.2)
    lab, known = opaque
    issuer.introspection.behave(behaviour)
    started = time.monotonic()
    assert read(lab, known()).status_code == 503
    assert time.monotonic() - started < 30  # the whole answer would take minutes, or never come


def test_nobody_at_the_address_is_trouble_too(make_lab):
    for uri in ("http://127.0.0.1:1/introspect", "ftp://127.0.0.1/introspect"):
        assert read(make_lab(introspection_uri=uri), GOOD).status_code == 503


def test_who_waits_for_the_issuer_holds_up_nobody(opaque, issuer):
    lab, known = opaque
    issuer.introspection.answer(known("slow"), IntrospectionAnswer(hang=True))
    known("quick")
    mark = issuer.introspection.mark()

    async def send(token):
        transport = httpx.ASGITransport(app=lab.app)
        async with httpx.AsyncClient(transport=transport, base_url=lab.settings.base) as client:
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            return await client.post("/mcp", content=b"{", headers=headers)

    async def run():
        slow = asyncio.create_task(send("slow"))
        while not issuer.introspection.asked("slow", after=mark):
            await asyncio.sleep(0)
        quick = await send("quick")
        assert not slow.done()
        issuer.introspection.restore()
        return quick.status_code, (await slow).status_code

    # Bytes that are no JSON are answered with 400 once the caller is known.
    assert asyncio.run(run()) == (400, 400)


def test_a_verdict_is_kept_for_its_time_and_no_longer(opaque, issuer, moving):
    lab, known = opaque
    mark = issuer.introspection.mark()
    known()
    for _ in range(5):
        assert read(lab, GOOD).status_code == 200
    assert len(issuer.introspection.asked(after=mark)) == 1
    issuer.introspection.revoke(GOOD)
    moving.now += 4.9
    assert read(lab, GOOD).status_code == 200
    moving.now += 0.2
    assert read(lab, GOOD).status_code == 401


def test_a_verdict_is_never_kept_beyond_the_tokens_end(opaque, moving):
    lab, known = opaque
    known(exp=moving.now + 2)
    assert read(lab, GOOD).status_code == 200
    moving.now += 2
    assert read(lab, GOOD).status_code == 401


def test_a_refusal_is_not_kept(opaque, issuer):
    lab, known = opaque
    known(active=False)
    assert read(lab, GOOD).status_code == 401
    known()
    assert read(lab, GOOD).status_code == 200


def test_a_kept_verdict_is_for_the_very_same_token(opaque):
    lab, known = opaque
    known("Opaque")
    assert read(lab, "Opaque").status_code == 200
    for other in ("Opaque1", "opaque", "Opaqu", "Opaque="):
        assert read(lab, other).status_code == 401


def test_the_cache_is_bounded(lab):
    introspector = create_app(lab.settings)._introspector
    for number in range(1100):
        introspector._keep(str(number), None, 0)
    assert len(introspector._verdicts) == 1000


def test_opaque_is_a_matter_of_configuration():
    settings = LabSettings(issuer="http://i.test/", resource="http://r.test", base="http://b.test")
    assert configured(settings).introspection_uri is None
    opaque = LabSettings(
        issuer="http://i.test/", resource="http://r.test", base="http://b.test", profiles=frozenset({Profile.OPAQUE})
    )
    assert configured(opaque).introspection_uri == "http://i.test/introspect"
