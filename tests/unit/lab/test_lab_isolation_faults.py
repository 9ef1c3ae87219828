"""Each fault of isolation shows on its own way, and on no other."""

import dataclasses
import json

import pytest

from mcp_auth_contract_lab.faults.isolation import FAULTS
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.records import Isolation, Ledger, Way

ALICE, BOB, CAROL = (Principal(*who, "kit") for who in (("alice", "t1"), ("bob", "t1"), ("carol", "t2")))
ADMIN, NAMESAKE = Principal("admin", "t1", "kit"), Principal("alice", "t2", "kit")


@dataclasses.dataclass(frozen=True)
class Part:
    """The part of a behaviour that these faults change."""

    isolation: Isolation = dataclasses.field(default_factory=Isolation)


def ledger(name: str | None = None) -> Ledger:
    changed = Part() if name is None else FAULTS[name].change(Part())  # type: ignore[arg-type]
    return Ledger(changed.isolation)


def sees(books: Ledger, who: Principal, way: Way, owner: str) -> bool:
    return any(one.owner == owner and one.note != "paper clips" for one in books.visible(who, way))


def test_the_sound_ledger_shows_the_own_and_the_shared() -> None:
    books = ledger()
    for way in Way:
        for who in (ALICE, BOB, CAROL):
            assert [sees(books, who, way, owner) for owner in ("alice", "bob", "carol")] == [
                who.subject == owner for owner in ("alice", "bob", "carol")
            ]
        assert sees(books, ADMIN, way, "bob") is (way is not Way.UPDATE)
        assert not list(books.visible(NAMESAKE, way))


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("isolation-owner-ignored-by-tool", Way.GET),
        ("isolation-owner-ignored-by-resource", Way.RESOURCE),
        ("isolation-owner-ignored-by-prompt", Way.PROMPT),
        ("isolation-owner-ignored-by-list", Way.LIST),
        ("isolation-owner-ignored-by-search", Way.SEARCH),
        ("isolation-owner-ignored-by-export", Way.EXPORT),
        ("isolation-write-unchecked", Way.UPDATE),
    ],
)
def test_a_fault_of_one_way_opens_that_way_alone(name: str, way: Way) -> None:
    books = ledger(name)
    assert {one for one in Way if sees(books, CAROL, one, "alice")} == {way}


def test_the_tenant_or_the_name_alone_opens_too_much() -> None:
    by_tenant, by_name = ledger("isolation-tenant-is-enough"), ledger("isolation-tenant-ignored")
    assert sees(by_tenant, BOB, Way.GET, "alice")
    assert not sees(by_tenant, CAROL, Way.GET, "alice")
    assert sees(by_name, NAMESAKE, Way.LIST, "alice")
    assert not sees(by_name, BOB, Way.LIST, "alice")


def test_readers_are_shut_out() -> None:
    assert not sees(ledger("isolation-readers-shut-out"), ADMIN, Way.GET, "bob")


def test_a_write_is_made_before_it_is_refused() -> None:
    books = ledger("isolation-write-before-check")
    assert books.update(BOB, "INV-1", 7) is None
    found = books.find(ALICE, "INV-1", Way.GET)
    assert found is not None
    assert found.amount == 7


def test_a_page_token_goes_on_with_its_owners_list() -> None:
    for name, owner in ((None, "bob"), ("isolation-cursor-carries-owner", "alice")):
        books = ledger(name)
        token = books.page_token(ALICE, Way.LIST, 1)
        assert (books.page_offset(BOB, Way.LIST, token) is None) is (name is None)
        assert {one.owner for one in books.page_of(BOB, token)} == {owner}


@pytest.mark.parametrize(
    ("name", "leaks"),
    [("isolation-cache-by-id", True), ("isolation-cache-by-client", True), ("isolation-cache-by-tenant", False)],
)
def test_a_cache_forgets_who_asked(name: str, leaks: bool) -> None:
    books = ledger(name)
    assert books.find(BOB, "INV-1", Way.GET) is None
    assert books.find(ALICE, "INV-1", Way.GET) is not None
    assert books.find(BOB, "INV-1", Way.GET) is not None
    carols = books.find(CAROL, "INV-1", Way.GET)
    assert carols is not None
    assert (carols.owner == "alice") is leaks


def test_an_idempotency_key_is_its_callers_and_counts_once() -> None:
    for name, again, borrowed in (
        (None, 7, None),
        ("isolation-key-ignored", 8, None),
        ("isolation-key-shared", 7, "alice"),
    ):
        books = ledger(name)
        books.update(ALICE, "INV-1", 7, "k")
        books.update(ALICE, "INV-1", 8, "k")
        found = books.find(ALICE, "INV-1", Way.GET)
        assert found is not None
        assert found.amount == again
        stolen = books.update(BOB, "INV-1", 9, "k")
        assert (stolen.owner if stolen else None) == borrowed


def test_what_others_read_is_logged(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for name, lines in ((None, 1), ("isolation-read-unaudited", 0)):
        file = tmp_path / f"{name}.jsonl"
        part = Part() if name is None else FAULTS[name].change(Part())  # type: ignore[arg-type]
        books = Ledger(part.isolation, file)
        assert books.find(BOB, "INV-2", Way.GET) is not None
        assert books.find(ADMIN, "INV-2", Way.GET) is not None
        entries = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        assert [entry["actor"] for entry in entries] == ["admin"] * lines


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("isolation-id-with-tenant", "t1/INV-1"),
        ("isolation-id-with-dots", "..%2ft1%2fINV-1"),
        ("isolation-id-with-subject", "alice/INV-1"),
    ],
)
def test_an_id_leads_past_the_owner(name: str, asked: str) -> None:
    assert ledger().find(CAROL, asked, Way.GET) is None
    found = ledger(name).find(CAROL, asked, Way.GET)
    assert found is not None
    assert found.owner == "alice"


@pytest.mark.parametrize(
    ("name", "query"), [("isolation-search-wildcard", "%"), ("isolation-search-operator", "x' OR '1'='1")]
)
def test_a_search_finds_everything(name: str, query: str) -> None:
    assert ledger().search(CAROL, query) == []
    assert {one.owner for one in ledger(name).search(CAROL, query)} == {"alice", "bob", "carol"}
