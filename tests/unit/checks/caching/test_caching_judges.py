"""Marks for caches: what may be public, and what proves nothing."""

from tests.unit.checks.literals import answer, judged
from tests.unit.checks.sessions.session_literals import cached, listed

from mcp_auth_contract.checks.caching.observation import CacheScopeObserved
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass


def test_lists_that_are_the_same_for_all_may_be_public() -> None:
    assert judged("cache_scope_truthful", cached(listed("public", "a"), listed("public", "a"))) == Pass()


def test_lists_that_differ_may_be_private() -> None:
    assert judged("cache_scope_truthful", cached(listed("private", "a"), listed("private", "b"))) == Pass()


def test_one_public_mark_among_different_results_is_enough() -> None:
    assert isinstance(judged("cache_scope_truthful", cached(listed("private", "a"), listed("public", "b"))), Fail)


def test_what_another_user_may_not_read_is_not_public() -> None:
    denied = judged("cache_scope_truthful", cached(listed("public", "a"), answer(403)))
    assert isinstance(denied, Fail)
    assert judged("cache_scope_truthful", cached(listed("public", "a"), answer(401))) == Pass()


def test_a_result_that_changes_by_itself_tells_nothing() -> None:
    moving = cached(listed("public", "a"), listed("public", "b"), again=listed("public", "c"))
    assert judged("cache_scope_truthful", moving) == Pass()


def test_caches_need_two_users_and_answers() -> None:
    pair = cached(listed("public", "a"), listed("public", "b"))
    assert isinstance(judged("cache_scope_truthful", CacheScopeObserved(pair.marks[:1])), NotApplicable)
    assert isinstance(judged("cache_scope_truthful", CacheScopeObserved(())), Inconclusive)
    assert isinstance(judged("cache_scope_truthful", cached(answer(429), answer(200))), Inconclusive)
