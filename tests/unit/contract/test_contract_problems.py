"""The exact words of problems: what is written, and the one line that its author reads."""

import os
from pathlib import Path

import pytest
from tests.unit.contract.texts import MINIMAL, RECORD, SOURCE, read, resolved, with_more, with_table, with_target

from mcp_auth_contract.contract import load_contract
from mcp_auth_contract.errors import ContractError

RESOURCE = '[[resources]]\nuri = "{uri}"\n{more}\n'

TARGET = [
    (
        'ready = "http://127.0.0.1:0/h"',
        'target.ready: nothing can be reached at port 0 ("http://127.0.0.1:0/h"); write ${target.port} in its place',
    ),
    (
        'ready = "https://mcp.example.com/h"',
        'target.ready: the host is not this machine and authorized is not set ("https://mcp.example.com/h"); add authorized = true if you may test this server',
    ),
    (
        'resource = "mcp.example.com"',
        'target.resource: not an absolute URI ("mcp.example.com"); write it with its scheme, like "https://mcp.example.com/mcp"',
    ),
    (
        'resource = "https://x.example/y#z"',
        'target.resource: a URI with a fragment ("https://x.example/y#z"); remove the part from "#" on (RFC 8707 section 2)',
    ),
    ('revisions = ["2025-11-24"]', 'target.revisions[1]: unknown word ("2025-11-24"); did you mean "2025-11-25"?'),
    ("revisions = []", 'target.revisions: empty; write revisions = ["2025-11-25"]'),
    ('revisions = ["2025-11-25", "2025-11-25"]', "target.revisions: names an entry twice; keep one of them"),
    ("start = []", 'target.start: empty; write start = ["python", "server.py"]'),
    ('start = "python server.py"', "target.start: not a list; write it in [ ]"),
    ("env = { PORT = 1 }", "target.env.PORT: not text; write it in quotes"),
    ('env = { "A-B" = "x" }', "target.env: holds a name that no environment has; use letters, digits and _"),
    ('path = "/mcp"', 'target.path: belongs to app ("/mcp"); put the path into url'),
    ("logs = [1]", "target.logs[1]: not text (1); write it in quotes"),
    ('authorized = "yes"', 'target.authorized: neither true nor false ("yes"); write true or false without quotes'),
    (
        'headers = { Authorization = "Bearer x" }',
        "target.headers: sets Authorization, which the kit sets itself; remove it",
    ),
    (
        'headers = { "a b" = "x" }',
        "target.headers: holds a name that is no header (RFC 9110 section 5.1); use letters, digits and -",
    ),
    ("max_rate = 0", "target.max_rate: too small (0); write a number above 0"),
    ("max_rate = inf", "target.max_rate: not a number (Infinity); write digits without quotes"),
    ('redy = "x"', 'target.redy: unknown key; did you mean "ready"?'),
    (
        'zzz = "x"',
        "target.zzz: unknown key; the keys here are app, authorized, ca_file, env, headers, logs, max_rate, path, ready, resource, revisions, start, url",
    ),
]

