"""A signature is found in whatever form a server gives it back, and what is no secret is left alone."""

import base64
import json
import textwrap
from collections.abc import Callable, Mapping
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_auth_contract.wire.redaction import Redactor
from mcp_auth_contract.wire.windows import Windows


def b64(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


SHORT = b64(bytes((41 * n * n + 7 * n + 13) % 256 for n in range(64)))
LONG = b64(bytes((91 * n * n * n + 29 * n + 5) % 251 for n in range(256)))
HEADER, PAYLOAD = b64(b'{"alg":"ES256","typ":"at+jwt"}'), b64(b'{"iss":"https://issuer.test","sub":"alice"}')
MACAROON = b64(b"001clocation mcp.test\n") + f"{PAYLOAD}{SHORT}"
OPAQUE = "oq7-Zk2_vN9pXr4LwT8sYb1c"


def each(form: str) -> Callable[[str], str]:
    return lambda token: "".join(form.format(ord(one)) for one in token)


def twice(token: str) -> str:
    return base64.b64encode(base64.b64encode(token.encode())).decode()


FORMS: Mapping[str, Callable[[str], str]] = {
    "percent": each("%{:02x}"),
    "PERCENT": each("%{:02X}"),
    "percent twice": each("%25{:02x}"),
    "every second byte percent": lambda token: "".join(
        f"%{ord(one):02x}" if at % 2 else one for at, one in enumerate(token)
    ),
    "decimal HTML": each("&#{};"),
    "hexadecimal HTML": each("&#x{:X};"),
    "padded HTML": each("&#00{};"),
    "HTML without semicolons": each("&#x{:02x}"),
    "JSON": each("\\u{:04x}"),
    "JSON in JSON": each("\\\\u{:04x}"),
    "JavaScript": each("\\u{{{:x}}}"),
    "x": each("\\x{:02x}"),
    "octal": each("\\{:03o}"),
    "quoted-printable": each("={:02X}"),
    "hex": lambda token: token.encode().hex(),
    "HEX": lambda token: token.encode().hex().upper(),
    "hex with colons": lambda token: token.encode().hex(":"),
    "hex with spaces": lambda token: token.encode().hex(" "),
    "C": lambda token: ", ".join(hex(one) for one in token.encode()),
    "a buffer": lambda token: json.dumps({"type": "Buffer", "data": list(token.encode())}),
    "a compact buffer": lambda token: json.dumps(list(token.encode()), separators=(",", ":")),
    "Go": lambda token: "[" + " ".join(map(str, token.encode())) + "]",
    "base32": lambda token: base64.b32encode(token.encode()).decode(),
    "base32 in lower case": lambda token: base64.b32encode(token.encode()).decode().lower().rstrip("="),
    "Base64 twice": twice,
    "Base64 three times": lambda token: base64.urlsafe_b64encode(twice(token).encode()).decode(),
    "Base64 of hex": lambda token: base64.b64encode(token.encode().hex().encode()).decode(),
    "hex of Base64": lambda token: base64.b64encode(token.encode()).hex(),
    "percent of Base64": lambda token: each("%{:02x}")(base64.b64encode(token.encode()).decode()),
    "Base64 of percent": lambda token: base64.b64encode(each("%{:02x}")(token).encode()).decode(),
    "Base64 of JSON": lambda token: base64.b64encode(each("\\u{:04x}")(token).encode()).decode(),
    "wrapped Base64": lambda token: base64.encodebytes(base64.b64encode(token.encode())).decode(),
    "Base64 wrapped in JSON": lambda token: json.dumps(base64.encodebytes(token.encode()).decode()),
    "reversed": lambda token: token[::-1],
    "Base64, reversed": lambda token: base64.b64encode(token[::-1].encode()).decode(),
    "wrapped": lambda token: "\n".join(textwrap.wrap(token, 64)),
    "wrapped narrowly": lambda token: "\r\n  ".join(textwrap.wrap(token, 8)),
    "one character a line": "\n".join,
    "wrapped in JSON": lambda token: json.dumps("\n".join(textwrap.wrap(token, 16))),
    "wrapped in JSON in JSON": lambda token: json.dumps(json.dumps("\r\n".join(textwrap.wrap(token, 10)))),
    "the first half": lambda token: token[: len(token) // 2 + len(token) // 4],
    "the second half": lambda token: token[len(token) // 2 :],
    "without its first character": lambda token: token[1:],
    "the signature without its first character": lambda token: token.rpartition(".")[2][1:],
    "the signature without its last character": lambda token: token.rpartition(".")[2][:-1],
    "the first half of the signature": lambda token: token.rpartition(".")[2][: len(token.rpartition(".")[2]) // 2],
    "the second half of the signature": lambda token: token.rpartition(".")[2][len(token.rpartition(".")[2]) // 2 :],
    "the middle of the signature": lambda token: token.rpartition(".")[2][11:-11],
    "other letters around": lambda token: f"xyz{token.rpartition('.')[2]}Zyx",
    "quoted": lambda token: quote(json.dumps(each("\\u{:04x}")(token))),
}


def known(*secrets: str) -> Redactor:
    redactor = Redactor()
    for secret in secrets:
        redactor.register(secret, "token-good")
    return redactor


def pieces(secret: str, length: int = 17) -> set[str]:
    return {secret[at : at + length] for at in range(len(secret) - length + 1)}


@pytest.mark.parametrize("frame", ["{}", "before {} after", '{{"error":"{}"}}', "a={}&b=1", "<p>{}</p>", "x\\n{}"])
@pytest.mark.parametrize("signature", [SHORT, LONG], ids=["ES256", "RS256"])
@pytest.mark.parametrize("form", FORMS)
def test_a_token_in_an_unusual_form_is_found_and_does_not_stay(form: str, signature: str, frame: str) -> None:
    token = f"{HEADER}.{PAYLOAD}.{signature}"
    redactor = known(token)
    echoed = frame.replace("{}", FORMS[form](token)).replace("{{", "{").replace("}}", "}")
    assert redactor.labels_in(echoed) == {redactor.label_of(token)}
    assert redactor.holds_secret(echoed)
    redacted = redactor.redact(echoed)
    assert not redactor.labels_in(redacted.replace(str(redactor.label_of(token)), ""))
    whole = FORMS[form](signature)
    stays = [one for one in pieces(whole, 17 * max(1, len(whole) // len(signature))) if one in redacted]
    assert not stays, (stays[0], redacted)


# Of a short token a half is no more than a word.
WHOLE = [form for form in FORMS if "half" not in form and "middle" not in form and form != "one character a line"]


@pytest.mark.parametrize("form", WHOLE)
def test_an_opaque_token_that_looks_random_is_found_too(form: str) -> None:
    redactor = known(OPAQUE)
    assert redactor.labels_in(f"saw {FORMS[form](OPAQUE)} there") == {redactor.label_of(OPAQUE)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("frame", [lambda text: {"a": text}, lambda text: [text, json.dumps({"b": [text]})]])
def test_json_stays_json(form: str, frame: Callable[[str], object]) -> None:
    token = f"{HEADER}.{PAYLOAD}.{LONG}"
    json.loads(known(token).redact(json.dumps(frame(FORMS[form](token)))))


def test_numbers_outside_of_strings_stay_numbers() -> None:
    token = f"{HEADER}.{PAYLOAD}.{SHORT}"
    redacted = json.loads(known(token).redact(json.dumps({"data": list(token.encode()), "port": 8080})))
    assert redacted == {"data": [0] * len(token), "port": 8080}


@pytest.mark.parametrize(
    "text",
    [
        '{"authorization_servers":["https://as.test"],"resource":"https://rs.test/.well-known/oauth-protected-resource"}',
        "the fingerprint is 65:79:4a:68:62:47:63:69:4f:69:4a:53:55:7a:49:31:4e:69:4a:39",
        '{"nextCursor":"eyJvZmZzZXQiOjIwLCJsaW1pdCI6MTAwLCJ0ZW5hbnQiOiJ0MSJ9","ports":[8080, 8081, 8082, 8083, 8084]}',
        "%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82 &#1087;&#1088;&#1080;&#1074;&#1077;&#1090; \\u043f\\u0440\\u0438",
        HEADER,
        b64(b"001clocation mcp.test\n")
        + b64(b'{"iss":"https://issuer.test","sub":"alice","aud":"https://rs.test"}')[4:],
        f"{SHORT[:8]} and {SHORT[20:28]}",
        "client-secret-of-the-other-test-server",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    redactor = known(f"{HEADER}.{PAYLOAD}.{SHORT}", "client-secret-of-this-test-server", "A" * 100, MACAROON)
    assert redactor.labels_in(text) == set()
    assert redactor.redact(text) == text


@settings(deadline=None)
@given(st.binary(min_size=48, max_size=300), st.data())
def test_of_seventeen_characters_in_a_row_one_window_is_seen(octets: bytes, data: st.DataObject) -> None:
    secret = f"{HEADER}.{PAYLOAD}.{b64(bytes((one * 7 + at * at * 13) % 256 for at, one in enumerate(octets)))}"
    windows = Windows()
    windows.add(secret, "s#00000000")
    signature = secret.rpartition(".")[2]
    start = data.draw(st.integers(0, len(signature) - 17))
    piece = signature[start : start + 17]
    if all(len(set(piece[at : at + 8])) > 4 for at in range(10)):
        before = data.draw(st.text("xyz.", max_size=5))
        assert windows.spans(f"{before}{piece}")
