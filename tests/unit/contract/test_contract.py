"""What is wrong with a contract is told in one line for each problem: file, key, what is wrong, repair."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_auth_contract.contract import (
    control_operation,
    environment_secrets,
    implying,
    load_contract,
    operations,
    principal_for,
    read_contract,
    resolve,
    satisfies,
)
from mcp_auth_contract.errors import ContractError

SOURCE = Path("c.toml")
BASE = """[target]
url = "http://127.0.0.1:8000/mcp"
[principals.alice]
subject = "alice"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
"""
VALUES = {"target.port": "8000", "target.url": "http://127.0.0.1:8000/mcp", "issuer.url": "http://127.0.0.1:9"}

PROBLEMS = [
    ("url =", "urll =", 'c.toml: target.urll: unknown key; did you mean "url"?'),
    (
        "http://127.0.0.1:8000/mcp",
        "127.0.0.1/mcp",
        'c.toml: target.url: not an absolute http or https URL ("127.0.0.1/mcp"); write it like "http://127.0.0.1:8000/mcp"',
    ),
    (
        "http://127.0.0.1:8000/mcp",
        "https://mcp.example.com/mcp",
        'c.toml: target.url: the host is not this machine and authorized is not set ("https://mcp.example.com/mcp"); add authorized = true if you may test this server',
    ),
    ("[principals", "[isuer]\nport = 1\n[principals", 'c.toml: isuer: unknown key; did you mean "issuer"?'),
    (
        "[principals",
        '[issuer]\nport = "a"\n[principals',
        'c.toml: issuer.port: not a whole number ("a"); write digits without quotes',
    ),
    (
        "[principals",
        '[issuer]\nalgorithms = ["RS257"]\n[principals',
        'c.toml: issuer.algorithms[1]: unknown word ("RS257"); did you mean "RS256"?',
    ),
    (
        "[principals",
        '[policy]\nchallenge = "htpt"\n[principals',
        'c.toml: policy.challenge: unknown word ("htpt"); did you mean "http"?',
    ),
    ("[principals", "[policy]\nleeway = -1\n[principals", "c.toml: policy.leeway: too small (-1); write 0 or more"),
    (
        "[principals",
        '[policy]\npublic = ["tool/list"]\n[principals',
        'c.toml: policy.public[1]: unknown word ("tool/list"); did you mean "tools/list"?',
    ),
    (
        'scopes = ["invoices:read"]\n[[tools]]',
        'scopes = "invoices:read"\n[[tools]]',
        'c.toml: principals.alice.scopes: not a list ("invoices:read"); write ["invoices:read"]',
    ),
    (
        'scopes = ["invoices:read"]\n[[tools]]',
        'scopes = ["a b"]\n[[tools]]',
        'c.toml: principals.alice.scopes[1]: not a scope token (RFC 6749 section 3.3) ("a b"); write one scope per entry, without spaces and quotes',
    ),
    (
        "[[tools]]",
        '[[tools]]\neffect = "wirte"',
        'c.toml: tools[get_invoice].effect: unknown word ("wirte"); did you mean "write"?',
    ),
    ("[[tools]]", "[[tool]]", 'c.toml: tool: unknown key; did you mean "tools"?'),
    ("[[tools]]", "[tools]", "c.toml: tools: not a list; write its header as [[tools]]"),
    (
        '8000/mcp"',
        '8000/mcp"\nenv = { A = "${isuer.url}" }',
        'c.toml: target.env.A: unknown variable "${isuer.url}"; did you mean "${issuer.url}"?',
    ),
    (
        '8000/mcp"',
        '8000/mcp"\nenv = { A = "${env:NOPE}" }',
        "c.toml: target.env.A: the environment variable NOPE is not set; set NOPE",
    ),
    (
        '8000/mcp"',
        '8000/mcp"\napp = "a:b"\npath = "/mcp"',
        'c.toml: target.path: url has a path already ("/mcp"); put the path into url',
    ),
    (
        '8000/mcp"',
        '8000/mcp"\napp = "a:b"\nready = "http://127.0.0.1:8000/healthz"',
        'c.toml: target.ready: app runs in process, so there is nothing to wait for ("http://127.0.0.1:8000/healthz"); remove ready',
    ),
    (
        '8000/mcp"',
        '0/mcp"\napp = "a:b"',
        'c.toml: target.url: app runs in process and picks no port ("http://127.0.0.1:0/mcp"); write the port',
    ),
    (
        'url = "http://127.0.0.1:8000/mcp"',
        "",
        'c.toml: target: needs url or app; write url = "http://127.0.0.1:8000/mcp"',
    ),
    (
        "8000/mcp",
        "0/mcp",
        'c.toml: target.url: picks a free port, but no start command listens there ("http://127.0.0.1:0/mcp"); add start or write the port',
    ),
    (
        "[[tools]]",
        '[[records]]\nname = "r"\nowner = "alic"\ncanary = "canary-0001"\nreads = [{ tool = "get_invoice" }]\n[[tools]]',
        'c.toml: records[r].owner: no such principal ("alic"); did you mean "alice"?',
    ),
    (
        "[[tools]]",
        '[[records]]\nname = "r"\nowner = "alice"\ncanary = "canary-0001"\nreads = [{ tool = "get_invoic" }]\n[[tools]]',
        'c.toml: records[r].reads[1].tool: no such tool ("get_invoic"); did you mean "get_invoice"?',
    ),
    (
        "[[tools]]",
        '[[cursors]]\ntool = "lst"\nargument = "c"\nresult = "/x"\n[[tools]]',
        'c.toml: cursors[1].tool: no such tool ("lst"); declare it under [[tools]]',
    ),
    (
        "[target]",
        "[target",
        "c.toml: line 1, column 8: not TOML: Expected ']' at the end of a table declaration; correct it (https://toml.io)",
    ),
    (
        'name = "get_invoice"',
        'name = "get_invoice"\ncontrol = "yes"',
        'c.toml: tools[get_invoice].control: neither true nor false ("yes"); write true or false without quotes',
    ),
    (
        "[principals",
        '[claims]\nrequired = ["tenant_id"]\n[principals',
        "c.toml: claims.required: the tokens of alice do not carry tenant_id; give principals.alice the claim, or add it to claims.extra",
    ),
    (
        '[principals.alice]\nsubject = "alice"\n',
        "[principals.alice]\n",
        'c.toml: principals.alice.subject: missing; write subject = "alice"',
    ),
    (
        "[principals",
        '[provider]\nissuer = "https://as.example.com"\nclient_id = "x"\nclient_secret = "plain"\n[principals',
        'c.toml: provider.client_secret: written in the file; take it from the environment: "${env:CLIENT_SECRET}"',
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), PROBLEMS)
def test_a_problem_is_told_in_one_line_with_its_repair(old: str, new: str, said: str) -> None:
    assert old in BASE
    with pytest.raises(ContractError) as refused:
        resolve(read_contract(BASE.replace(old, new, 1), SOURCE), VALUES, {})
    assert str(refused.value) == said


def test_all_problems_are_told_at_once() -> None:
    text = BASE.replace("url =", "urll =").replace("subject =", "subjct =")
    with pytest.raises(ContractError) as refused:
        read_contract(text, SOURCE)
    assert len(str(refused.value).splitlines()) == 3


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no such file"):
        load_contract(tmp_path / "none.toml")


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ContractError, match="not UTF-8"):
        load_contract(tmp_path / "c.toml")


DESIGN = """
[target]
url = "http://127.0.0.1:8000/mcp"
resource = "https://mcp.example.com/mcp"
revisions = ["2025-11-25", "2026-07-28"]
start = ["python", "server.py"]
env = { ISSUER = "${issuer.url}", JWKS_URI = "${issuer.jwks_uri}", RESOURCE = "${target.resource}" }
ready = "http://127.0.0.1:8000/healthz"
logs = ["server.log"]
authorized = true
headers = { X-Gateway = "x" }
ca_file = "ca.pem"
max_rate = 60
[issuer]
port = 0
algorithms = ["RS256"]
tokens = "jwt"
keys = "fresh"
tls = false
bind = "127.0.0.1"
public_url = "http://127.0.0.1:9000"
[claims]
subject = "sub"
tenant = "tenant_id"
scope = "scope"
scope_format = "string"
client = "client_id"
typ = "at+jwt"
required = ["sub", "tenant_id"]
extra = { ver = "1" }
[policy]
leeway = 60
challenge = "http"
public = ["initialize", "tools/list"]
implies = { "invoices:write" = ["invoices:read"] }
jwks_refresh = 30
jwks_cache = 300
revocation = "none"
writes = false
[principals.alice]
subject = "alice"
tenant = "t1"
scopes = ["invoices:read", "invoices:write"]
claims = { roles = ["user"] }
[principals.admin]
subject = "admin"
tenant = "t1"
scopes = ["invoices:read"]
[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
effect = "read"
control = true
[[tools]]
name = "list_invoices"
scopes = ["invoices:read"]
upstream = true
[[tools]]
name = "update_invoice"
scopes = ["invoices:write"]
arguments = { invoice_id = "INV-1", amount = 1 }
effect = "write"
idempotency = "idempotency_key"
[[tools]]
name = "version"
scopes = []
[[resources]]
uri = "invoice://INV-1"
scopes = ["invoices:read"]
[[resources]]
uri = "invoice://{id}/lines"
scopes = ["invoices:read"]
arguments = { id = "INV-2" }
[[prompts]]
name = "summarise_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
[[records]]
name = "INV-1 of alice"
owner = "alice"
readers = ["alice", "admin"]
canary = "alice-t1-INV-1-7f3a"
reads = [ { tool = "get_invoice", arguments = { invoice_id = "INV-1" } }, { resource = "invoice://INV-1" } ]
lists = [ { tool = "list_invoices" } ]
writes = [ { tool = "update_invoice", arguments = { invoice_id = "INV-1", amount = 1 } } ]
[[cursors]]
tool = "list_invoices"
argument = "cursor"
result = "/structuredContent/nextCursor"
[audit]
file = "audit.jsonl"
[provider]
issuer = "https://dev-tenant.example.com"
client_id = "${env:CLIENT_ID}"
client_secret = "${env:CLIENT_SECRET}"
"""


def test_every_table_and_key_is_read() -> None:
    contract = read_contract(DESIGN, SOURCE)
    resolved = resolve(contract, {**VALUES, "issuer.jwks_uri": "j", "target.resource": "r"}, {})
    assert resolved.target.env["ISSUER"] == "http://127.0.0.1:9"
    assert resolved.provider is not None  # and its secrets were not asked for
    names = [operation.name for operation in operations(contract)]
    assert names == [
        "get_invoice",
        "list_invoices",
        "update_invoice",
        "version",
        "invoice://INV-1",
        "invoice://INV-2/lines",
        "summarise_invoice",
    ]
    assert [operation.name for operation in operations(contract) if operation.public] == ["version"]
    assert control_operation(contract).name == "get_invoice"


def test_a_scope_is_satisfied_by_what_implies_it_over_several_steps() -> None:
    text = BASE.replace(
        "[principals", '[policy]\nimplies = { admin = ["write"], write = ["invoices:read"] }\n[principals', 1
    )
    contract = read_contract(text, SOURCE)
    assert implying(contract, "invoices:read") == {"invoices:read", "write", "admin"}
    assert satisfies(contract, frozenset({"admin"}), ("invoices:read",))
    assert not satisfies(contract, frozenset({"read"}), ("invoices:read",))


def test_an_operation_is_called_by_the_owner_of_what_it_reads() -> None:
    text = BASE.replace(
        "[[tools]]",
        '[principals.bob]\nsubject = "bob"\nscopes = ["invoices:read"]\n'
        '[[records]]\nname = "r"\nowner = "bob"\ncanary = "canary-0001"\nreads = [{ tool = "get_invoice" }]\n[[tools]]',
        1,
    )
    contract = read_contract(text, SOURCE)
    assert principal_for(contract, control_operation(contract)) == "bob"
    assert principal_for(read_contract(BASE, SOURCE), control_operation(contract)) == "alice"


def test_a_value_from_the_environment_is_a_secret_and_never_shown() -> None:
    text = BASE.replace('8000/mcp"', '8000/mcp"\nready = "${env:READY}"', 1)
    contract = read_contract(text, SOURCE)
    environ = {"READY": "no-url-but-a-secret"}
    assert environment_secrets(contract, environ) == {"no-url-but-a-secret"}
    with pytest.raises(ContractError) as refused:
        resolve(contract, VALUES, environ)
    assert "secret" not in str(refused.value)
    assert "target.ready" in str(refused.value)


def test_two_dollars_stand_for_the_characters_themselves() -> None:
    text = BASE.replace('8000/mcp"', '8000/mcp"\nenv = { A = "$${issuer.url}" }', 1)
    assert resolve(read_contract(text, SOURCE), VALUES, {}).target.env["A"] == "${issuer.url}"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40))
def test_a_text_without_variables_is_kept_as_it_is(text: str) -> None:
    if "${" in text or "\x7f" in text:
        return
    written = BASE.replace('8000/mcp"', f'8000/mcp"\nenv = {{ A = {json.dumps(text, ensure_ascii=False)} }}', 1)
    assert resolve(read_contract(written, SOURCE), VALUES, {}).target.env["A"] == text


def test_every_value_of_the_example_is_kept_as_it_is_written() -> None:
    assert read_contract(DESIGN, SOURCE).model_dump(mode="json", exclude_unset=True) == tomllib.loads(DESIGN)


@pytest.mark.parametrize("line", [line for line in dict.fromkeys(DESIGN.splitlines()) if re.match("[a-z_]+ = ", line)])
def test_each_key_of_the_example_is_missed_when_misspelt(line: str) -> None:
    key = line.partition(" = ")[0]
    with pytest.raises(ContractError) as refused:
        read_contract(DESIGN.replace(f"\n{line}\n", f"\n{key}x{line.removeprefix(key)}\n", 1), SOURCE)
    assert f'{key}x: unknown key; did you mean "{key}"?' in str(refused.value)
