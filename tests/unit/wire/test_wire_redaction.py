"""No registered secret survives redaction in any form; what is no secret survives untouched."""

import base64
import html
import json
import threading
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.work import work

from mcp_auth_contract.wire.redaction import REDACTED, REDACTED_JWT, Redactor


def b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


HEADER = b64('{"alg":"RS256","typ":"at+jwt"}')
PAYLOAD = b64('{"iss":"https://issuer.test","sub":"alice","jti":"4711-0815"}')
SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS10b2tlbi1ub2JvZHktbWF5LXNlZQ"
TOKEN = f"{HEADER}.{PAYLOAD}.{SIGNATURE}"
OPAQUE = "oq7-Zk2_vN9pXr4LwT8sYb1c"


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.register(TOKEN, "token-expired")
    redactor.register(OPAQUE, "token-opaque")
    return redactor


def test_a_label_is_the_name_and_eight_hex_digits_of_the_hash(redactor: Redactor) -> None:
    label = redactor.register("another secret", "token-nbf")
    assert label.startswith("token-nbf#")
    assert len(label) == len("token-nbf#") + 8
    assert label == redactor.label_of("another secret")


def test_the_first_label_of_a_secret_stays(redactor: Redactor) -> None:
    assert redactor.register(TOKEN, "other") == redactor.label_of(TOKEN)
    assert str(redactor.label_of(TOKEN)).startswith("token-expired#")


@pytest.mark.parametrize("secret", [TOKEN, OPAQUE], ids=["jwt", "opaque"])
@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "Bearer {}",
        "a={}&b=1",
        "Bearer%20{}",
        '{{"token":"{}"}}',
        "x{}",
        "{}yz",
        "/path/{}/more",
        "({})",
        "\n{}\n",
    ],
)
def test_a_secret_is_replaced_wherever_it_stands(redactor: Redactor, secret: str, frame: str) -> None:
    redacted = redactor.redact(frame.format(secret))
    for part in secret.split("."):
        assert part not in redacted or part == HEADER
    assert "#" in redacted


@pytest.mark.parametrize("part", [PAYLOAD, SIGNATURE, f"{PAYLOAD}.{SIGNATURE}", f"{HEADER}.{PAYLOAD}"])
def test_a_part_of_a_jwt_is_replaced_by_its_label(redactor: Redactor, part: str) -> None:
    redacted = redactor.redact(f"<{part}>")
    assert PAYLOAD not in redacted
    assert SIGNATURE not in redacted
    assert str(redactor.label_of(TOKEN)) in redacted


@pytest.mark.parametrize("secret", [TOKEN, OPAQUE], ids=["jwt", "opaque"])
@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
@pytest.mark.parametrize("after", ["", ":", ":p", ":pw"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_inside_base64_is_replaced(
    redactor: Redactor, secret: str, before: str, after: str, encode: object
) -> None:
    encoded = encode(f"{before}{secret}{after}".encode()).decode()  # type: ignore[operator]
    redacted = redactor.redact(f"Basic {encoded}")
    assert encoded[8:-8] not in redacted
    assert "#" in redacted


def test_percent_encoding_does_not_hide_a_secret() -> None:
    redactor = Redactor()
    label = redactor.register("s3cret/with+signs=and spaces", "client")
    for form in (quote("s3cret/with+signs=and spaces", safe=""), "s3cret%2fwith%2bsigns%3dand%20spaces"):
        assert redactor.redact(f"a={form}&b") == f"a={label}&b"


def test_a_secret_with_any_characters_is_replaced() -> None:
    redactor = Redactor()
    redactor.hide('my "quoted" pass;word, é')
    assert redactor.redact('the my "quoted" pass;word, é!') == f"the {REDACTED}!"


def test_a_jwt_that_nobody_registered_is_replaced_by_a_mark() -> None:
    assert Redactor().redact(f"saw {TOKEN} there") == f"saw {REDACTED_JWT} there"
    assert REDACTED_JWT in Redactor().redact(f"{HEADER}.{PAYLOAD}.")


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abc123",
        "authorization=abc123; x",
        "Proxy-Authorization: Basic abc123",
        "Cookie: sid=abc123",
        "Set-Cookie: sid=abc123; HttpOnly",
        '{"authorization": "Bearer abc123"}',
        '{"text":"{\\"authorization\\":\\"Bearer abc123\\"}"}',
        "{'Authorization': 'Bearer abc123'}",
        "[(b'authorization', b'Bearer abc123')]",
        '["cookie","sid=abc123"]',
    ],
)
def test_the_values_of_credential_fields_are_replaced_in_text(text: str) -> None:
    redacted = Redactor().redact(text)
    assert "abc123" not in redacted
    assert REDACTED in redacted


