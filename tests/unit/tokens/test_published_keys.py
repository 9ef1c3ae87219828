"""A published key is known again in any folder and under any name."""

import json
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.tokens import Algorithm, holds_published_key
from mcp_auth_contract.tokens.keys import b64url, fresh_key

PUBLISHED = sorted(file.name for file in data_folder("keys").glob("*.json"))


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_copy_under_another_name_and_key_id_is_known_again(name: str, tmp_path: Path) -> None:
    jwk = json.loads((data_folder("keys") / name).read_text("utf-8"))
    (tmp_path / "mine.json").write_text(json.dumps({**jwk, "kid": "mine"}))
    assert holds_published_key(tmp_path)


def test_the_folder_itself_and_a_copy_of_it_are_known(tmp_path: Path) -> None:
    assert holds_published_key(data_folder("keys"))
    shutil.copytree(data_folder("keys"), tmp_path / "keys")
    assert holds_published_key(tmp_path / "keys")


def test_somebodys_own_key_is_none(tmp_path: Path) -> None:
    key = fresh_key(Algorithm.EDDSA, "mine")
    assert isinstance(key.private, Ed25519PrivateKey)
    jwk = {**key.public_jwk(), "d": b64url(key.private.private_bytes_raw())}
    (tmp_path / "mine.json").write_text(json.dumps(jwk))
    assert not holds_published_key(tmp_path)
