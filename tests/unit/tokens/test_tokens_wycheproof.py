"""The keys, the mint and the strict verifier against the vectors of Project Wycheproof, RFC 7515 and RFC 8037.

tests/data/wycheproof_jws.json names the origin and the licence of the vectors, and what was left out.
"""

import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from tests.support.strict_verifier import Reason, Refused, StrictVerifier

from mcp_auth_contract.tokens import (
    Algorithm,
    Identity,
    Role,
    SigningKey,
    TokenProfile,
    TokenSpec,
    good_token,
    published_key,
)
from mcp_auth_contract.tokens.keys import load_key, unb64url
from mcp_auth_contract.tokens.mint import mint

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "wycheproof_jws.json").read_text(encoding="utf-8"))
PROFILE = TokenProfile(issuer="http://127.0.0.1:9000", audience="https://mcp.example.com/mcp")
ALICE = Identity(name="alice", subject="alice")

MISLABELLED = {
    367: "is tc 357, which is valid: the padding that it is named for is not there",
    370: "is tc 357, which is valid: the padding that it is named for is not there",
    372: "has a ? in its header, which is no base64url (RFC 7515 §2)",
    373: "has a ? in its payload, which is no base64url (RFC 7515 §2)",
}
"""Vectors of the file whose verdict about the form is wrong, and why."""

OF_ANOTHER_FORM = "rejectsMissing", "rejectsExtra", "rejectsEmptyString", "rejectsValidJsonSerialization"
"""How the vectors are named that have the right parts in a wrong arrangement."""

ARRANGED = [
    group
    for group in (*VECTORS["signatures"], *VECTORS["forms"])
    if any(test["comment"].startswith(OF_ANOTHER_FORM) for test in group["tests"])
]
SPELLED = [test for group in VECTORS["forms"] for test in group["tests"] if group["comment"] == "base64"]

EMPTY_SIGNATURE = "rejectsMissingSignature"
"""This one has the right form, with an empty signature, which no key verifies."""

# RFC 8037, appendices A.1 to A.4.
OKP = {
    "kty": "OKP",
    "crv": "Ed25519",
    "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
}
OKP_THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
OKP_JWS = (
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
)
# RFC 7515, appendix A.3.
EC = {
    "kty": "EC",
    "crv": "P-256",
    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
}
EC_JWS = (
    "eyJhbGciOiJFUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
)


def loaded(folder: Path, jwk: dict[str, str]) -> SigningKey:
    """Read the key as the kit reads every other one: from a file."""
    file = folder / "key.json"
    file.write_text(json.dumps(jwk), encoding="utf-8")
    return load_key(file)


def good() -> TokenSpec:
    return good_token(PROFILE, ALICE, published_key(Role.ISSUER, Algorithm.ES256), time.time())


def verdict(token: str) -> Reason | None:
    """Why the strict verifier refuses a token of the published ES256 key; None where it accepts it."""
    verifier = StrictVerifier(
        [published_key(Role.ISSUER, Algorithm.ES256)],
        issuer=PROFILE.issuer,
        audience=PROFILE.audience,
        algorithms=[Algorithm.ES256],
    )
    try:
        verifier.verify(token)
    except Refused as refused:
        return refused.reason
    return None


def reproduced(key: SigningKey, jws: str) -> str:
    """Mint the very header and payload of a vector."""
    header, payload, _ = (unb64url(segment) for segment in jws.split("."))
    return mint(
        TokenSpec(profile=PROFILE, now=0, header={}, claims={}, key=key, raw_header=header, raw_payload=payload)
    )


@pytest.mark.parametrize("group", VECTORS["signatures"], ids=lambda one: f"{one['comment']}-{one['tests'][0]['tcId']}")
def test_a_key_verifies_the_valid_signatures_and_no_other(group: dict[str, Any], tmp_path: Path) -> None:
    key = loaded(tmp_path, group["private"])
    for test in group["tests"]:
        # Of fewer or more than three segments there is no telling which of them is signed.
        if test["jws"].count(".") == 2:
            message, _, signature = test["jws"].rpartition(".")
            assert key.verifies(message.encode(), unb64url(signature)) is (test["result"] == "valid"), test
        else:
            assert test["result"] == "invalid"


