import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc.jwk import JWKRegistry

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError, KitError, UsageError
from mcp_auth_contract.tokens import Algorithm, Role, SigningKey, published_key
from mcp_auth_contract.tokens.keys import PRIVATE_MEMBERS, b64url, fresh_key, load_folder, load_key, unb64url

ALL = [(role, alg) for role in Role for alg in Algorithm if role is not Role.ENCRYPTION or alg is Algorithm.RS256]


def written(folder: Path, name: str, **changes: object) -> Path:
    jwk = json.loads((data_folder("keys") / "issuer-es256.json").read_text()) | changes
    file = folder / name
    file.write_text(json.dumps({key: value for key, value in jwk.items() if value is not None}))
    return file


@pytest.mark.parametrize(("role", "alg"), ALL)
def test_a_published_key_exists_for_each_role_and_algorithm(role: Role, alg: Algorithm) -> None:
    assert published_key(role, alg).alg is alg


def test_no_two_published_keys_share_a_key_id_or_a_key() -> None:
    keys = [published_key(role, alg) for role, alg in ALL]
    assert len({key.kid for key in keys}) == len({key.thumbprint for key in keys}) == len(ALL)


def test_the_published_folder_loads_as_a_folder() -> None:
    assert set(load_folder(data_folder("keys"))) == set(ALL)


def test_published_rsa_keys_have_2048_bits() -> None:
    assert len(unb64url(published_key(Role.ISSUER, Algorithm.RS256).public_jwk()["n"])) == 256


@pytest.mark.parametrize("alg", Algorithm)
def test_a_public_jwk_holds_no_private_member(alg: Algorithm) -> None:
    jwk = published_key(Role.ISSUER, alg).public_jwk()
    assert not PRIVATE_MEMBERS & set(jwk)
    assert jwk["use"] == "sig"
    assert jwk["alg"] == alg


@pytest.mark.parametrize("alg", Algorithm)
def test_the_thumbprint_is_the_one_of_rfc_7638(alg: Algorithm) -> None:
    key = published_key(Role.ISSUER, alg)
    assert key.thumbprint == JWKRegistry.import_key(key.public_jwk()).thumbprint()


@pytest.mark.parametrize("alg", Algorithm)
def test_a_repr_shows_algorithm_and_key_id_only(alg: Algorithm) -> None:
    key = fresh_key(alg, "k1")
    assert repr(key) == f"SigningKey(alg={alg!r}, kid='k1')"


def test_keys_are_equal_by_their_public_half() -> None:
    key = published_key(Role.ISSUER, Algorithm.ES256)
    assert load_key(data_folder("keys") / "issuer-es256.json") == key
    assert fresh_key(Algorithm.ES256, key.kid) != key
    assert SigningKey(key.alg, "other", key.private) != key


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alg": "HS256"}, ("alg", "'HS256'", "RS256")),
        ({"alg": None}, ("alg", "missing")),
        ({"kid": None}, ("kid", "missing")),
        ({"kid": 7}, ("kid", "missing")),
        ({"d": None}, ("d is missing",)),
        ({"d": "a b"}, ("d is not base64url",)),
        ({"d": "AAAB"}, ("d does not belong",)),
        ({"kty": "RSA"}, ("kty", "'RSA'", "'EC'")),
        ({"crv": "P-384"}, ("crv", "'P-384'", "'P-256'")),
        ({"alg": "RS256", "kty": "RSA"}, ("missing",)),
    ],
)
def test_a_bad_member_is_named_with_its_file(
    tmp_path: Path, changes: dict[str, object], words: tuple[str, ...]
) -> None:
    file = written(tmp_path, "key.json", **changes)
    with pytest.raises(ContractError) as told:
        load_key(file)
    for word in (str(file), *words):
        assert word in str(told.value)


def test_a_complaint_never_repeats_the_private_member(tmp_path: Path) -> None:
    other = json.loads((data_folder("keys") / "second-es256.json").read_text())["d"]
    with pytest.raises(ContractError) as told:
        load_key(written(tmp_path, "key.json", d=other))
    assert other not in str(told.value)


