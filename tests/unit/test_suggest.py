"""A wrong word is answered alike everywhere: with the nearest known one, or else with what there is."""

import pytest

from mcp_auth_contract.suggest import nearest, suggest


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("expird", 'did you mean "expired"?'),
        ("", "known are expired, signed"),
        ("zzz", "known are expired, signed"),
    ],
)
def test_the_nearest_word_is_named_or_else_all_of_them(word: str, told: str) -> None:
    assert suggest(word, ["signed", "expired"]) == told


def test_where_none_is_alike_a_place_may_have_better_advice() -> None:
    assert suggest("zzz", ["expired"], "`list` names them all") == "`list` names them all"
    assert suggest("expird", ["expired"], "`list` names them all") == 'did you mean "expired"?'
    assert suggest("zzz", [], "") == ""


def test_a_word_is_shown_as_it_stands_in_a_file() -> None:
    assert suggest("isuer.url", ["issuer.url"], written="${{{}}}") == 'did you mean "${issuer.url}"?'


TITLES = {
    "token-audience-other-refused": "A token for another server",
    "scope-none-denied": "No scopes",
    "as-pkce": "PKCE",
}


@pytest.mark.parametrize(
    ("word", "first"), [("audience", "token-audience-other-refused"), ("server", "token-audience-other-refused")]
)
def test_a_word_of_a_name_or_title_comes_first(word: str, first: str) -> None:
    assert nearest(word, TITLES)[0] == first


def test_there_are_always_some() -> None:
    assert len(nearest("zzz", TITLES)) == 3
    assert len(nearest("", TITLES, 2)) == 2