TABLES = [
    (
        '[provider]\nissuer = "https://as.example.com"\nclient_id = "x"\nclient_secret = "hunter2"',
        'provider.client_secret: written in the file; take it from the environment: "${env:CLIENT_SECRET}"',
    ),
    ("[issuer]\nport = 65536", "issuer.port: too large (65536); write 65535 or less"),
    ("[issuer]\nport = 1.5", "issuer.port: not a whole number (1.5); write digits without quotes"),
    ("[issuer]\nport = true", "issuer.port: not a whole number (true); write digits without quotes"),
    ("[issuer]\nalgorithms = []", 'issuer.algorithms: empty; write algorithms = ["RS256"]'),
    ('[issuer]\nalgorithms = "RS256"', 'issuer.algorithms: not a list ("RS256"); write ["RS256"]'),
    ('[issuer]\ntokens = "jwe"', 'issuer.tokens: unknown word ("jwe"); did you mean "jwt"?'),
    ('[issuer]\nkeys = ""', 'issuer.keys: not a file name (""); write a path, relative to the contract'),
    ("[issuer]\ntls = 1", "issuer.tls: neither true nor false (1); write true or false without quotes"),
    (
        '[issuer]\nbind = "host"',
        'issuer.bind: not an IP address ("host"); write "127.0.0.1", or "0.0.0.0" with public_url',
    ),
    (
        '[issuer]\nbind = "0.0.0.0"',
        'issuer.bind: listening on every address does not say which one the server is to use ("0.0.0.0"); add public_url, the URL by which the server reaches the issuer',
    ),
    (
        '[issuer]\npublic_url = "https://127.0.0.1:9"',
        'issuer.public_url: the scheme contradicts tls ("https://127.0.0.1:9"); change one of them',
    ),
    (
        '[issuer]\npublic_url = "http://127.0.0.1:0"',
        'issuer.public_url: nothing can be reached at port 0 ("http://127.0.0.1:0"); write the port, and issuer.port too',
    ),
    (
        '[issuer]\npublic_url = "http://127.0.0.1:9?a"',
        'issuer.public_url: has a query (RFC 8414 section 2) ("http://127.0.0.1:9?a"); remove the part from "?" on',
    ),
    ("[[issuer]]\nport = 1", "issuer: not a table; write its header as [issuer]"),
    ('[claims]\nsubject = "a b"', 'claims.subject: not a claim name ("a b"); write a name without spaces'),
    ('[claims]\nscope_format = "text"', 'claims.scope_format: unknown word ("text"); write one of "string", "list"'),
    ('[claims]\ntenant = "sub"', "claims.tenant: the claim sub is already subject; name another claim"),
    ('[claims]\nclient = "iss"', "claims.client: the claim iss has a meaning of its own; name another claim"),
    ("[claims]\nextra = { exp = 1 }", "claims.extra.exp: the kit sets this claim in every token; remove it"),
    (
        '[claims]\nextra = { scope = "x" }',
        "claims.extra.scope: this claim holds the scope; use scopes of the principal",
    ),
    (
        "[claims]\nextra = { d = 2020-01-01 }",
        "claims.extra.d: holds a value that JSON does not have; write dates and times as text in quotes",
    ),
    ('[claims]\ntyp = ""', 'claims.typ: empty (""); write something or remove the key'),
    ("[policy]\nleeway = inf", "policy.leeway: not a number (Infinity); write digits without quotes"),
    ('[policy]\nleeway = "60"', 'policy.leeway: not a number ("60"); write digits without quotes'),
    (
        '[policy]\nrevocation = "never"',
        'policy.revocation: neither "none" nor seconds of 0 or more ("never"); write "none" or a number without quotes',
    ),
    (
        "[policy]\nrevocation = true",
        'policy.revocation: neither "none" nor seconds of 0 or more (true); write "none" or a number without quotes',
    ),
    ('[policy]\npublic = ["tools/call"]', 'policy.public[1]: unknown word ("tools/call"); did you mean "tools/list"?'),
    ('[policy]\nimplies = { a = "b" }', 'policy.implies.a: not a list ("b"); write ["b"]'),
    (
        '[policy]\nimplies = { "a b" = ["c"] }',
        "policy.implies.a b: the name is not a scope token (RFC 6749 section 3.3); write one scope per entry, without spaces and quotes",
    ),
    ("[policy]\njwks_refresh = -1", "policy.jwks_refresh: too small (-1); write 0 or more"),
    ("[policy]\njwks_cache = -0.5", "policy.jwks_cache: too small (-0.5); write 0 or more"),
    ("[policy]\nwrites = 1", "policy.writes: neither true nor false (1); write true or false without quotes"),
    ("[audit]", 'audit.file: missing; write file = "audit.jsonl"'),
    ("[release]", 'release.hosts: missing; write hosts = ["claude-code", "chatgpt"]'),
    ('[audit]\nfiel = "x"\nfile = "y"', 'audit.fiel: unknown key; did you mean "file"?'),
    (
        '[provider]\nissuer = "x"\nclient_id = "y"',
        'provider.issuer: not an absolute http or https URL ("x"); write it like "http://127.0.0.1:8000/mcp"',
    ),
    (
        '[provider]\nissuer = "https://as.example.com"',
        'provider.client_id: missing; write client_id = "${env:CLIENT_ID}"',
    ),
    ("[polcy]\nleeway = 1", 'polcy: unknown key; did you mean "policy"?'),
]

