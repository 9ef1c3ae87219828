"""Each fault kind and each legal variation of WWW-Authenticate, one header at a time."""

import pytest
from tests.support.challenges import format_challenge

from mcp_auth_contract.oauth.challenge import Challenge, Challenges, parse_challenges, scopes_of
from mcp_auth_contract.oauth.challenge_syntax import Fault, FaultKind

URL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"


def kinds(*lines: str) -> list[FaultKind]:
    return [fault.kind for fault in parse_challenges(lines).faults]


def bearer_of(*lines: str) -> Challenge:
    bearer = parse_challenges(lines).bearer
    assert bearer is not None
    return bearer


LEGAL = {
    "everything quoted": f'Bearer realm="mcp", error="invalid_token", resource_metadata="{URL}", scope="a b"',
    "unquoted tokens": "Bearer error=invalid_token, scope=read",
    "scheme alone": "Bearer",
    "scheme in lower case": 'bearer realm="mcp"',
    "scheme in upper case": 'BEARER realm="mcp"',
    "names in upper case": 'Bearer Realm="mcp", ERROR="invalid_token"',
    "space around the equals sign": 'Bearer realm = "mcp" , scope\t=\t"read"',
    "no space after commas": 'Bearer realm="mcp",scope="read"',
    "tabs around commas": 'Bearer realm="mcp"\t,\tscope="read"',
    "several spaces after the scheme": 'Bearer   realm="mcp"',
    "space at both ends": '  Bearer realm="mcp"  ',
    "space after a lone scheme": "Bearer ",
    "comma in quotes": 'Bearer error_description="expired, sorry", scope="read"',
    "equals sign in quotes": 'Bearer error_description="a=b", scope="read"',
    "escaped quotation mark outside RFC 6750": 'Basic realm="the \\"inner\\" one"',
    "escaped ordinary character": 'Bearer realm="\\m\\c\\p"',
    "empty value": 'Bearer realm=""',
    "negotiate": "Negotiate YIIJvwYGKwYBBQUCoIIJszCCCa+gJDAi==",
    "token68 in a list": 'Negotiate abc/+~._-1=, Bearer realm="mcp"',
    "several schemes": 'Basic realm="x", Bearer realm="y", DPoP algs="ES256 PS256"',
    "two bearer challenges": f'Bearer scope="a", Bearer resource_metadata="{URL}"',
    "lone scheme in a list": 'Negotiate, Bearer realm="mcp", NTLM',
    "empty list elements": ', ,Bearer realm="mcp",, scope="read",',
    "empty element after the scheme": 'Bearer , realm="mcp"',
    "extension parameters": 'Bearer realm="mcp", x-trace="1", authorization_uri="https://as.example.com"',
    "scope that holds a comma": 'Bearer scope="urn:example:channel=HBO urn:example:rating=G,PG-13"',
    "scopes that are URLs": 'Bearer scope="https://h/a api://guid/.default files:* urn:x:y"',
    "single quote inside double ones": 'Bearer error_description="the token\'s time is over"',
    "semicolon inside a value": 'Bearer resource_metadata="https://h/a;b=c"',
    "a scheme after an unquoted scope": 'Bearer scope=read, Basic realm="x"',
    "a lone scheme after an unquoted scope": "Bearer scope=read,Negotiate",
}


@pytest.mark.parametrize("line", LEGAL.values(), ids=LEGAL.keys())
def test_legal_variation_has_no_fault(line: str) -> None:
    assert kinds(line) == []


