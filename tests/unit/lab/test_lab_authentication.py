"""The sound server's answer to every kind of credential."""

import base64
import json
from typing import Any

import httpx
import pytest

GET_OWN = ("get_invoice", {"invoice_id": "INV-1"})
POINTER = 'resource_metadata="http://lab.test/.well-known/oauth-protected-resource/mcp"'


def accepted(answer: httpx.Response) -> bool:
    return answer.status_code == 200 and "alice-t1-INV-1-7f3a" in answer.text


def refused_as_invalid(answer: httpx.Response) -> bool:
    challenge = answer.headers.get("www-authenticate", "")
    return answer.status_code == 401 and 'error="invalid_token"' in challenge and POINTER in challenge


def test_a_good_token_is_let_in(lab, keys):
    assert accepted(lab.call(*GET_OWN, keys.token()))


def test_without_a_token_the_challenge_points_to_the_metadata_and_names_no_error(lab):
    answer = lab.call(*GET_OWN)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer {POINTER}, scope="invoices:read"'


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_case_insensitive(lab, keys, scheme):
    assert accepted(lab.modern("tools/call", {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}},
                               headers={"authorization": f"{scheme} {keys.token()}"}))  # fmt: skip


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("", 401),
        ("Bearer", 401),
        ("Bearer  ", 401),
        ("{token}", 401),
        ("Token {token}", 401),
        ("DPoP {token}", 401),
        ("Basic eDp5", 401),
        ("Bearer {token} x", 400),
        ("Bearer Bearer {token}", 400),
        ("Bearer {token},", 400),
        ("Bearer null", 401),
        ("Bearer ..", 401),
        ("Bearer a.b.c", 401),
    ],
)
def test_broken_credentials_are_refused_with_a_challenge(lab, keys, value, status):
    headers = {"authorization": value.replace("{token}", keys.token())}
    answer = lab.post({}, headers=headers)
    assert answer.status_code == status
    assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_two_authorization_lines_are_refused_in_both_orders(lab, keys):
    good, bad = f"Bearer {keys.token()}", f"Bearer {keys.forged()}"
    for pair in ((good, bad), (bad, good), (good, good)):
        answer = lab.send("POST", "/mcp", [("authorization", one) for one in pair], b"{}")
        assert answer.status_code == 400


def test_a_token_anywhere_else_is_not_seen(lab, keys):
    token = keys.token()
    call = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1", "access_token": token}}
    assert lab.modern("tools/call", call).status_code == 401
    assert lab.modern("tools/call", call, path=f"/mcp?access_token={token}").status_code == 401
    for name, value in (
        ("cookie", f"access_token={token}"),
        ("x-access-token", token),
        ("proxy-authorization", f"Bearer {token}"),
        ("mcp-param-authorization", f"Bearer {token}"),
        ("x-forwarded-user", "alice"),
    ):
        assert lab.modern("tools/call", call, headers={name: value}).status_code == 401, name


def test_a_query_beside_a_good_header_is_ignored(lab, keys):
    call = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
    assert accepted(lab.modern("tools/call", call, keys.token(), path="/mcp?access_token=x"))


WRONG_CLAIMS: list[dict[str, Any]] = [
    {"iss": ...},
    {"iss": "https://other.test"},
    {"iss": "https://issuer.test/"},
    {"iss": "https://issuer.test.evil.test"},
    {"iss": "https"},
    {"iss": ["https://issuer.test"]},
    {"aud": ...},
    {"aud": None},
    {"aud": []},
    {"aud": "https://mcp.test/mcp/"},
    {"aud": "https://mcp.test"},
    {"aud": "https://mcp.test/mcp-other"},
    {"aud": ["https://other.test", "*"]},
    {"aud": {"https://mcp.test/mcp": 1}},
    {"exp": ...},
    {"exp": 1},
    {"exp": True},
    {"exp": "9999999999"},
    {"exp": None},
    {"nbf": 9999999999},
    {"nbf": "1"},
    {"sub": ...},
    {"sub": None},
    {"sub": ""},
    {"sub": " "},
    {"sub": 1},
    {"sub": ["alice"]},
    {"tenant_id": ...},
    {"tenant_id": None},
    {"tenant_id": ""},
    {"tenant_id": ["t1"]},
    {"scope": "", "exp": 1},
]


@pytest.mark.parametrize("changes", WRONG_CLAIMS, ids=str)
def test_one_wrong_claim_makes_a_token_invalid(lab, keys, changes):
    assert refused_as_invalid(lab.call(*GET_OWN, keys.sign(keys.claims(**changes))))