ENTRIES = [
    ('scopes = ["a"]\n', "line 9, column 15: not TOML: Cannot overwrite a value; keep one of them"),
    (
        "arguments = { d = 2020-01-01 }",
        "tools[get_invoice].arguments.d: holds a value that JSON does not have; write dates and times as text in quotes",
    ),
    (
        "arguments = { d = { x = [nan] } }",
        "tools[get_invoice].arguments.d: holds a number that JSON does not have; remove inf and nan",
    ),
    (
        'idempotency = "key"',
        'tools[get_invoice].idempotency: belongs to a tool that writes; write effect = "write" or remove it',
    ),
    ("upstream = 1", "tools[get_invoice].upstream: neither true nor false (1); write true or false without quotes"),
    ('[[tools]]\nname = "get_invoice"', "tools[get_invoice]: declared 2 times; keep one of them"),
    ("[[tools]]\nscopes = []", 'tools[2].name: missing; write name = "get_invoice"'),
    (
        'control = true\n[[tools]]\nname = "b"\ncontrol = true',
        "tools: control = true is set for get_invoice, b; set it for one tool",
    ),
    (
        '[[tools]]\nname = "b"\nscopes = []\ncontrol = true',
        "tools[b].control: this tool is open without a token, so it cannot show whether a token is accepted; move control = true to a tool with scopes",
    ),
    (
        '[[tools]]\nname = "b"\neffect = "write"\ncontrol = true',
        "tools[b]: the control call would write, which policy.writes does not allow; declare a read that needs scopes, or set policy.writes = true",
    ),
    (
        RESOURCE.format(uri="INV-1", more=""),
        'resources[INV-1].uri: not an absolute URI ("INV-1"); write it with its scheme, like "invoice://INV-1"',
    ),
    (
        RESOURCE.format(uri="invoice://{id}", more=""),
        'resources[invoice://{id}].arguments: no value for {id} of the template; write id = "…"',
    ),
    (
        RESOURCE.format(uri="invoice://1", more='arguments = { id = "1" }'),
        "resources[invoice://1].arguments: id is no variable of the URI; remove it or write {id} in uri",
    ),
    (RESOURCE.format(uri="invoice://1", more="") * 2, "resources[invoice://1]: declared 2 times; keep one of them"),
    ('[[prompts]]\nname = "p"\narguments = { a = 1 }', "prompts[p].arguments.a: not text; write it in quotes"),
    ('[[prompts]]\nname = "p"\n[[prompts]]\nname = "p"', "prompts[p]: declared 2 times; keep one of them"),
    (
        RECORD.replace('"r"', '"a:b"'),
        'records[a:b].name: not usable as a name ("a:b"); use no ":", "[", "]" and no outer spaces',
    ),
    (
        RECORD.replace("canary-0001", "short"),
        'records[r].canary: not a usable canary ("short"); use 8 or more letters, digits, spaces and . _ : @ - so that no encoding changes it',
    ),
    (RECORD + 'readers = ["alcie"]', 'records[r].readers: no such principal ("alcie"); did you mean "alice"?'),
    (RECORD + 'readers = "alice"', 'records[r].readers: not a list ("alice"); write ["alice"]'),
    (
        RECORD.replace('{ tool = "get_invoice" }', ""),
        "records[r]: no call reads or lists it; add reads or lists, so that a run can show that its owner receives it",
    ),
    (RECORD.replace("tool =", "tol ="), 'records[r].reads[1].tol: unknown key; did you mean "tool"?'),
    (
        RECORD.replace("{ tool", '{ prompt = "p", tool'),
        "records[r].reads[1]: needs exactly one of tool, resource and prompt; write one entry for each",
    ),
    (
        RECORD.replace('tool = "get_invoice"', 'resource = "a://b", arguments = {}'),
        "records[r].reads[1]: a resource takes no arguments; put them into the URI",
    ),
    (
        RECORD.replace('tool = "get_invoice"', 'resource = "a://b"'),
        'records[r].reads[1].resource: no such resource ("a://b"); declare it under [[resources]]',
    ),
    (
        RECORD.replace('tool = "get_invoice"', 'prompt = "p"'),
        'records[r].reads[1].prompt: no such prompt ("p"); declare it under [[prompts]]',
    ),
    (
        RECORD + 'writes = [{ tool = "get_invoice" }]',
        'records[r].writes[1]: the effect of get_invoice is read; set effect = "write" at tools[get_invoice]',
    ),
    (
        RECORD + 'writes = [{ prompt = "p" }]\n[[prompts]]\nname = "p"',
        "records[r].writes[1]: only a tool can write; name a tool",
    ),
    (
        RECORD + 'lists = [{ tool = "w" }]\n[[tools]]\nname = "w"\neffect = "write"',
        "records[r].lists[1]: the effect of w is write; move it to writes",
    ),
    (
        RECORD + 'lists = [{ tool = "v" }]\n[[tools]]\nname = "v"\nscopes = []',
        "records[r].lists[1]: v is open without a token, so the canary is no secret; remove the path",
    ),
    (
        RECORD + RECORD.replace('"r"', '"s"').replace("0001", "00012"),
        "records[s].canary: cannot be distinguished from the canary of r; let no canary contain another",
    ),
    (
        RECORD.replace("get_invoice", 'get_invoice", arguments = { q = "canary-0001" } }, { tool = "get_invoice'),
        "records[r].reads: sends the canary of r, so an answer that repeats the question looks like a leak; ask for the record by something else",
    ),
    (
        RECORD + '[principals.twin]\nsubject = "alice"',
        'records[r].readers: twin has the same identity as the owner alice but is no reader; add "twin" to readers',
    ),
    (
        '[[cursors]]\ntool = "get_invoic"\nargument = "c"\nresult = "/x"',
        'cursors[1].tool: no such tool ("get_invoic"); did you mean "get_invoice"?',
    ),
    (
        '[[cursors]]\ntool = "get_invoice"\nargument = ""\nresult = "/x"',
        'cursors[1].argument: empty (""); write something or remove the key',
    ),
    (
        '[[cursors]]\ntool = "get_invoice"\nargument = "c"\nresult = "x"',
        'cursors[1].result: not a JSON Pointer (RFC 6901) ("x"); write it like "/structuredContent/nextCursor"',
    ),
    (
        '[[handles]]\ntool = "get_invoic"\nargument = "h"\nresult = "/x"',
        'handles[1].tool: no such tool ("get_invoic"); did you mean "get_invoice"?',
    ),
    (
        '[[handles]]\ntool = "get_invoice"\nused_by = "get_invoic"\nargument = "h"\nresult = "/x"',
        'handles[1].used_by: no such tool ("get_invoic"); did you mean "get_invoice"?',
    ),
    (
        '[[handles]]\ntool = "get_invoice"\nused_by = "get_invoice"\nresult = "/x"',
        "handles[1]: used_by needs the argument that takes the handle; write argument, or remove used_by",
    ),
    (
        2 * '[[handles]]\ntool = "get_invoice"\nargument = "h"\nresult = "/x"\n',
        'handles[2].tool: declared twice ("get_invoice"); keep one of them',
    ),
    (
        '[[inputs]]\ntool = "get_invoic"\nresponses = {}',
        'inputs[1].tool: no such tool ("get_invoic"); did you mean "get_invoice"?',
    ),
    (
        '[[inputs]]\ntool = "get_invoice"\nresponses = { approval = true }',
        'inputs[1].responses.approval: not an object; write it like { action = "accept" }',
    ),
    (
        '[[inputs]]\ntool = "get_invoice"\nresponses = {}\nother = {}',
        "inputs[1].other: repeats the arguments of tools[get_invoice]; name another call, or remove it",
    ),
    ("[principals.bob]\nscopes = []", 'principals.bob.subject: missing; write subject = "alice"'),
    (
        '[principals.claims]\nsubjct = "x"\nsubject = "x"',
        'principals.claims.subjct: unknown key; did you mean "subject"?',
    ),
    (
        "[apps]\npermissions = []",
        'apps: there is no View for it to hold for; add [[views]] with tool = "…", or remove it',
    ),
    (
        '[apps]\npermissions = ["clipboard"]',
        'apps.permissions[1]: unknown word ("clipboard"); did you mean "clipboardWrite"?',
    ),
    (
        '[apps]\nsecrets = ["hunter2hunter2"]',
        'apps.secrets[1]: a secret in the file; take it from the environment, like "${env:UPSTREAM_KEY}"',
    ),
    (
        '[[views]]\ntool = "get_invoic"',
        'views[1].tool: no such tool ("get_invoic"); did you mean "get_invoice"?',
    ),
    (
        2 * '[[views]]\ntool = "get_invoice"\n',
        'views[2].tool: declared twice ("get_invoice"); keep one of them',
    ),
    (
        '[[tools]]\nname = "refresh"\nvisibility = ["app"]\n[[views]]\ntool = "refresh"',
        'views[1].tool: only a View is offered this tool, so that no call of it shows one ("refresh"); name the tool that shows the View',
    ),
    ('visibility = ["user"]', 'tools[get_invoice].visibility[1]: unknown word ("user"); write one of "model", "app"'),
    ("visibility = []", 'tools[get_invoice].visibility: empty; write visibility = ["app"]'),
    (
        '[principals."a:b"]\nsubject = "x"',
        'principals.a:b: the name is not usable as a name; use no ":", "[", "]" and no outer spaces',
    ),
    (
        '[principals.bob]\nsubject = "b"\nclaims = { sub = "c" }',
        "principals.bob.claims.sub: this claim holds the subject; use subject of the principal",
    ),
]

