"""What the issuer says about a token (RFC 7662), who asked, and that no token is kept (RFC 7009 for its end)."""

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.issuer.behaviours import BEHAVIOURS, Behaviour, BehaviourName
from mcp_auth_contract.issuer.introspection import ClientAuthentication, IntrospectionAnswer, fingerprint
from mcp_auth_contract.tokens import Algorithm

TOKEN = "s3cret+opaque/token="
ACTIVE = IntrospectionAnswer(members={"active": True, "sub": "alice"})


@pytest.fixture
def issuer() -> Iterator[EmbeddedIssuer]:
    with EmbeddedIssuer(IssuerSettings(algorithms=(Algorithm.ES256,))) as running:
        running.introspection.register(TOKEN, ACTIVE)
        yield running


def ask(issuer: EmbeddedIssuer, token: str = TOKEN, **more: object) -> httpx.Response:
    return httpx.post(issuer.introspection_uri, data={"token": token, "token_type_hint": "access_token"}, **more)


def test_a_registered_token_is_active_and_any_other_is_not(issuer: EmbeddedIssuer) -> None:
    assert ask(issuer).json() == {"active": True, "sub": "alice"}
    assert ask(issuer, TOKEN + "x").json() == {"active": False}
    assert ask(issuer, TOKEN.upper()).json() == {"active": False}


def test_an_answer_changes_at_any_time_and_comes_back(issuer: EmbeddedIssuer) -> None:
    issuer.introspection.answer(TOKEN, IntrospectionAnswer(members={"active": "false"}))
    assert ask(issuer).json() == {"active": "false"}
    issuer.introspection.answer(TOKEN, IntrospectionAnswer(status=500, content_type="text/html", body=b"<p>"))
    answer = ask(issuer)
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (500, "text/html", "<p>")
    issuer.introspection.restore()
    assert ask(issuer).json()["active"] is True


def test_a_revoked_token_is_inactive_whoever_revokes_it(issuer: EmbeddedIssuer) -> None:
    issuer.introspection.revoke(TOKEN)
    assert ask(issuer).json() == {"active": False}
    issuer.introspection.register(TOKEN, ACTIVE)
    assert ask(issuer).json()["active"] is True
    assert httpx.post(issuer.revocation_uri, data={"token": TOKEN}).status_code == 200
    assert ask(issuer).json() == {"active": False}
    assert httpx.post(issuer.revocation_uri, data={"token": "unknown"}).status_code == 200


def test_the_whole_endpoint_can_be_in_trouble(issuer: EmbeddedIssuer) -> None:
    issuer.introspection.behave(BEHAVIOURS[BehaviourName.ERROR_500])
    assert ask(issuer).status_code == 500
    issuer.introspection.behave(BEHAVIOURS[BehaviourName.WRONG_CONTENT_TYPE])
    assert ask(issuer).json()["active"] is True
    issuer.introspection.behave(BEHAVIOURS[BehaviourName.INTROSPECTION_MOVED])
    assert ask(issuer).status_code == 307
    assert ask(issuer, follow_redirects=True).json()["active"] is True
    assert issuer.fetches("/introspect-moved") == 1
    issuer.control.restore()
    assert ask(issuer).status_code == 200


@pytest.mark.parametrize("whole", [True, False])
def test_a_hanging_introspection_is_answered_when_something_changes(issuer: EmbeddedIssuer, whole: bool) -> None:
    if whole:
        issuer.introspection.behave(Behaviour(hang=True))
    else:
        issuer.introspection.answer(TOKEN, IntrospectionAnswer(hang=True))
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(ask, issuer)
        while not issuer.introspection.asked():
            pass
        assert httpx.get(issuer.jwks_uri).status_code == 200
        assert not waiting.done()
        issuer.introspection.restore()
        assert waiting.result().json()["active"] is True


AUTHENTICATIONS = [
    ({}, {}, ClientAuthentication.NONE),
    ({"auth": ("lab", "s3cret")}, {}, ClientAuthentication.BASIC),
    ({"auth": ("lab", "")}, {}, ClientAuthentication.BASIC),
    ({"auth": ("", "s3cret")}, {}, ClientAuthentication.OTHER),
    ({"headers": {"authorization": "Basic !!"}}, {}, ClientAuthentication.OTHER),
    ({"headers": {"authorization": "Bearer s3cret"}}, {}, ClientAuthentication.OTHER),
    ({}, {"client_id": "lab", "client_secret": "s3cret"}, ClientAuthentication.POST),
    ({}, {"client_id": "lab"}, ClientAuthentication.NONE),
    ({}, {"client_assertion": "s3cret"}, ClientAuthentication.OTHER),
]


@pytest.mark.parametrize(("options", "form", "expected"), AUTHENTICATIONS)
def test_how_the_client_identified_itself_is_remembered(
    issuer: EmbeddedIssuer, options: dict[str, object], form: dict[str, str], expected: ClientAuthentication
) -> None:
    answer = httpx.post(issuer.introspection_uri, data={"token": TOKEN, **form}, **options)
    assert answer.json()["active"] is True
    (asked,) = issuer.introspection.asked()
    assert (asked.authentication, asked.parameters) == (expected, ("token", *form))


def test_neither_token_nor_secret_is_kept(issuer: EmbeddedIssuer) -> None:
    ask(issuer, auth=("lab", "s3cret"))
    httpx.post(issuer.introspection_uri, data={"token": TOKEN, TOKEN: "x", "client_secret": "s3cret"})
    requests = [(one.method, one.path, dict(one.headers)) for one in issuer.memory.requests()]
    kept = pickle.dumps((requests, issuer.introspection.asked(), list(issuer.introspection._registered)))
    assert b"s3cret" not in kept
    assert issuer.introspection.asked()[1].parameters == ("token", "other", "client_secret")
    assert fingerprint(TOKEN).encode() in kept


def test_requests_are_counted_per_token_and_after_a_mark(issuer: EmbeddedIssuer) -> None:
    ask(issuer)
    mark = issuer.introspection.mark()
    ask(issuer)
    ask(issuer, "another")
    assert len(issuer.introspection.asked()) == 3
    assert [asked.number for asked in issuer.introspection.asked(TOKEN, after=mark)] == [2]


@pytest.mark.parametrize("content", [b"", b"token=a&token=b", b"token_type_hint=access_token", b"x" * 100_000])
def test_a_request_without_one_token_is_refused(issuer: EmbeddedIssuer, content: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for url in (issuer.introspection_uri, issuer.revocation_uri):
        answer = httpx.post(url, content=content, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
        assert httpx.get(url).status_code == 405


def test_an_answer_shows_no_claims() -> None:
    assert "alice" not in repr(ACTIVE)