@pytest.mark.parametrize(
    "text",
    [
        '{"authorization_servers":["https://as.test"],"authorization_endpoint":"https://as.test/authorize"}',
        'Bearer error="invalid_token", resource_metadata="https://rs.test/.well-known/oauth-protected-resource"',
        '{"nextCursor":"eyJvZmZzZXQiOjIwfQ==","tools":[]}',
        "a long sentence about authorization and cookies without any of them",
        '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"alice-t1-INV-1-7f3a"}]}}',
    ],
)
def test_what_is_no_secret_is_left_alone(redactor: Redactor, text: str) -> None:
    assert redactor.redact(text) == text


def test_of_credentials_the_scheme_and_the_label_are_left(redactor: Redactor) -> None:
    label = redactor.label_of(OPAQUE)
    assert redactor.redact_header("Authorization", f"Bearer {OPAQUE}") == f"Bearer {label}"
    assert redactor.redact_header("Authorization", f"Bearer {OPAQUE} junk") == f"Bearer {label} {REDACTED}"
    assert redactor.redact_header("Authorization", "Bearer") == "Bearer"
    assert redactor.redact_header("AUTHORIZATION", "hunter2") == REDACTED
    assert redactor.redact_header("Cookie", f"access_token={OPAQUE}") == f"access_token={label}"
    assert redactor.redact_header("Cookie", f"a=secret;b={OPAQUE}") == f"{REDACTED};b={label}"
    assert redactor.redact_header("Set-Cookie", "sid=1; Path=/") == f"{REDACTED}; {REDACTED}"


def test_a_session_id_is_shown_by_its_hash_alone(redactor: Redactor) -> None:
    shown = redactor.redact_header("Mcp-Session-Id", "4f7a0c")
    assert shown.startswith("session#")
    assert shown == redactor.redact_header("mcp-session-id", "4f7a0c")


def test_a_text_with_the_shape_of_a_label_is_no_label() -> None:
    assert Redactor().redact_header("Authorization", "Bearer fake#0123abcd") == f"Bearer {REDACTED}"


def test_short_secrets_do_not_garble_text() -> None:
    redactor = Redactor()
    redactor.hide("1")
    redactor.hide("")
    assert redactor.redact('{"id":1,"jsonrpc":"2.0"}') == '{"id":1,"jsonrpc":"2.0"}'


def test_the_repr_shows_no_secret(redactor: Redactor) -> None:
    assert OPAQUE not in repr(redactor)


def test_holding_a_secret_is_told_in_every_form(redactor: Redactor) -> None:
    assert redactor.holds_secret(f"https://elsewhere.test/?x={OPAQUE}")
    assert redactor.holds_secret(base64.b64encode(f"a:{TOKEN}".encode()).decode())
    assert redactor.holds_secret(SIGNATURE)
    assert not redactor.holds_secret("https://elsewhere.test/.well-known/oauth-authorization-server")


@settings(deadline=None)
@example("\\", "", "abcdefgh12345678")
@example("\\\\", "", "nbcdefgh12345678")
@given(st.text(max_size=60), st.text(max_size=60), st.text(alphabet="abcXYZ019-_~.+/=", min_size=16, max_size=80))
def test_a_registered_secret_survives_in_no_text(before: str, after: str, secret: str) -> None:
    redactor = Redactor()
    redactor.register(secret, "s")
    assert secret not in redactor.redact(before + secret + after)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_stays_json(value: object) -> None:
    redactor = Redactor()
    redactor.register(OPAQUE, "token-opaque")
    json.loads(redactor.redact(json.dumps({"a": value, "authorization": f"Bearer {OPAQUE}", "t": [OPAQUE]})))


@pytest.mark.slow
def test_the_cost_of_redaction_does_not_grow_with_the_secrets() -> None:
    body = json.dumps({"tools": [{"name": f"tool_{n}", "description": "words " * 20} for n in range(100)]})

    def cost(secrets: int) -> float:
        redactor = Redactor()
        for number in range(secrets):
            payload, signature = b64(json.dumps({"jti": f"{number:08}"})), b64(f"signature {number:030}")
            redactor.register(f"{HEADER}.{payload}.{signature}", "t")
        return work(lambda: redactor.redact(body), times=20)

    assert cost(5000) < 5 * cost(5)


