"""The catalogue refuses what it does not know: a typo must never remove a check."""

from pathlib import Path

import pytest

from mcp_auth_contract.catalogue import load_builtin, load_catalogue
from mcp_auth_contract.errors import ContractError

GOOD = """
[[check]]
id = "token-own-refused"
title = "A token of ours is refused"
level = "MUST"
impact = "auth-bypass"
cites = ["rfc6750-3.1"]
requirements = ["tok-garbage"]
needs = ["control"]
probe = "call"
token = "expired"
judge = "refused_as_invalid_token"
why = "Because."
remedy = "Refuse it."
"""


def load(folder: Path, text: str) -> None:
    (folder / "own.toml").write_text(text, "utf-8")
    load_catalogue([folder])


def test_the_kits_own_catalogue_loads() -> None:
    assert len(load_builtin()) >= 90


def test_checks_of_a_users_own_folder_are_added(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(GOOD, "utf-8")
    assert load_builtin([tmp_path])[-1].id == "token-own-refused"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'level = "MUST"',
            'level = "MSUT"',
            'own.toml: token-own-refused: level: unknown word "MSUT"; did you mean "MUST"?',
        ),
        ('level = "MUST"', 'levle = "MUST"', 'own.toml: token-own-refused: levle: unknown key; did you mean "level"?'),
        ('why = "Because."\n', "", "own.toml: token-own-refused: why: missing"),
        ('"expired"', '"expird"', 'own.toml: token-own-refused: token: unknown word "expird"; did you mean "expired"?'),
        ('"rfc6750-3.1"', '"rfc6750-3.11"', 'unknown word "rfc6750-3.11"; did you mean "rfc6750-3.1"?'),
        ('probe = "call"', 'probe = "cal"', 'probe: unknown word "cal"; did you mean "call"?'),
        ('"refused_as_invalid_token"', '"refused_as_invalid"', 'did you mean "refused_as_invalid_token"?'),
        ('"refused_as_invalid_token"', '"prm_served"', "judge: prm_served judges ResourceMetadataObserved"),
        ('needs = ["control"]', 'needs = ["contrl"]', 'did you mean "control"?'),
        ('token = "expired"\n', "", "token: missing: the probe call needs it"),
        ('token = "expired"', 'token = "expired"\nforms = ["head"]', "forms: the probe call does not take it"),
        ('token = "expired"', 'token = "expired"\nscopes = "missing"', 'goes with over = "missing_scopes"'),
        ('token = "expired"', 'token = "expired"\nover = "once"', 'over: the probe call cannot run over = "once"'),
        ('token = "expired"', 'token = "expired"\nover = "records"', 'probe call cannot run over = "records"'),
        ('id = "token-own-refused"', 'id = "Token Own"', "write it in kebab-case"),
        ('id = "token-own-refused"', 'id = "tokn-own-refused"', "begins with no known family"),
        ("[[check]]", "[[chek]]", 'own.toml: chek: unknown table; did you mean "check"?'),
        ("[[check]]", "[[check]", "own.toml: not readable as TOML"),
        ('title = "A token', f'title = "{"x" * 90}', "keep it under 80"),
    ],
)
def test_a_faulty_entry_is_refused_by_name(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in GOOD
    with pytest.raises(ContractError) as refused:
        load(tmp_path, GOOD.replace(old, new, 1))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_id_is_used_once(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="used twice"):
        load(tmp_path, GOOD + GOOD)


def test_a_retired_id_is_never_used_again(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(GOOD, "utf-8")
    with pytest.raises(ContractError, match="retired"):
        load_catalogue([tmp_path], retired=frozenset({"token-own-refused"}))


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no such folder"):
        load_catalogue([tmp_path / "none"])
