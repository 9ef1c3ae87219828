"""Variables: where they may stand, what they become, and that their values are kept back."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.contract.texts import MINIMAL, RECORD, VALUES, read, resolved, with_more, with_table, with_target

from mcp_auth_contract.contract import environment_secrets, read_contract, resolve, resolve_issuer, server_secrets
from mcp_auth_contract.contract.load import VARIABLES
from mcp_auth_contract.errors import ContractError


def env(value: str) -> str:
    return with_target(f"env = {{ A = {json.dumps(value, ensure_ascii=False)} }}")


FREE_PORT = MINIMAL.replace(":8000/mcp", ":0/mcp").replace('/mcp"', '/mcp"\nstart = ["x", "${target.port}"]', 1)

PROBLEMS = [
    (env("${isuer.url}"), 'target.env.A: unknown variable "${isuer.url}"; did you mean "${issuer.url}"?'),
    (env("${HOME}"), 'target.env.A: unknown variable "${HOME}"; did you mean "${env:HOME}"?'),
    (env("${}"), f'target.env.A: unknown variable "${{}}"; known are {", ".join(VARIABLES)} and env:NAME'),
    (
        env("${env:A-B}"),
        f'target.env.A: unknown variable "${{env:A-B}}"; known are {", ".join(VARIABLES)} and env:NAME',
    ),
    (
        env("a ${issuer.url"),
        'target.env.A: a "${" without its "}"; close it, or write "$${" for the characters themselves',
    ),
    (env("${env:NOPE}"), "target.env.A: the environment variable NOPE is not set; set NOPE"),
    (
        with_table('[issuer]\npublic_url = "${issuer.url}"'),
        'issuer.public_url: "${issuer.url}" has no value yet here; write it out, or use ${env:NAME}',
    ),
    (
        MINIMAL.replace("http://127.0.0.1:8000/mcp", "${target.url}"),
        'target.url: "${target.url}" has no value yet here; write it out, or use ${env:NAME}',
    ),
    (
        with_target('resource = "${target.resource}"'),
        'target.resource: "${target.resource}" has no value yet here; write it out, or use ${env:NAME}',
    ),
    (
        with_table('[policy]\nimplies = { "${env:S}" = ["invoices:read"] }'),
        "policy.implies.${env:S}: a variable in the name of a key is not replaced; write the name itself",
    ),
    (
        with_table('[issuer]\nport = "${env:PORT}"'),
        'issuer.port: not a whole number ("${env:PORT}"); write digits without quotes',
    ),
]


@pytest.mark.parametrize(("text", "said"), PROBLEMS, ids=[said.partition(";")[0][:90] for _, said in PROBLEMS])
def test_a_wrong_variable_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ContractError) as refused:
        resolved(text)
    assert str(refused.value) == f"c.toml: {said}"


@pytest.mark.parametrize("name", VARIABLES)
def test_each_variable_is_replaced_by_its_value(name: str) -> None:
    assert resolved(env(f"<${{{name}}}>")).target.env["A"] == f"<{VALUES[name]}>"


def test_a_variable_without_a_value_in_this_run_is_told() -> None:
    with pytest.raises(ContractError) as refused:
        resolve(read(env("${upstream.url}")), {}, {})
    assert str(refused.value) == 'c.toml: target.env.A: "${upstream.url}" has no value here; remove it'


def test_the_variable_of_a_provider_is_not_asked_for() -> None:
    text = with_more('[provider]\nissuer = "https://as.example.com"\nclient_id = "x"\nclient_secret = "${env:SECRET}"')
    provider = resolved(text).provider
    assert provider is not None
    assert provider.client_secret == "${env:SECRET}"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("$${", "${"),
        ("$${issuer.url}", "${issuer.url}"),
        ("$$${", "$${"),
        ("$${${python}}", "${/usr/bin/python3}"),
        ("$$${{", "$${{"),
        ("$${env:NOPE}", "${env:NOPE}"),
        ("$5 {x} }{ $", "$5 {x} }{ $"),
    ],
)
def test_two_dollars_and_a_brace_stand_for_one_dollar_and_a_brace(written: str, meant: str) -> None:
    assert resolved(env(written)).target.env["A"] == meant


_PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12).filter(
    lambda text: "$" not in text
)
_PARTS = st.one_of(
    _PLAIN.map(lambda text: (text, text)),
    st.sampled_from([(f"${{{name}}}", value) for name, value in VALUES.items()]),
    st.just(("$${", "${")),
    st.just(("${env:X}", "${issuer.url} $${ ${env:X} \\1")),
)


@given(st.lists(_PARTS, max_size=8))
def test_a_text_becomes_its_parts_and_a_value_is_not_read_again(parts: list[tuple[str, str]]) -> None:
    written, meant = "".join(part for part, _ in parts), "".join(value for _, value in parts)
    assert resolved(env(written), {"X": "${issuer.url} $${ ${env:X} \\1"}).target.env["A"] == meant


@given(st.text(st.sampled_from("${}env:X issuer.url"), max_size=30))
def test_any_text_is_replaced_or_refused_in_one_line(text: str) -> None:
    try:
        value = resolved(env(text), {"X": "x"}).target.env["A"]
    except ContractError as refused:
        assert re.fullmatch(r"(c\.toml: target\.env\.A: [^\n]+\n?)+", str(refused))
    else:
        assert value == re.sub(
            r"\$\$\{|\$\{(.*?)\}",
            lambda found: {None: "${", "env:X": "x"}.get(found[1], VALUES.get(found[1], "")),
            text,
        )


LEAKS = [
    RECORD.replace("get_invoice", "${env:SECRET}"),
    '[[tools]]\nname = "${env:SECRET}"\n[[tools]]\nname = "${env:SECRET}"',
    '[[tools]]\nname = "a ${env:SECRET}"\n[[tools]]\nname = "a ${env:SECRET}"',
    '[[resources]]\nuri = "x://{${env:SECRET}}"',
    '[claims]\nrequired = ["${env:SECRET}"]',
    '[claims]\nclient = "${env:SECRET}"\nsubject = "${env:SECRET}"',
    '[[tools]]\nname = "b"\nscopes = ["${env:SECRET} x"]',
    RECORD.replace('"alice"', '"${env:SECRET}"'),
    '[provider]\nissuer = "x"\nclient_id = "${env:SECRET}"',
]


@pytest.mark.parametrize("more", LEAKS)
@pytest.mark.parametrize("secret", ["hunter2_secret", "hunter2\nsecret", "q7"])
def test_no_problem_shows_a_value_of_the_environment(more: str, secret: str) -> None:
    with pytest.raises(ContractError) as refused:
        resolved(with_more(more), {"SECRET": secret})
    assert secret not in str(refused.value)
    assert all(line.startswith("c.toml: ") for line in str(refused.value).splitlines())


def test_a_value_inside_a_longer_word_is_kept_back_too() -> None:
    with pytest.raises(ContractError) as refused:
        resolved(with_more('[[resources]]\nuri = "x://{a${env:SECRET}b}"'), {"SECRET": "hunter2"})
    assert "no value for {a${env:SECRET}b} of the template" in str(refused.value)


def test_a_short_value_does_not_garble_the_message() -> None:
    with pytest.raises(ContractError) as refused:
        resolved(with_more(RECORD.replace("get_invoice", "${env:TOOL}")), {"TOOL": "o"})
    assert str(refused.value) == (
        'c.toml: records[r].reads[1].tool: no such tool ("${env:TOOL}"); declare it under [[tools]]'
    )


def test_a_name_with_a_variable_is_believed_until_it_has_a_value() -> None:
    text = with_more(
        RECORD.replace("get_invoice", "${env:TOOL}").replace('"alice"', '"${env:OWNER}"')
        + '[[cursors]]\ntool = "${env:TOOL}"\nargument = "c"\nresult = "/x"\n'
        + '[claims]\nrequired = ["${env:CLAIM}"]'
    )
    known = {"TOOL": "get_invoice", "OWNER": "alice", "CLAIM": "sub"}
    assert resolved(text, known).records[0].owner == "alice"
    with pytest.raises(ContractError) as refused:
        resolved(text, {**known, "OWNER": "nobody-known"})
    assert str(refused.value) == (
        'c.toml: records[r].owner: no such principal ("${env:OWNER}"); declare it under [principals.NAME]'
    )


def test_the_secrets_of_a_contract_are_the_values_it_takes_from_the_environment() -> None:
    contract = read(with_target('headers = { X-A = "a ${env:ONE}", X-B = "$${env:TWO}", X-C = "${env:NONE}" }'))
    assert environment_secrets(contract, {"ONE": "1", "TWO": "2", "NONE": "", "THREE": "3"}) == {"1"}


def test_port_0_becomes_the_port_that_was_picked() -> None:
    assert read(FREE_PORT).target.wants_free_port
    target = resolved(FREE_PORT, **{"target.port": "4711"}).target
    assert target.url == "http://127.0.0.1:4711/mcp"
    assert target.start == ("x", "4711")
    assert not target.wants_free_port


def test_the_variable_of_the_port_asks_for_a_free_one_too() -> None:
    text = FREE_PORT.replace(":0/", ":${target.port}/")
    assert read(text).target.wants_free_port
    assert resolved(text, **{"target.port": "4711"}).target.url == "http://127.0.0.1:4711/mcp"


def test_port_0_without_a_port_that_was_picked_is_refused() -> None:
    values = {key: value for key, value in VALUES.items() if key != "target.port"}
    text = FREE_PORT.replace("${target.port}", "${target.url}")
    with pytest.raises(ContractError, match=r"^c\.toml: target\.url: port 0 although no port was picked"):
        resolve(read(text), values, {})


def test_port_80_is_not_port_0() -> None:
    assert not read(MINIMAL.replace(":8000", ":80")).target.wants_free_port


def test_relative_paths_start_at_the_folder_of_the_contract(tmp_path: Path) -> None:
    text = with_target('ca_file = "ca.pem"\nlogs = ["a.log", "/var/b.log"]') + '[audit]\nfile = "audit/x.jsonl"\n'
    text += '[issuer]\nkeys = "../keys"\n'
    contract = resolve(read_contract(text, tmp_path / "c.toml"), VALUES, {})
    assert contract.folder == tmp_path
    assert contract.target.ca_file == str(tmp_path / "ca.pem")
    assert contract.target.logs == (str(tmp_path / "a.log"), "/var/b.log")
    assert contract.issuer.keys == str(tmp_path / "../keys")
    assert contract.audit is not None
    assert contract.audit.file == str(tmp_path / "audit/x.jsonl")


def test_fresh_keys_are_no_path() -> None:
    assert resolved(MINIMAL).issuer.keys == "fresh"


def test_the_issuer_is_resolved_before_there_is_one(tmp_path: Path) -> None:
    text = with_more('[issuer]\nkeys = "${env:KEYS}"\npublic_url = "http://${env:HOST}:9"')
    contract = read_contract(text, tmp_path / "c.toml")
    issuer = resolve_issuer(contract, {}, {"KEYS": "keys", "HOST": "issuer.test"})
    assert (issuer.keys, issuer.public_url) == (str(tmp_path / "keys"), "http://issuer.test:9")
    with pytest.raises(ContractError) as refused:
        resolve_issuer(contract, {}, {"KEYS": "keys", "HOST": "a secret"})
    assert str(refused.value) == (
        f'{tmp_path / "c.toml"}: issuer.public_url: not an absolute http or https URL ("http://${{env:HOST}}:9"); '
        'write it like "http://127.0.0.1:8000/mcp"'
    )


def test_the_secrets_of_the_server_are_told_by_their_names_and_by_where_they_stand() -> None:
    text = with_target(
        'headers = { X-Gateway = "${env:GATE}", X-Tenant = "acme-corp" }\n'
        'env = { DB_PASSWORD = "literal-11", PUBLIC_URL = "${env:URL}", DSN = "pg://u:${env:PG_SECRET}@h", T = "t" }'
    )
    environ = {"GATE": "gate-11", "URL": "https://a.example", "PG_SECRET": "pg-11"}
    assert server_secrets(read(text), environ) == {"gate-11": "GATE", "literal-11": "DB_PASSWORD", "pg-11": "PG_SECRET"}
    assert server_secrets(read(text), {}) == {"literal-11": "DB_PASSWORD"}