UNUSUAL_CLAIMS: list[dict[str, Any]] = [
    {"aud": ["https://other.test", "https://mcp.test/mcp"]},
    {"nbf": 1},
    {"x": 1},
    {"scope": "a invoices:read b"},
    {"scope": ["invoices:read"]},
    {"exp": 10**30},
    {"client_id": ...},
]


@pytest.mark.parametrize("changes", UNUSUAL_CLAIMS, ids=str)
def test_an_unusual_but_right_token_is_accepted(lab, keys, changes):
    assert accepted(lab.call(*GET_OWN, keys.token(**changes)))


@pytest.mark.parametrize("header", [{"kid": "k2"}, {"crit": ["exp"]}, {"crit": []}, {"typ": "JWT"},
                                    {"typ": "logout+jwt"}, {"typ": ""}], ids=str)  # fmt: skip
def test_one_wrong_header_parameter_makes_a_token_invalid(lab, keys, header):
    assert refused_as_invalid(lab.call(*GET_OWN, keys.token(header=header)))


@pytest.mark.parametrize("typ", ["AT+JWT", "application/at+jwt"])
def test_both_spellings_of_an_access_token_type_are_accepted(lab, keys, typ):
    assert accepted(lab.call(*GET_OWN, keys.token(header={"typ": typ})))


def segment(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def forgeries(keys) -> dict[str, str]:
    good = keys.token()
    header, payload, signed = good.split(".")
    middle = signed[:100] + ("A" if signed[100] != "A" else "B") + signed[101:]
    other = keys.token("bob").split(".")
    padded = f"{header}.{payload}.{signed}=="
    nested = b"[" * 2000 + b"]" * 2000
    duplicate = json.dumps(keys.claims())[:-1].encode() + b', "sub": "bob"}'
    return {
        "flipped": f"{header}.{payload}.{middle}",
        "removed": f"{header}.{payload}.",
        "two segments": f"{header}.{payload}",
        "four segments": f"{good}.x",
        "zeroed": f"{header}.{payload}.{segment(bytes(256))}",
        "of another": f"{header}.{payload}.{other[2]}",
        "swapped": f"{header}.{other[1]}.{signed}",
        "none": f"{segment({'alg': 'none', 'typ': 'at+jwt'})}.{payload}.",
        "None": f"{segment({'alg': 'None', 'typ': 'at+jwt', 'kid': 'k1'})}.{payload}.{signed}",
        "HS256": f"{segment({'alg': 'HS256', 'typ': 'at+jwt', 'kid': 'k1'})}.{payload}.{signed}",
        "alg number": f"{segment({'alg': 1, 'typ': 'at+jwt', 'kid': 'k1'})}.{payload}.{signed}",
        "kid list": f"{segment({'alg': 'RS256', 'typ': 'at+jwt', 'kid': ['k1']})}.{payload}.{signed}",
        "header list": f"{segment([])}.{payload}.{signed}",
        "deep header": f"{segment(nested)}.{payload}.{signed}",
        "stranger": keys.forged(),
        "stranger, unknown kid": keys.forged(kid="k9"),
        "padding": padded,
        "duplicate claim": keys.sign_segments(header, segment(duplicate)),
        "payload list": keys.sign_segments(header, segment([])),
        "dots": "." * 8000,
    }


def test_no_forgery_passes(lab, keys):
    for name, token in forgeries(keys).items():
        assert refused_as_invalid(lab.call(*GET_OWN, token)), name


def test_an_embedded_key_is_not_trusted(lab, keys):
    import jwt
    from jwt.algorithms import RSAAlgorithm

    jwk = json.loads(RSAAlgorithm.to_jwk(keys.stranger.public_key()))
    fields = {"kid": "k1", "typ": "at+jwt", "jwk": jwk}
    forged = jwt.encode(keys.claims(), keys.stranger, "RS256", headers=fields)
    assert refused_as_invalid(lab.call(*GET_OWN, forged))


def test_the_second_of_expiry_is_refused_and_leeway_moves_it(make_lab, keys):
    claims = keys.claims()
    for leeway in (0, 60):
        for offset, good in ((-1, True), (0, False)):
            now = claims["exp"] + leeway + offset
            lab = make_lab(leeway=leeway, clock=lambda now=now: float(now))
            assert accepted(lab.call(*GET_OWN, keys.sign(claims))) is good, (leeway, offset)


def test_a_refusal_says_nothing_of_the_token_and_is_not_stored(lab, keys):
    token = keys.sign(keys.claims(iss='https://evil.test/"<script>'))
    answer = lab.call(*GET_OWN, token)
    assert "evil" not in answer.text + str(answer.headers)
    assert token.split(".")[2] not in answer.text + str(answer.headers)
    assert answer.headers["cache-control"] == "no-store"
    assert "mcp-session-id" not in answer.headers
