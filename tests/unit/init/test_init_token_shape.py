"""What a contract learns from a genuine token: names of claims, typ and alg, and no other value."""

import base64
import json

import pytest

from mcp_auth_contract.init.inspection import TokenShape
from mcp_auth_contract.init.operations import shape_of


def jwt(header: dict[str, object], claims: dict[str, object]) -> str:
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), b"signature")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


@pytest.mark.parametrize(
    ("header", "claims", "shape"),
    [
        (
            {"alg": "RS256", "typ": "at+jwt"},
            {"scope": "a b", "client_id": "c", "tenant_id": "t"},
            TokenShape(algorithm="RS256"),
        ),
        (
            {"alg": "ES256", "typ": "JWT"},
            {"scp": ["a"], "azp": "c", "tid": "secret-tenant"},
            TokenShape("scp", True, "azp", "tid", "JWT", "ES256"),
        ),
        ({"alg": "HS256"}, {"scope": ["a"]}, TokenShape(scope_list=True)),
        ({"alg": "RS256", "typ": "a\nb"}, {}, TokenShape(algorithm="RS256")),
        ({"alg": "RS256", "typ": 7}, {"scp": "a"}, TokenShape("scp", algorithm="RS256")),
    ],
)
def test_the_shape_of_a_jwt(header: dict[str, object], claims: dict[str, object], shape: TokenShape) -> None:
    assert shape_of(jwt(header, {"sub": "alice", **claims})) == shape


def test_everything_else_is_opaque() -> None:
    assert shape_of("abc.def") == TokenShape(opaque=True)