WHOLE = [
    (
        "target = 1",
        'target: not a table (1); write its keys under [target]\nc.toml: principals: missing; add [principals.alice] with subject = "alice"',
    ),
    (
        "",
        'target: missing; add [target] with url = "http://127.0.0.1:8000/mcp"\nc.toml: principals: missing; add [principals.alice] with subject = "alice"',
    ),
    (MINIMAL.replace("[target]", "[[target]]"), "target: not a table; write its header as [target]"),
    (
        MINIMAL.replace("[principals.alice]", "[[principals]]"),
        "principals: not a table; write one header for each, [principals.NAME]",
    ),
    (MINIMAL.replace("[[tools]]", "[tools]"), "tools: not a list; write its header as [[tools]]"),
    (
        MINIMAL.partition("[[tools]]")[0],
        "tools: no tool, resource or prompt is declared; add one, [[tools]] with a name and scopes",
    ),
    (
        MINIMAL.rpartition("scopes")[0] + "scopes = []",
        "tools: everything is open without a token, so no call shows whether a token is accepted; declare one operation with scopes",
    ),
    (
        MINIMAL.replace('"alice"', '"al\nice"'),
        "line 4, column 14: not TOML: Illegal character '\\n'; correct it (https://toml.io)",
    ),
    ("a = " + "9" * 5000, "not TOML: a number with too many digits; write it as text in quotes"),
    ("a = " + "[" * 20_000, "not TOML that can be read: nested too deeply; nest less"),
    (
        MINIMAL.replace('name = "get_invoice"', 'name = "a\\nb\\u001b[31m"\neffect = "x"'),
        'tools[a\\u000ab\\u001b[31m].effect: unknown word ("x"); write one of "read", "write", "export"',
    ),
    (
        MINIMAL.replace(":8000", ":0").replace('/mcp"', '/mcp"\nstart = ["x"]'),
        'target.url: picks a free port, but the server is not told which ("http://127.0.0.1:0/mcp"); pass ${target.port} in start or env',
    ),
    (
        MINIMAL.replace(":8000", ":80000"),
        'target.url: host or port is not valid ("http://127.0.0.1:80000/mcp"); write a port from 0 to 65535, an IPv6 host in brackets',
    ),
    (
        MINIMAL.replace("127.0.0.1", "app.localhost"),
        'target.url: the host is not this machine and authorized is not set ("http://app.localhost:8000/mcp"); add authorized = true if you may test this server',
    ),
    (
        MINIMAL.replace("url =", 'app = "server"\nurl ='),
        'target.app: not a module and a name in it ("server"); write it like "my_server:app"',
    ),
    (
        MINIMAL.replace('url = "http://127.0.0.1:8000/mcp"', 'app = "a:b"\nstart = ["x"]'),
        "target.start: app runs in process, so start has nothing to do; remove app or start",
    ),
    (
        MINIMAL.replace("127.0.0.1:8000", "me:pass/word@127.0.0.1"),
        'target.url: host or port is not valid ("http://…@127.0.0.1/mcp"); write a port from 0 to 65535, an IPv6 host in brackets',
    ),
    (
        MINIMAL.replace("127.0.0.1:8000", "me:pass@127.0.0.1"),
        'target.url: a URL with a user name or password ("http://…@127.0.0.1/mcp"); remove them; credentials do not belong in a URL',
    ),
]

