"""Each way presents the token in its own way, and no two alike."""

import base64

import pytest

from mcp_auth_contract.checks.presentation import PRESENTATIONS, Presentation, Presented, present

TOKEN = "good.token.x"
FORGED = "forged.token.x"
MESSAGE = {"jsonrpc": "2.0", "method": "tools/call", "params": {"arguments": {"id": 1}}}


def shown(name: str, token: str | None = TOKEN) -> list[Presentation]:
    found = present(name, Presented(token, FORGED, "own.token.x", "alice"))
    return [presentation for _, presentation in found]


def line(name: str) -> str | bytes:
    ((field, value),) = shown(name)[0].headers
    assert field == "Authorization"
    return value


@pytest.mark.parametrize("name", PRESENTATIONS)
def test_every_way_presents_something_and_says_where(name: str) -> None:
    for presentation in shown(name):
        assert presentation.headers or presentation.query or presentation.member
        standard = name in ("bearer", "scheme_lower", "scheme_upper", "scheme_mixed")
        assert presentation.offered == ("" if standard else PRESENTATIONS[name])


def test_no_two_ways_send_the_same() -> None:
    sent = [str((p.headers, p.replaced, p.query, p.member)) for name in PRESENTATIONS for p in shown(name)]
    assert len(set(sent)) == len(sent)


@pytest.mark.parametrize("name", PRESENTATIONS)
def test_without_a_token_none_is_shown(name: str) -> None:
    for presentation in shown(name, None):
        assert TOKEN not in str((presentation.headers, presentation.query, presentation.value))


@pytest.mark.parametrize(
    ("name", "value"),
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
def test_a_header_is_spelled_octet_for_octet(name: str, value: str | bytes) -> None:
    assert line(name) == value


@pytest.mark.parametrize(
    ("name", "credentials"),
    [
        ("basic_user_password", "alice:password"),
        ("basic_user_alone", "alice:"),
        ("basic_empty", ":"),
        ("basic_token_password", f"x:{TOKEN}"),
        ("basic_token_user", f"{TOKEN}:"),
    ],
)
def test_basic_credentials_hold_the_two_parts(name: str, credentials: str) -> None:
    scheme, _, encoded = str(line(name)).partition(" ")
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
