"""What holds for all challenges, and for all text that claims to be one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.challenges import format_challenge
from tests.work import growth

from mcp_auth_contract.oauth.challenge import Challenge, parse_challenges
from mcp_auth_contract.oauth.challenge_syntax import FaultKind

patiently = settings(deadline=None)  # a busy machine is no failure

TCHAR = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
tokens = st.text(TCHAR, min_size=1, max_size=12)
names = tokens.map(str.lower)
values = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.just("\t"), max_size=30)
token68s = st.from_regex(r"[A-Za-z0-9\-._~+/]{1,20}={0,2}", fullmatch=True)
parameters = st.lists(st.tuples(names, values), max_size=5, unique_by=lambda one: one[0]).map(tuple)
not_bearer = tokens.filter(lambda scheme: scheme.lower() != "bearer")
challenges = st.builds(Challenge, tokens, st.none(), parameters) | st.builds(Challenge, not_bearer, token68s)
VALUE_KINDS = {FaultKind.CHARACTERS, FaultKind.EMPTY_SCOPE, FaultKind.SCOPE_FORM}

hostile = st.text(st.sampled_from("abB =,;\"'\\\t\r\n\x00\x7fü[]{}:/-éBearer") | st.characters(), max_size=80)


@patiently
@given(st.lists(challenges, max_size=5))
def test_written_challenges_are_read_back_without_a_syntax_fault(written: list[Challenge]) -> None:
    read = parse_challenges([format_challenge(one) for one in written])
    assert read.challenges == tuple(written)
    assert {fault.kind for fault in read.faults} <= VALUE_KINDS


@patiently
@given(st.lists(challenges, min_size=1, max_size=5), st.data())
def test_lines_and_one_joined_line_are_the_same(written: list[Challenge], data: st.DataObject) -> None:
    texts = [format_challenge(one) for one in written]
    cuts = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    lines: list[str] = []
    for text, starts_line in zip(texts, cuts, strict=True):
        if lines and not starts_line:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    apart, joined = parse_challenges(lines), parse_challenges([", ".join(texts)])
    assert apart.challenges == joined.challenges
    assert apart.faults == joined.faults


@patiently
@given(st.lists(st.lists(st.sampled_from(["Bearer", 'a="1"', "b=c", "Negotiate x=", "Basic", 'd="e, f"']))))
def test_cutting_between_any_two_list_elements_changes_nothing(lines: list[list[str]]) -> None:
    apart = [", ".join(line) for line in lines if line]
    assert parse_challenges(apart).challenges == parse_challenges([", ".join(apart)]).challenges


@st.composite
def spelled(draw: st.DrawFn, challenge: Challenge) -> str:
    """One of the spellings that RFC 9110 allows: token or quoted string, escapes, white space, case."""
    if challenge.token68 is not None:
        return f"{challenge.scheme} {challenge.token68}"
    blanks = st.sampled_from(["", " ", "\t", " \t "])
    parts = []
    for name, value in challenge.params:
        name = draw(st.sampled_from([name, name.upper()]))
        bare = value and all(char in TCHAR for char in value) and not value.startswith("'") and name.lower() != "realm"
        if bare and draw(st.booleans()):
            spelling = value
        else:
            escape = draw(st.booleans())
            spelling = '"' + "".join(f"\\{c}" if escape or c in '"\\' else c for c in value) + '"'
        parts.append(f"{name}{draw(blanks)}={draw(blanks)}{spelling}")
    commas = draw(st.sampled_from([",", ", ", " ,", "\t,\t", ", ,"]))
    return f"{challenge.scheme}{draw(st.sampled_from([' ', '   ']))}{commas.join(parts)}"


@patiently
@given(st.lists(challenges, max_size=4), st.data())
def test_every_legal_spelling_reads_the_same(written: list[Challenge], data: st.DataObject) -> None:
    texts = [data.draw(spelled(one)) for one in written]
    read = parse_challenges([", ".join(texts)] if texts else [])
    assert read.challenges == tuple(written)
    assert {fault.kind for fault in read.faults} <= VALUE_KINDS


@patiently
@given(st.lists(hostile | st.text(), max_size=4))
def test_no_text_raises_and_each_reading_is_sane(lines: list[str]) -> None:
    read = parse_challenges(lines)
    assert read.lines == tuple(lines)
    for challenge in read.challenges:
        assert all(name == name.lower() for name, _ in challenge.params)
    for fault in read.faults:
        assert fault.detail.isascii()


@patiently
@given(hostile)
def test_text_without_a_fault_means_the_same_when_written_again(line: str) -> None:
    read = parse_challenges([line])
    if not read.faults:
        assert parse_challenges([format_challenge(one) for one in read.challenges]).challenges == read.challenges


UNITS = [
    "a",
    "a ",
    "a=",
    "a=b,",
    "a=b ",
    "a b,",
    '"',
    'a="',
    '\\"',
    "a='",
    "='b ",
    "a=[",
    "a=[b] ",
    ",",
    ", ;",
    " ",
    "=",
    "==, ",
    "a =  ",
    'Bearer scope="a,b", ',
    "Bearer scope=a,",
    "Bearer ",
    "/",
    "\n",
    "é",
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("prefix", ["", "Bearer ", 'Bearer a="', "Bearer scope=", "Bearer a='", "Bearer a=["])
def test_work_grows_linearly(prefix: str, unit: str) -> None:
    # Ten times the characters are a hundred times the work where the reading is quadratic.
    assert growth(lambda size: parse_challenges([prefix + unit * (size // len(unit))]), 4_000) < 40