def test_threads_may_register_and_redact_at_once() -> None:
    redactor = Redactor()
    errors: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(200):
                secret = f"secret-{name}-{number}-{'x' * 8}"
                redactor.register(secret, "s")
                assert secret not in redactor.redact(f"see {secret}")
        except BaseException as error:  # noqa: BLE001  told by the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_private_members_of_a_key_are_not_recorded() -> None:
    secret = "Zm9vYmFyYmF6cXV4LXByaXZhdGU"
    text = '{"keys":[{"kty":"OKP","x":"publicpublicpublicpublic","d": "' + secret + '"}]}'
    redacted = Redactor().redact(text)
    assert secret not in redacted
    assert '"d": "<redacted>"' in redacted
    assert "publicpublicpublicpublic" in redacted


def every_form(secret: str) -> list[str]:
    """The secret as servers echo it: in addresses, forms, JSON, JSON inside JSON, pages and Basic credentials."""
    escaped = json.dumps(secret)
    return [
        quote(secret),
        quote(secret, safe=""),
        quote(secret, safe="!'()*"),
        quote(secret, safe="!$&'()*+,;=:@/?"),
        quote_plus(secret),
        urlencode({"t": secret}),
        escaped,
        json.dumps(secret, ensure_ascii=False),
        json.dumps({"text": escaped}),
        html.escape(secret),
        html.escape(secret, quote=False),
        secret.replace("/", "\\/"),
    ]


ODD = "p\"ss\\w&rd<\u00e9>/+ =%'x"


@pytest.mark.parametrize("form", every_form(ODD))
def test_no_escaping_hides_a_secret_with_odd_characters(form: str) -> None:
    redactor = Redactor()
    redactor.hide(ODD)
    assert redactor.holds_secret(form)
    redacted = redactor.redact(f"before {form} after")
    assert REDACTED in redacted
    assert "ss" not in redacted.replace("<redacted>", "")


@pytest.mark.parametrize("form", every_form("abcd/ef+gh==ijkl/mnop+"))
def test_no_escaping_hides_a_secret_in_base64_letters(form: str) -> None:
    redactor = Redactor()
    redactor.hide("abcd/ef+gh==ijkl/mnop+")
    assert "mnop" not in redactor.redact(form)


# No letters that the label or the frames of the forms hold, so that what is found again can only be the secret.
SECRETS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<>redact#0123456789 "), min_size=8, max_size=40
)


@settings(deadline=None)
@given(SECRETS, st.text(max_size=20), st.text(max_size=20))
def test_any_secret_is_found_in_any_form(secret: str, before: str, after: str) -> None:
    redactor = Redactor()
    redactor.hide(secret)
    for form in (secret, *every_form(secret)):
        redacted = redactor.redact(f"{before} {form} {after}")
        assert form not in redacted
        assert secret not in redacted
        assert REDACTED in redacted


@settings(deadline=None)
@given(st.lists(SECRETS, min_size=1, max_size=5, unique=True), st.data())
def test_no_secret_among_several_survives(secrets: list[str], data: st.DataObject) -> None:
    redactor = Redactor()
    for number, secret in enumerate(secrets):
        redactor.register(secret, f"s{number}")
    text = "".join(data.draw(st.lists(st.sampled_from(secrets) | st.text(max_size=5), max_size=12)))
    redacted = redactor.redact(text)
    assert not [secret for secret in secrets if secret in redacted]
    assert redacted == text or redactor.holds_secret(text)


def test_a_secret_that_ends_in_a_backslash_leaves_json_as_json() -> None:
    redactor = Redactor()
    redactor.hide("abcdefgh\\")
    assert json.loads(redactor.redact(json.dumps({"a": ["abcdefgh\\"]}))) == {"a": [REDACTED]}


def test_a_secret_registered_later_is_removed_from_a_text_that_was_clean_before() -> None:
    redactor = Redactor()
    line = "Authorized-By: a-secret-of-later"
    assert redactor.redact(line) == line
    label = redactor.register("a-secret-of-later", "token-late")
    assert redactor.redact(line) == f"Authorized-By: {label}"


def test_a_secret_of_the_server_is_shown_by_its_name_and_is_no_token() -> None:
    redactor = Redactor()
    redactor.hide_of_server("gateway-key-11", "GATEWAY KEY")
    redactor.hide("gateway-key-11")
    (label,) = redactor.of_server
    assert label.startswith("environment:GATEWAY_KEY#")
    assert redactor.redact('{"key": "gateway-key-11"}') == f'{{"key": "{label}"}}'
    assert redactor.labels_in("gateway-key-11") == frozenset()
