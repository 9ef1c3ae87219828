import threading

import pytest

from mcp_auth_contract.issuer import IssuerName
from mcp_auth_contract.issuer.behaviours import Behaviour
from mcp_auth_contract.issuer.control import Control
from mcp_auth_contract.issuer.introspection import IntrospectionAnswer, Memory
from mcp_auth_contract.tokens import Algorithm, Role, published_key

ISSUER = published_key(Role.ISSUER, Algorithm.ES256)
SECOND = published_key(Role.SECOND, Algorithm.ES256)
THIRD = published_key(Role.ISSUER, Algorithm.EDDSA)


def kids(control: Control, issuer: IssuerName = IssuerName.TRUSTED) -> list[object]:
    return [key["kid"] for key in control.state(issuer).keys]


def fresh_control() -> Control:
    return Control(lambda name: (SECOND,) if name is IssuerName.SECOND else (ISSUER,))


def test_keys_are_added_withdrawn_replaced_and_restored() -> None:
    control = fresh_control()
    control.publish(THIRD)
    assert kids(control) == [ISSUER.kid, THIRD.kid]
    control.withdraw(ISSUER.kid)
    assert kids(control) == [THIRD.kid]
    control.replace()
    assert kids(control) == []
    control.restore()
    assert kids(control) == [ISSUER.kid]


def test_issuers_are_changed_apart_from_each_other() -> None:
    control = fresh_control()
    control.replace(THIRD, issuer=IssuerName.SECOND)
    assert kids(control) == [ISSUER.kid]
    assert kids(control, IssuerName.SECOND) == [THIRD.kid]


def test_the_initial_keys_are_asked_for_once_and_only_when_needed() -> None:
    asked: list[IssuerName] = []
    control = Control(lambda name: asked.append(name) or (ISSUER,))  # type: ignore[func-returns-value]
    assert asked == []
    for _ in range(3):
        control.state(IssuerName.SECOND)
    assert asked == [IssuerName.SECOND]


def test_two_keys_may_share_a_key_id() -> None:
    control = fresh_control()
    control.publish({**SECOND.public_jwk(), "kid": ISSUER.kid})
    assert kids(control) == [ISSUER.kid, ISSUER.kid]
    control.withdraw(ISSUER.kid)
    assert kids(control) == []


def test_what_is_no_jwk_can_be_a_member_and_is_left_alone() -> None:
    control = fresh_control()
    control.publish("text", None, 7)
    control.withdraw(ISSUER.kid)
    assert control.state().jwks() == {"keys": ["text", None, 7]}
    assert control.state().kids == (None, None, None)


def test_restoring_puts_back_the_keys_the_behaviours_and_the_tokens_of_every_issuer() -> None:
    control = fresh_control()
    control.introspection.register("good", IntrospectionAnswer(members={"active": True}))
    for name in IssuerName:
        control.replace(issuer=name)
        control.behave(Behaviour(hang=True), issuer=name)
    control.introspection.revoke("good")
    control.introspection.behave(Behaviour(status=503))
    control.restore()
    assert [len(control.state(name).keys) for name in IssuerName] == [1, 1, 1]
    assert {control.state(name).behaviour.hang for name in IssuerName} == {False}
    assert control.introspection.behaviour == Behaviour()
    assert control.introspection.answer_for("good").members == {"active": True}


def test_one_issuer_can_be_restored_alone() -> None:
    control = fresh_control()
    control.introspection.behave(Behaviour(status=503))
    control.replace()
    control.replace(issuer=IssuerName.SECOND)
    control.restore(IssuerName.SECOND)
    assert (kids(control), kids(control, IssuerName.SECOND)) == ([], [SECOND.kid])
    assert control.introspection.behaviour.status == 503


def test_a_symmetric_key_is_published_only_as_one() -> None:
    control = fresh_control()
    control.publish({"kty": "oct", "k": "AQ"})
    with pytest.raises(ValueError, match="private"):
        control.publish({"kty": "oct", "k": "AQ", "d": "AQ"})
    assert "AQ" not in repr(control.state())


def test_withdrawing_an_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        fresh_control().withdraw("nobody's")


@pytest.mark.parametrize("member", ["d", "k", "p", "qi"])
def test_a_private_member_is_never_published(member: str) -> None:
    control = fresh_control()
    with pytest.raises(ValueError, match="private") as told:
        control.publish({**ISSUER.public_jwk(), member: "c2VjcmV0"})
    assert "c2VjcmV0" not in str(told.value)
    assert kids(control) == [ISSUER.kid]


def test_a_state_once_read_does_not_change() -> None:
    control = fresh_control()
    before = control.state()
    control.publish(THIRD)
    control.behave(Behaviour(status=503))
    assert len(before.keys) == 1
    assert before.behaviour == Behaviour()
    assert control.state().behaviour == Behaviour(status=503)
    with pytest.raises(TypeError):
        before.keys[0]["kid"] = "x"  # type: ignore[index]


def test_changes_from_many_threads_are_all_kept() -> None:
    control = fresh_control()
    jwk = THIRD.public_jwk()

    def publish(number: int) -> None:
        for step in range(20):
            control.publish({**jwk, "kid": f"{number}-{step}"})

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(kids(control))) == 161


def test_requests_are_remembered_with_their_time_and_without_credentials() -> None:
    now = [100.0]
    memory = Memory(lambda: now[0])
    memory.record("GET", "/jwks", [("User-Agent", "x"), ("Authorization", "Bearer s3cret"), ("Cookie", "s3cret")])
    now[0] = 200.0
    memory.record("POST", "/token", [("DPoP", "s3cret")])
    assert [request.at for request in memory.requests()] == [100.0, 200.0]
    assert memory.requests("/jwks")[0].headers == {"user-agent": "x"}
    assert [request.path for request in memory.requests(since=150)] == ["/token"]
    assert "s3cret" not in repr(memory.requests())


def test_requests_are_told_apart_by_marks_and_by_what_they_are_under() -> None:
    memory = Memory(lambda: 7.0)
    memory.record("GET", "/a", [])
    mark = memory.total
    for path in ("/a", "/a/b", "/ab"):
        memory.record("GET", path, [])
    assert [request.path for request in memory.requests(after=mark)] == ["/a", "/a/b", "/ab"]
    assert [request.path for request in memory.requests(under="/a")] == ["/a", "/a", "/a/b"]
    assert [request.number for request in memory.requests("/a", after=mark)] == [2]


def test_the_memory_is_bounded_and_still_counts() -> None:
    memory = Memory(lambda: 0.0, limit=10)
    for number in range(25):
        memory.record("GET", f"/{number}", [])
    assert [request.path for request in memory.requests()] == [f"/{number}" for number in range(15, 25)]
    assert memory.total == 25
