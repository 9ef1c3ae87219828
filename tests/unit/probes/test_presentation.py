"""Each carrier presents the token in its own way, and no two alike."""

import base64

import pytest

from mcp_auth_contract.checks.challenges.presentation import Presentation, present
from mcp_auth_contract.checks.vocabulary import CARRIERS

TOKEN = "good.token.x"
FORGED = "forged.token.x"
MESSAGE = {"jsonrpc": "2.0", "method": "tools/call", "params": {"arguments": {"id": 1}}}


def shown(carrier: str, token: str | None = TOKEN) -> list[Presentation]:
    found = present(carrier, token, forged=FORGED, good="own.token.x", subject="alice")
    return [presentation for _, presentation in found]


def line(carrier: str) -> str | bytes:
    ((name, value),) = shown(carrier)[0].headers
    assert name == "Authorization"
    return value


@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_carrier_presents_something_and_says_where(carrier: str) -> None:
    for presentation in shown(carrier):
        assert presentation.headers or presentation.query or presentation.member
        standard = carrier in ("bearer", "scheme_lower", "scheme_upper", "scheme_mixed")
        assert presentation.offered == ("" if standard else CARRIERS[carrier])


def test_no_two_carriers_send_the_same() -> None:
    sent = [str((p.headers, p.replaced, p.query, p.member)) for carrier in CARRIERS for p in shown(carrier)]
    assert len(set(sent)) == len(sent)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_without_a_token_none_is_shown(carrier: str) -> None:
    for presentation in shown(carrier, None):
        assert TOKEN not in str((presentation.headers, presentation.query, presentation.value))


@pytest.mark.parametrize(
    ("carrier", "value"),
    [
        ("two_spaces", f"Bearer  {TOKEN}"),
        ("tab", f"Bearer\t{TOKEN}"),
        ("trailing_comma", f"Bearer {TOKEN},"),
        ("quoted_token", f'Bearer "{TOKEN}"'),
        ("auth_param", f'Bearer token="{TOKEN}"'),
        ("scheme_colon", f"Bearer: {TOKEN}"),
        ("scheme_equals", f"Bearer={TOKEN}"),
        ("comma_joined_good_first", f"Bearer {TOKEN}, Bearer {FORGED}"),
        ("comma_joined_bad_first", f"Bearer {FORGED}, Bearer {TOKEN}"),
        ("no_break_space", b"Bearer\xa0" + TOKEN.encode()),
        ("octet_behind_token", b"Bearer " + TOKEN.encode() + b"\xff"),
        ("letters_beyond_ascii", "Bearer tökén".encode()),
    ],
)
def test_a_header_is_spelled_octet_for_octet(carrier: str, value: str | bytes) -> None:
    assert line(carrier) == value


@pytest.mark.parametrize(
    ("carrier", "credentials"),
    [
        ("basic_user_password", "alice:password"),
        ("basic_user_alone", "alice:"),
        ("basic_empty", ":"),
        ("basic_token_password", f"x:{TOKEN}"),
        ("basic_token_user", f"{TOKEN}:"),
    ],
)
def test_basic_credentials_hold_the_two_parts(carrier: str, credentials: str) -> None:
    scheme, _, encoded = str(line(carrier)).partition(" ")
    assert (scheme, base64.b64decode(encoded).decode()) == ("Basic", credentials)


def test_a_place_in_the_message_is_filled_and_the_rest_kept() -> None:
    (presentation,) = shown("good_in_argument")
    assert presentation.body(MESSAGE)["params"] == {"arguments": {"id": 1, "access_token": "own.token.x"}}
    assert presentation.headers == (("Authorization", f"Bearer {TOKEN}"),)
    (presentation,) = shown("body_meta_prefixed")
    params = presentation.body(MESSAGE)["params"]
    assert params == {"arguments": {"id": 1}, "_meta": {"io.modelcontextprotocol/authorization": f"Bearer {TOKEN}"}}


def test_the_query_is_escaped_and_stands_beside_the_header_where_two_places_are_meant() -> None:
    assert shown("query_authorization")[0].query == f"authorization=Bearer%20{TOKEN}"
    (presentation,) = shown("query_forged_beside_header")
    assert presentation.query == f"access_token={FORGED}"
    assert presentation.headers == (("Authorization", f"Bearer {TOKEN}"),)