FAULTY = {
    "unquoted URL": (f"Bearer resource_metadata={URL}", [FaultKind.UNQUOTED]),
    "unquoted words": ("Bearer scope=a b", [FaultKind.UNQUOTED]),
    "unquoted words before a comma": ('Bearer scope=a b, error="x"', [FaultKind.UNQUOTED]),
    "duplicate": ('Bearer error="a", error="b"', [FaultKind.DUPLICATE]),
    "duplicate in another case": ('Bearer error="a", Error="b"', [FaultKind.DUPLICATE]),
    "single quotes": (f"Bearer resource_metadata='{URL}'", [FaultKind.SINGLE_QUOTES]),
    "single quotes around words": ("Bearer scope='a b'", [FaultKind.SINGLE_QUOTES]),
    "no comma": ('Bearer realm="mcp" error="invalid_token"', [FaultKind.MISSING_COMMA]),
    "no comma and no space": ('Bearer realm="mcp"error="invalid_token"', [FaultKind.MISSING_COMMA]),
    "no comma after a token": ('Bearer error=invalid_token scope="a b"', [FaultKind.MISSING_COMMA]),
    "no comma between challenges": ('Basic realm="x" Bearer realm="y"', [FaultKind.MISSING_COMMA]),
    "no comma after a lone scheme": ('Basic Bearer realm="y"', [FaultKind.MISSING_COMMA]),
    "semicolons": ('Bearer realm="mcp"; error="invalid_token"', [FaultKind.MISSING_COMMA]),
    "semicolon after a token": ('Bearer error=invalid_token; scope="a"', [FaultKind.MISSING_COMMA]),
    "semicolon at the end": ('Bearer realm="mcp";', [FaultKind.SYNTAX]),
    "unterminated": ('Bearer realm="mcp', [FaultKind.UNTERMINATED]),
    "unterminated by a backslash": ('Bearer realm="mcp\\"', [FaultKind.UNTERMINATED]),
    "line feed": ('Bearer realm="a\nb"', [FaultKind.CONTROL]),
    "null": ('Bearer realm="a\x00b"', [FaultKind.CONTROL]),
    "delete": ('Bearer realm="a\x7fb"', [FaultKind.CONTROL]),
    "outside ASCII": ('Bearer realm="schlüssel"', [FaultKind.NON_ASCII]),
    "empty": ("", [FaultKind.EMPTY]),
    "white space": (" \t ", [FaultKind.EMPTY]),
    "commas": (", ,", [FaultKind.EMPTY]),
    "realm as a token": ("Bearer realm=mcp", [FaultKind.UNQUOTED_REALM]),
    "colon after the scheme": ('Bearer: realm="mcp"', [FaultKind.SYNTAX]),
    "comma after the scheme": ('Bearer, realm="mcp"', [FaultKind.SYNTAX]),
    "tab after the scheme": ('Bearer\trealm="mcp"', [FaultKind.SYNTAX]),
    "parameter without a scheme": (f'resource_metadata="{URL}"', [FaultKind.SYNTAX]),
    "parameter without a value": ("Bearer realm=, error=x", [FaultKind.SYNTAX]),
    "last parameter without a value": ("Bearer error=", [FaultKind.SYNTAX]),
    "token68 for bearer": ("Bearer invalid_token", [FaultKind.SYNTAX]),
    "parameter after a token68": ('Negotiate abc=, realm="x"', [FaultKind.SYNTAX]),
    "value without a name": ('Bearer "mcp"', [FaultKind.SYNTAX]),
    "rubbish": ("<html>", [FaultKind.SYNTAX]),
    "JSON": ('{"error": "invalid_token"}', [FaultKind.SYNTAX]),
    "quote in error": ('Bearer error="a\\"b"', [FaultKind.CHARACTERS]),
    "backslash in error_description": ('Bearer error_description="a\\\\b"', [FaultKind.CHARACTERS]),
    "tab in error_description": ('Bearer error_description="a\tb"', [FaultKind.CHARACTERS]),
    "quote in scope": ('Bearer scope="a \\"b\\""', [FaultKind.CHARACTERS]),
    "space in error_uri": ('Bearer error_uri="https://h/a b"', [FaultKind.CHARACTERS]),
    "quote in the error of DPoP": ('DPoP error="a\\"b"', [FaultKind.CHARACTERS]),
    "umlaut in error_description": (
        'Bearer error_description="ungültig"',
        [FaultKind.NON_ASCII, FaultKind.CHARACTERS],
    ),
    "empty scope": ('Bearer scope=""', [FaultKind.EMPTY_SCOPE]),
    "blank scope": ('Bearer scope=" "', [FaultKind.EMPTY_SCOPE]),
    "scope without a value": ("Bearer scope=", [FaultKind.SYNTAX, FaultKind.EMPTY_SCOPE]),
    "scopes with commas": ('Bearer scope="read,write"', [FaultKind.SCOPE_FORM]),
    "scopes with commas and spaces": ('Bearer scope="invoices:read, invoices:write"', [FaultKind.SCOPE_FORM]),
    "structured scopes with commas": ('Bearer scope="a:read,a:write"', [FaultKind.SCOPE_FORM]),
    "unquoted scopes with commas": ("Bearer scope=read,write", [FaultKind.UNQUOTED, FaultKind.SCOPE_FORM]),
    "array of scopes in single quotes": (
        'Bearer scope=\'["a", "b"]\'',
        [FaultKind.SINGLE_QUOTES, FaultKind.CHARACTERS, FaultKind.SCOPE_FORM],
    ),
    "unquoted array of scopes": (
        'Bearer scope=["a", "b"], error="x"',
        [FaultKind.UNQUOTED, FaultKind.CHARACTERS, FaultKind.SCOPE_FORM],
    ),
}