@pytest.mark.parametrize("group", VECTORS["ed25519"], ids=lambda one: f"tc-{one['tests'][0]['tcId']}")
def test_a_public_ed25519_key_verifies_the_valid_signatures_and_no_other(group: dict[str, Any]) -> None:
    public = ed25519.Ed25519PublicKey.from_public_bytes(unb64url(group["x"]))
    # Wycheproof keeps the private halves to itself, and verifying needs none.
    private = Mock(spec=ed25519.Ed25519PrivateKey, public_key=lambda: public)
    key = SigningKey(Algorithm.EDDSA, "wycheproof", private)
    for test in group["tests"]:
        valid = key.verifies(bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"]))
        assert valid is (test["result"] == "valid"), test


def test_the_mint_writes_the_valid_rs256_vectors_octet_for_octet(tmp_path: Path) -> None:
    written = 0
    for group in VECTORS["signatures"]:
        if group["private"]["alg"] == Algorithm.RS256:
            key = loaded(tmp_path, group["private"])
            valid = [test["jws"] for test in group["tests"] if test["result"] == "valid"]
            assert [reproduced(key, jws) for jws in valid] == valid
            written += len(valid)
    assert written == 7


def test_the_mint_writes_the_example_of_rfc_8037_octet_for_octet(tmp_path: Path) -> None:
    key = loaded(tmp_path, {**OKP, "alg": "EdDSA", "kid": "rfc-8037"})
    assert reproduced(key, OKP_JWS) == OKP_JWS
    assert key.thumbprint == OKP_THUMBPRINT


def test_the_mint_writes_the_example_of_rfc_7515_but_for_its_random_signature(tmp_path: Path) -> None:
    key = loaded(tmp_path, {**EC, "alg": "ES256", "kid": "rfc-7515"})
    message, _, signature = EC_JWS.rpartition(".")
    assert key.verifies(message.encode(), unb64url(signature))
    assert reproduced(key, EC_JWS).rpartition(".")[0] == message


@pytest.mark.parametrize("group", ARRANGED, ids=lambda one: one["comment"])
def test_the_parts_of_a_good_token_are_accepted_in_the_arrangement_of_a_valid_vector_only(
    group: dict[str, Any],
) -> None:
    valid = group["tests"][0]
    assert valid["result"] == "valid"
    token = mint(good())
    parts = dict(zip(valid["jws"].split("."), token.split("."), strict=True))

    def arranged(jws: str) -> str:
        for old, new in parts.items():
            jws = jws.replace(old, new)
        return jws

    assert verdict(arranged(valid["jws"])) is None
    for test in group["tests"]:
        if test["comment"].startswith(OF_ANOTHER_FORM):
            reason = Reason.SIGNATURE if test["comment"] == EMPTY_SIGNATURE else Reason.MALFORMED
            assert verdict(arranged(test["jws"])) is reason, test


@pytest.mark.parametrize("test", SPELLED, ids=lambda one: f"tc-{one['tcId']}")
def test_a_segment_is_malformed_where_the_vector_is_invalid(test: dict[str, Any]) -> None:
    header, payload, _ = mint(good()).split(".")
    # Each segment stands where nothing but its spelling is looked at: a well-spelled one is just a wrong signature.
    reasons = {verdict(f"{header}.{payload}.{segment}") for segment in test["jws"].split(".")}
    wrong = (test["result"] == "invalid") != (test["tcId"] in MISLABELLED)
    assert reasons <= {Reason.MALFORMED, Reason.SIGNATURE}
    assert (Reason.MALFORMED in reasons) is wrong
