"""An issuer in trouble: what it sends, whom it lets wait, and that it still ends at once."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from freezegun import freeze_time

from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerName, IssuerSettings
from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, Behaviour, BehaviourName
from mcp_auth_contract.tokens import Algorithm, Role

ES256 = IssuerSettings(algorithms=(Algorithm.ES256,))


@pytest.fixture
def issuer() -> Iterator[EmbeddedIssuer]:
    with EmbeddedIssuer(ES256) as running:
        yield running


def get(issuer: EmbeddedIssuer, path: str = "/jwks") -> httpx.Response:
    return httpx.get(f"{issuer.url}{path}", timeout=20)


def until(holds: Callable[[], bool]) -> None:
    """Wait for another thread; the event never comes, so that a frozen clock does no harm."""
    for _ in range(6000):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never held")


ANSWERS = [
    (BehaviourName.OUTAGE_503, 503, ""),
    (BehaviourName.ERROR_500, 500, ""),
    (BehaviourName.UNAUTHORIZED_401, 401, "invalid_client"),
    (BehaviourName.NOT_FOUND, 404, ""),
    (BehaviourName.TOO_MANY_REQUESTS, 429, ""),
    (BehaviourName.NO_CONTENT, 204, ""),
    (BehaviourName.HTML_PAGE, 200, "<p>"),
    (BehaviourName.INVALID_JSON, 200, '{"keys":['),
    (BehaviourName.EMPTY_BODY, 200, ""),
    (BehaviourName.NULL, 200, "null"),
    (BehaviourName.TOP_LEVEL_LIST, 200, "[]"),
]


@pytest.mark.parametrize(("name", "status", "text"), ANSWERS)
def test_each_trouble_is_answered_as_its_name_says(
    issuer: EmbeddedIssuer, name: BehaviourName, status: int, text: str
) -> None:
    issuer.control.behave(BEHAVIOURS[name])
    answer = get(issuer)
    assert answer.status_code == status
    assert text in answer.text
    assert bool(answer.text) is bool(text)
    assert answer.headers.get("retry-after") == ("3600" if status == 429 else None)


def test_every_name_has_a_behaviour_and_each_is_another() -> None:
    assert set(BEHAVIOURS) == set(BehaviourName)
    assert all(one != other for one in BEHAVIOURS for other in BEHAVIOURS if one is not other)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        (BehaviourName.WRONG_CONTENT_TYPE, "text/html"),
        (BehaviourName.JWK_SET_MEDIA_TYPE, "application/jwk-set+json"),
    ],
)
def test_another_media_type_leaves_the_keys_right(issuer: EmbeddedIssuer, name: BehaviourName, media_type: str) -> None:
    usual = get(issuer)
    issuer.control.behave(BEHAVIOURS[name])
    answer = get(issuer)
    assert (answer.headers["content-type"], answer.content) == (media_type, usual.content)


def test_a_redirect_leads_to_the_same_keys_or_to_a_strangers(issuer: EmbeddedIssuer) -> None:
    usual = get(issuer).json()
    issuer.control.behave(BEHAVIOURS[BehaviourName.REDIRECT_SAME_ORIGIN])
    assert get(issuer).status_code == 302
    assert httpx.get(issuer.jwks_uri, follow_redirects=True).json() == usual
    issuer.control.behave(BEHAVIOURS[BehaviourName.REDIRECT_TO_STRANGER])
    stranger = issuer.signing_key(role=Role.STRANGER).public_jwk()
    assert httpx.get(issuer.jwks_uri, follow_redirects=True).json() == {"keys": [stranger]}
    assert (issuer.fetches("/jwks-moved"), issuer.fetches("/jwks-stranger")) == (1, 1)


def test_who_hangs_holds_up_nobody_and_is_answered_when_the_behaviour_changes(issuer: EmbeddedIssuer) -> None:
    issuer.control.behave(BEHAVIOURS[BehaviourName.HANG])
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(get, issuer) for _ in range(3)]
        until(lambda: issuer.fetches() == 3)
        assert get(issuer, "/second/jwks").status_code == 200
        issuer.control.publish({"kty": "XYZ", "kid": "new"})
        assert get(issuer, "/.well-known/openid-configuration").status_code == 200
        assert not any(one.done() for one in waiting)
        issuer.control.restore()
        assert {one.result().status_code for one in waiting} == {200}


@pytest.mark.parametrize("behaviour", [Behaviour(hang=True), Behaviour(delay=60), Behaviour(drip=0.1)])
def test_the_issuer_ends_at_once_while_somebody_waits(behaviour: Behaviour) -> None:
    with ThreadPoolExecutor() as pool:
        with EmbeddedIssuer(ES256) as issuer:
            issuer.control.behave(behaviour)
            waiting = pool.submit(get, issuer)
            until(lambda: issuer.fetches() == 1)
        # Cut off by the issuer; one that waited for its answer would have let the client run out of time.
        with pytest.raises(httpx.TransportError) as cut:
            waiting.result()
        assert not isinstance(cut.value, httpx.TimeoutException)


def test_a_change_after_the_end_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor() as pool:
        with EmbeddedIssuer(ES256) as issuer:
            issuer.control.behave(Behaviour(hang=True))
            waiting = pool.submit(get, issuer)
            until(lambda: bool(issuer.control.change._waiting))
        with pytest.raises(httpx.TransportError):
            waiting.result()
    issuer.control.restore()
    assert issuer.control.change._waiting == {}
    assert caplog.records == []


def test_a_late_answer_comes_late(issuer: EmbeddedIssuer) -> None:
    issuer.control.behave(Behaviour(delay=0.3))
    assert get(issuer).elapsed.total_seconds() >= 0.3


def test_an_answer_does_not_wait_for_a_late_one() -> None:
    with ThreadPoolExecutor() as pool:
        with EmbeddedIssuer(ES256) as issuer:
            issuer.control.behave(Behaviour(delay=60))
            waiting = pool.submit(get, issuer)
            until(lambda: issuer.fetches() == 1)
            assert get(issuer, "/second/jwks").status_code == 200
            assert not waiting.done()
        with pytest.raises(httpx.TransportError):
            waiting.result()


def test_a_dripping_answer_is_whole_in_the_end(issuer: EmbeddedIssuer) -> None:
    issuer.control.behave(Behaviour(body=b"0123456789" * 2, drip=100))
    started = time.monotonic()
    answer = get(issuer)
    assert answer.text == "0123456789" * 2
    assert time.monotonic() - started > 0.15
    with pytest.raises(ValueError, match="above zero"):
        Behaviour(drip=0)


def test_a_frozen_clock_stops_no_answer() -> None:
    with freeze_time("2026-01-01", real_asyncio=True), EmbeddedIssuer(ES256) as issuer:
        issuer.control.behave(Behaviour(delay=0.01, body=b"abc", drip=100))
        assert get(issuer).text == "abc"
        issuer.control.behave(Behaviour(hang=True))
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(get, issuer)
            while issuer.fetches() < 2:
                threading.Event().wait(0)
            issuer.control.restore()
            assert waiting.result().status_code == 200
        assert get(issuer, "/heard/frozen/cert.pem").status_code == 200


def test_fetches_are_counted_after_a_mark_and_visits_per_issuer(issuer: EmbeddedIssuer) -> None:
    get(issuer)
    mark = issuer.mark()
    get(issuer)
    get(issuer, "/second/jwks")
    get(issuer, "/.well-known/oauth-authorization-server/second")
    get(issuer, "/second/.well-known/openid-configuration")
    assert (issuer.fetches(), issuer.fetches(after=mark)) == (2, 1)
    assert len(issuer.visits(IssuerName.SECOND)) == 3
    assert len(issuer.visits(IssuerName.TRUSTED, after=mark)) == 1
    assert issuer.visits(IssuerName.LOOKALIKE) == ()