@pytest.mark.parametrize(("line", "expected"), FAULTY.values(), ids=FAULTY.keys())
def test_fault_is_named_by_its_kind_and_by_no_other(line: str, expected: list[FaultKind]) -> None:
    assert kinds(line) == expected


def test_every_kind_of_fault_has_an_example() -> None:
    assert {kind for _, expected in FAULTY.values() for kind in expected} == set(FaultKind)


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        (f"Bearer resource_metadata={URL}", "resource_metadata", URL),
        (f"Bearer resource_metadata={URL}?a=b&c=d, scope=x", "resource_metadata", f"{URL}?a=b&c=d"),
        (f'Bearer resource_metadata={URL} scope="a b"', "resource_metadata", URL),
        (f"Bearer resource_metadata={URL}; scope=a", "resource_metadata", URL),
        (f"Bearer resource_metadata='{URL}', scope=a", "resource_metadata", URL),
        (f'resource_metadata="{URL}"', "resource_metadata", URL),
        (f'Bearer, resource_metadata="{URL}"', "resource_metadata", URL),
        (f'Bearer: resource_metadata="{URL}"', "resource_metadata", URL),
        (f'Bearer nonsense, , resource_metadata="{URL}"', "resource_metadata", URL),
        (f'Bearer realm="x"junk, resource_metadata="{URL}"', "resource_metadata", URL),
        ("Bearer scope=a b, error=x", "scope", "a b"),
        ("Bearer scope=a b error=x", "scope", "a b"),
        ('Bearer scope=["a", "b"], error="x"', "scope", '["a", "b"]'),
        ("Bearer scope=a,b,c, error=x", "scope", "a,b,c"),
        ("Bearer scope='a b', error=x", "scope", "a b"),
        ('Bearer scope="a b', "scope", "a b"),
        ('Bearer realm="mcp"; scope="a"', "scope", "a"),
        ('Bearer realm="mcp" scope="a"', "scope", "a"),
        ('Bearer realm="mcp"\r\n scope="a"', "scope", "a"),
    ],
)
def test_value_is_still_read_after_a_fault(line: str, name: str, value: str) -> None:
    read = parse_challenges([line])
    assert read.faults
    assert read.get(name) == value


def test_bearer_is_found_after_a_faulty_challenge() -> None:
    assert bearer_of('Basic realm=a/b/c, Bearer error="invalid_token"').get("error") == "invalid_token"


def test_quoted_pairs_are_decoded() -> None:
    assert bearer_of(r'Bearer realm="a\"b\\c\d"').get("realm") == r'a"b\cd'


def test_injected_parameter_shows_as_a_duplicate() -> None:
    line = f'Bearer resource_metadata="https://x", scope="root/.x", resource_metadata="{URL}", scope="read"'
    assert kinds(line) == [FaultKind.DUPLICATE, FaultKind.DUPLICATE]
    assert [value for name, value in bearer_of(line).params if name == "scope"] == [
        "root/.x",
        "read",
    ]


def test_injected_header_shows_as_a_control_character() -> None:
    assert FaultKind.CONTROL in kinds('Bearer realm="x"\r\nSet-Cookie: a=b')


def test_same_parameter_in_two_challenges_is_no_duplicate() -> None:
    assert kinds('Bearer scope="a", Bearer scope="b"') == []


def test_character_sets_of_rfc_6750_bind_no_other_scheme() -> None:
    assert kinds('Basic realm="x", scope="a,b", error="\\""') == []


def test_several_lines_are_one_list() -> None:
    read = parse_challenges(['Basic realm="x"', 'Bearer realm="y"', 'scope="a"'])
    assert read.schemes == ("basic", "bearer")
    assert read.challenges[1].params == (("realm", "y"), ("scope", "a"))
    assert read.faults == ()
    assert read.lines == ('Basic realm="x"', 'Bearer realm="y"', 'scope="a"')