PROBLEMS = [
    *((with_target(lines), said) for lines, said in TARGET),
    *((with_table(text), said) for text, said in TABLES),
    *((with_more(text), said) for text, said in ENTRIES),
    *WHOLE,
]


@pytest.mark.parametrize(("text", "said"), PROBLEMS, ids=[said.partition(";")[0][:90] for _, said in PROBLEMS])
def test_a_problem_is_one_line_of_file_key_value_and_repair(text: str, said: str) -> None:
    with pytest.raises(ContractError) as refused:
        resolved(text)
    assert str(refused.value) == f"c.toml: {said}"


def test_each_problem_is_told_once_and_all_of_them_together() -> None:
    with pytest.raises(ContractError) as refused:
        read(with_table('[issuer]\nport = "a"\ntls = 1\n[polcy]').replace("subject", "subjct"))
    assert [line.split(": ")[1] for line in str(refused.value).splitlines()] == [
        "issuer.port", "issuer.tls", "principals.alice.subject", "principals.alice.subjct", "polcy",
    ]  # fmt: skip


def test_a_secret_in_the_file_is_not_repeated() -> None:
    for lines in ('headers = { X-Key = "hunter2\\u0001" }', 'env = { "A B" = "hunter2" }', 'start = ["hunter2", 1]'):
        with pytest.raises(ContractError) as refused:
            read(with_target(lines))
        assert "hunter2" not in str(refused.value)