@pytest.mark.parametrize("member", ["n", "d", "p", "dp", "dq", "qi", "e"])
def test_an_rsa_key_that_mixes_two_keys_is_refused(tmp_path: Path, member: str) -> None:
    one = json.loads((data_folder("keys") / "issuer-rs256.json").read_text())
    other = json.loads((data_folder("keys") / "second-rs256.json").read_text()) | {"e": "Aw"}
    file = tmp_path / "key.json"
    for value in (other[member], "AA", "AQ"):
        file.write_text(json.dumps(one | {member: value}))
        with pytest.raises(ContractError, match="d does not belong") as told:
            load_key(file)
        assert value not in str(told.value) or len(value) < 4


def test_a_short_rsa_key_is_refused(tmp_path: Path) -> None:
    numbers = rsa.generate_private_key(65537, 1024).private_numbers()
    values = {
        "n": numbers.public_numbers.n,
        "e": 65537,
        "d": numbers.d,
        "p": numbers.p,
        "q": numbers.q,
        "dp": numbers.dmp1,
        "dq": numbers.dmq1,
        "qi": numbers.iqmp,
    }
    members = {name: b64url(value.to_bytes(128, "big")) for name, value in values.items()}
    file = tmp_path / "key.json"
    file.write_text(json.dumps({"kty": "RSA", "alg": "RS256", "kid": "k", **members}))
    with pytest.raises(ContractError, match="1024 bits"):
        load_key(file)


def test_a_key_that_mixes_two_ed25519_keys_is_refused(tmp_path: Path) -> None:
    one = json.loads((data_folder("keys") / "issuer-eddsa.json").read_text())
    other = json.loads((data_folder("keys") / "second-eddsa.json").read_text())
    file = tmp_path / "key.json"
    file.write_text(json.dumps(one | {"x": other["x"]}))
    with pytest.raises(ContractError, match="d does not belong"):
        load_key(file)


@pytest.mark.parametrize("text", ["", "[]", "nope", '"x"'])
def test_a_file_that_is_no_jwk_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "key.json"
    file.write_text(text)
    with pytest.raises(ContractError, match="JSON"):
        load_key(file)


def test_a_missing_file_and_folder_are_told_in_one_line(tmp_path: Path) -> None:
    for read in (load_key, load_folder):
        with pytest.raises(UsageError) as told:
            read(tmp_path / "none")
        assert "\n" not in str(told.value)
    with pytest.raises(UsageError, match="no JWK file"):
        load_folder(tmp_path)


def test_a_folder_takes_files_without_a_role_for_the_issuers(tmp_path: Path) -> None:
    written(tmp_path, "mine.json", kid="mine")
    written(tmp_path, "stranger-x.json", kid="theirs")
    keys = load_folder(tmp_path)
    assert keys[Role.ISSUER, Algorithm.ES256].kid == "mine"
    assert keys[Role.STRANGER, Algorithm.ES256].kid == "theirs"


@pytest.mark.parametrize(
    ("one", "other", "match"),
    [
        (("a.json", "k1"), ("b.json", "k2"), "two keys"),
        (("a.json", "k1"), ("second-b.json", "k1"), "kid"),
    ],
)
def test_a_folder_with_an_ambiguous_key_is_refused(
    tmp_path: Path, one: tuple[str, str], other: tuple[str, str], match: str
) -> None:
    for name, kid in (one, other):
        written(tmp_path, name, kid=kid)
    with pytest.raises(KitError, match=match):
        load_folder(tmp_path)


def test_base64url_round_trips_and_refuses_other_alphabets() -> None:
    assert unb64url(b64url(b"\xff\xfe\x00")) == b"\xff\xfe\x00"
    for text in ("+/", "a", "a\n", "a b", "ä"):
        with pytest.raises(ValueError, match="base64url"):
            unb64url(text)