def test_unclosed_quotation_ends_with_its_line() -> None:
    read = parse_challenges(['Basic realm="x', 'Bearer realm="y"'])
    assert read.schemes == ("basic", "bearer")
    assert [(fault.kind, fault.scheme) for fault in read.faults] == [(FaultKind.UNTERMINATED, "Basic")]


def test_one_string_is_read_as_one_line() -> None:
    assert parse_challenges("Bearer") == parse_challenges(["Bearer"])


def test_no_lines_have_neither_challenge_nor_fault() -> None:
    assert parse_challenges([]) == Challenges()


def test_bearer_prefers_the_challenge_with_parameters() -> None:
    assert bearer_of('Bearer, Basic realm="x", bearer scope="a", Bearer scope="b"').get("scope") == "a"


def test_bearer_without_parameters_is_better_than_none() -> None:
    assert bearer_of('Basic realm="x", Bearer') == Challenge("Bearer")


def test_bearer_is_none_for_other_schemes() -> None:
    assert parse_challenges(['BearerX realm="x"', 'DPoP algs="ES256"']).bearer is None


def test_parameter_is_found_in_any_scheme_and_any_case() -> None:
    read = parse_challenges([f'Bearer realm="x", DPoP Resource_Metadata="{URL}"'])
    assert read.get("RESOURCE_METADATA") == URL
    assert read.get("scope") is None


def test_scheme_is_kept_as_sent_and_names_are_lower_case() -> None:
    assert bearer_of('bEARER ReaLm="X"') == Challenge("bEARER", None, (("realm", "X"),))


def test_token68_is_kept() -> None:
    assert parse_challenges(["Negotiate a2V5+/==, NTLM"]).challenges == (
        Challenge("Negotiate", "a2V5+/=="),
        Challenge("NTLM"),
    )


def test_fault_names_the_scheme_it_is_in() -> None:
    assert parse_challenges(['Basic realm="x", Bearer a="1", a="2"']).faults == (
        Fault(FaultKind.DUPLICATE, "'a' is given more than once", "Bearer"),
    )


def test_messages_are_short_printable_ascii_whatever_was_sent() -> None:
    hostile = "Bearer scope=\x1b[31mü😀\ud800 " + "x" * 10_000 + ', \x1b\u202e"' + "é" * 10_000
    for fault in parse_challenges([hostile]).faults:
        assert fault.detail.isascii()
        assert fault.detail.isprintable()
        assert len(fault.detail) < 1000


def test_realm_and_rfc_6750_are_no_syntax_faults() -> None:
    assert {kind for kind in FaultKind if not kind.is_syntax} == {
        FaultKind.UNQUOTED_REALM,
        FaultKind.CHARACTERS,
        FaultKind.EMPTY_SCOPE,
        FaultKind.SCOPE_FORM,
    }


@pytest.mark.parametrize(
    ("value", "scopes"),
    [
        ("", set()),
        (" a  b ", {"a", "b"}),
        ("a b a", {"a", "b"}),
        ("a,b", {"a,b"}),
        ("A a", {"A", "a"}),
        ("a\tb", {"a\tb"}),
    ],
)
def test_scopes_are_split_at_spaces_only(value: str, scopes: set[str]) -> None:
    assert scopes_of(value) == scopes


def test_challenge_is_written_with_quoted_values() -> None:
    challenge = Challenge("Bearer", None, (("realm", 'a"b\\'), ("scope", "a b")))
    assert format_challenge(challenge) == r'Bearer realm="a\"b\\", scope="a b"'
    assert format_challenge(Challenge("Negotiate", "abc=")) == "Negotiate abc="
    assert format_challenge(Challenge("Bearer")) == "Bearer"


@pytest.mark.parametrize(
    "challenge",
    [
        Challenge(""),
        Challenge("two words"),
        Challenge("Bearer", None, (("na me", "x"),)),
        Challenge("Bearer", None, (("realm", "a\nb"),)),
        Challenge("Bearer", None, (("realm", "ü"),)),
        Challenge("Negotiate", "abc=", (("realm", "x"),)),
        Challenge("Negotiate", "a b"),
    ],
)
def test_challenge_that_the_grammar_cannot_carry_is_not_written(challenge: Challenge) -> None:
    with pytest.raises(ValueError, match=r"token|quoted string|either"):
        format_challenge(challenge)