def test_a_secret_that_is_too_short_to_be_found_is_told_without_its_value() -> None:
    text = with_more('[[views]]\ntool = "get_invoice"\n[apps]\nsecrets = ["${env:KEY}"]')
    assert resolved(text, {"KEY": "long-enough"}).apps is not None
    with pytest.raises(ContractError, match="too short to be told from other texts") as refused:
        resolved(text, {"KEY": "s3cr3t!"})
    assert "s3cr3t!" not in str(refused.value)


def test_a_contract_and_its_tables_do_not_show_their_values() -> None:
    contract = resolved(with_target('headers = { X-Key = "${env:KEY}" }'), {"KEY": "hunter2"})
    assert contract.target.headers["X-Key"] == "hunter2"
    assert "hunter2" not in repr(contract) + str(contract.target) + f"{contract.target!r}"


def test_a_missing_file_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ContractError) as refused:
        load_contract(tmp_path / "no.toml")
    assert str(refused.value).startswith(f"{tmp_path / 'no.toml'}: no such file; ")


def test_a_folder_is_no_contract(tmp_path: Path) -> None:
    with pytest.raises(ContractError) as refused:
        load_contract(tmp_path)
    assert "cannot be read (" in str(refused.value)


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(MINIMAL, "utf-8-sig")
    assert load_contract(tmp_path / "c.toml").source == tmp_path / "c.toml"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST", "[::1]"])
def test_loopback_hosts_need_no_authorization(host: str) -> None:
    assert read(MINIMAL.replace("127.0.0.1", host)).target.authorized is False


@pytest.mark.parametrize(
    "host", ["mcp.example.com", "10.0.0.1", "[::ffff:127.0.0.1]", "localhost.example.com", "0.0.0.0"]
)
def test_other_hosts_need_it(host: str) -> None:
    text = MINIMAL.replace("127.0.0.1", host)
    with pytest.raises(ContractError, match="authorized"):
        read(text)
    assert read(text.replace("[principals", "authorized = true\n[principals", 1)).target.authorized


def test_a_host_from_the_environment_needs_it_too() -> None:
    text = MINIMAL.replace("127.0.0.1", "${env:HOST}")
    assert resolved(text, {"HOST": "127.0.0.1"}).target.url == "http://127.0.0.1:8000/mcp"
    with pytest.raises(ContractError, match="authorized") as refused:
        resolved(text, {"HOST": "secret.example.com"})
    assert "secret.example.com" not in str(refused.value)


def test_the_name_of_the_file_is_told_as_it_was_given() -> None:
    assert read(MINIMAL).label == os.fspath(SOURCE)
