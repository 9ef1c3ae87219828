"""Each fault of parsing lets in, or breaks down at, what it says; the sound server does neither."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from mcp_auth_contract_lab.faults import FAULTS, serialization

CANARY = "alice-t1-INV-1-7f3a"
CALL = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
HEADER = b'{"alg":"RS256","kid":"k1","typ":"at+jwt"}'
DEEP = b"[" * 1200 + b"]" * 1200


def segment(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def call(lab, token: str):
    return lab.modern("tools/call", CALL, token)


def edited(form: str) -> Callable[..., str]:
    """The segments of a good token in another form."""

    def token(keys) -> str:
        header, payload, signature = keys.token().split(".")
        return form.format(h=header, p=payload, s=signature)

    return token


def payload(make: Callable[[bytes], bytes], **changes: Any) -> Callable[..., str]:
    """Honestly signed claims, edited as text."""
    return lambda keys: keys.sign_segments(segment(HEADER), segment(make(json.dumps(keys.claims(**changes)).encode())))


def behind(text: bytes, **changes: Any) -> Callable[..., str]:
    return payload(lambda claims: claims[:-1] + b"," + text + b"}", **changes)


def header(make: Callable[[bytes], bytes]) -> Callable[..., str]:
    return lambda keys: keys.sign_segments(segment(make(HEADER)), segment(json.dumps(keys.claims()).encode()))


def unsigned(text: bytes) -> Callable[..., str]:
    return lambda keys: f"{segment(text)}.{segment(json.dumps(keys.claims()).encode())}."


ACCEPTED: dict[str, Callable[..., str]] = {
    "further-segments-ignored": edited("{h}.{p}.{s}.x.y"),
    "earlier-segments-ignored": edited(".{h}.{p}.{s}"),
    "stray-characters-skipped": lambda keys: keys.sign_segments(
        segment(HEADER), f"~{segment(json.dumps(keys.claims()).encode())}"
    ),
    "stray-signature-characters-skipped": edited("{h}.{p}.{s}%"),
    "stray-characters-skipped-by-length": edited("{h}.{p}.{s}%%%%"),
    "json-serialization-read": edited('{{"protected":"{h}","payload":"{p}","signature":"{s}"}}'),
    "no-signatures-accepted": edited('{{"payload":"{p}","signatures":[]}}'),
    "payload-list-unwrapped": payload(lambda claims: b"[" + claims + b"]"),
    "payload-string-parsed-again": payload(lambda claims: json.dumps(claims.decode()).encode()),
    "header-list-unwrapped": header(lambda text: b"[" + text + b"]"),
    "trailing-json-ignored": payload(lambda claims: claims + b'{"a":1}'),
    "undecodable-octets-dropped": payload(lambda claims: claims.replace(b'"alice"', b'"alice\xff"')),
    "surrogates-dropped": payload(lambda claims: claims.replace(b'"alice"', b'"alice\\ud800"')),
    "first-of-two-claims-counts": behind(b'"exp":1'),
    "last-of-two-algorithms-verified": unsigned(HEADER[:-1] + b',"alg":"none"}'),
    "claim-names-folded": behind(b'"i\\u017fs":"https://issuer.test"', iss="https://other.test"),
    "prototype-members-read": behind(b'"__proto__":{"aud":"https://mcp.test/mcp"}', aud=...),
    "endless-expiry-accepted": behind(b'"exp":1e999', exp=...),
}
BROKEN_DOWN: dict[str, Callable[..., str]] = {
    "odd-segment-breaks-down": edited("{h}.{p}.{s}=="),
    "padding-breaks-down": edited("{h}.{p}.{s}="),
    "many-dots-break-down": lambda _keys: "." * 8000,
    "long-token-breaks-down": lambda keys: keys.forged() + "A" * 9000,
    "encoding-breaks-down": payload(lambda claims: claims.decode().encode("utf-16")),
    "repeated-claim-breaks-down": behind(b'"exp":1'),
    "issuer-breaks-the-header": lambda keys: keys.token(iss="https://\r\n.test"),
    "huge-number-breaks-down": behind(b'"exp":-1' + b"0" * 400, exp=...),
    "deep-json-breaks-down": unsigned(HEADER[:-1] + b',"x":' + DEEP + b"}"),
    "deep-payload-breaks-down": behind(b'"x":' + DEEP, exp=1),
}
REFUSED: dict[str, Callable[..., str]] = {
    "payload-searched-as-text": payload(lambda claims: claims.replace(b'"aud"', b'"\\u0061ud"')),
    "white-space-refused": payload(lambda claims: claims.replace(b'": ', b'" : ')),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_faulty_parser_lets_in_what_the_sound_one_refuses(make_lab, keys, name):
    token = ACCEPTED[name](keys)
    assert CANARY in call(make_lab(fault=FAULTS[name]), token).text
    sound = call(make_lab(), token)
    assert CANARY not in sound.text
    assert sound.status_code in (200, 400, 401)


@pytest.mark.parametrize("name", BROKEN_DOWN)
def test_the_faulty_parser_breaks_down_where_the_sound_one_refuses(make_lab, keys, name):
    token = BROKEN_DOWN[name](keys)
    assert call(make_lab(fault=FAULTS[name]), token).status_code == 500
    assert call(make_lab(), token).status_code in (400, 401)


@pytest.mark.parametrize("name", REFUSED)
def test_the_faulty_parser_refuses_what_the_sound_one_lets_in(make_lab, keys, name):
    token = REFUSED[name](keys)
    assert call(make_lab(fault=FAULTS[name]), token).status_code == 401
    assert CANARY in call(make_lab(), token).text


def test_an_issuer_is_told_in_the_challenge_by_the_faulty_server_alone(make_lab, keys):
    token = keys.token(iss='https://"evil".test')
    told = call(make_lab(fault=FAULTS["issuer-told-in-challenge"]), token)
    assert "evil" in told.headers["www-authenticate"]
    assert "evil" not in call(make_lab(), token).headers["www-authenticate"]


@pytest.mark.parametrize("name", serialization.FAULTS)
def test_a_faulty_parser_still_reads_good_tokens_and_refuses_forged_ones(make_lab, keys, name):
    lab = make_lab(fault=FAULTS[name])
    good = keys.sign_segments(segment(HEADER), segment(json.dumps(keys.claims(), separators=(",", ":")).encode()))
    assert CANARY in call(lab, good).text
    assert call(lab, keys.forged()).status_code == 401
    assert lab.modern("tools/call", CALL).status_code == 401


def test_every_fault_of_parsing_has_been_seen_to_show():
    shown = {*ACCEPTED, *BROKEN_DOWN, *REFUSED, "issuer-told-in-challenge"}
    assert shown == set(serialization.FAULTS)
