"""Each legal profile differs where it says, and stays sound."""

import pytest

from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.settings import GATEWAY_HEADER, GATEWAY_KEY

POINTER = "http://lab.test/.well-known/oauth-protected-resource"
STATELESS_REVISION = {"mcp-protocol-version": "2025-06-18"}


def rpc(method, params=None):
    message = {"jsonrpc": "2.0", "id": 7, "method": method}
    return message if params is None else {**message, "params": params}


# The opaque one has to ask an issuer: it has a module of its own.
@pytest.mark.parametrize("profile", [profile for profile in Profile if profile is not Profile.OPAQUE])
def test_every_profile_lets_the_good_in_and_keeps_the_others_out(make_lab, keys, profile):
    lab = make_lab(profile)
    named = {"scp": ["invoices:read"], "scope": ...} if profile is Profile.SCP_LIST else {}
    call = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
    send = lab.legacy if profile is Profile.LEGACY_ONLY else lab.modern
    session = {"session": lab.open_session(keys.token(**named))} if send == lab.legacy else {}
    if profile is Profile.MIRRORED_ARGUMENTS:
        assert send("tools/call", call, keys.token()).status_code == 400
        session = {"headers": {"mcp-param-invoice": "INV-1"}}
    if profile is Profile.GATEWAY_KEY:
        assert send("tools/call", call, keys.token()).status_code == 403
        session = {"headers": {GATEWAY_HEADER: GATEWAY_KEY}}
    assert "alice-t1" in send("tools/call", call, keys.token(**named), **session).text
    assert "alice-t1" not in send("tools/call", call, keys.token("bob", **named), **session).text
    for bad in (None, keys.forged(), keys.token(exp=1, **named)):
        answer = send("tools/call", call, bad, **session)
        assert "alice-t1" not in answer.text
        by_status = {Profile.EITHER_CHALLENGE, Profile.INVALID_TOKEN_401}
        in_band = profile is Profile.TOOL_CHALLENGE or (profile in by_status and bad is None)
        assert answer.status_code == (200 if in_band else 401)


@pytest.mark.parametrize(
    ("profile", "path", "pointer"),
    [
        (Profile.ROOT_METADATA, "/.well-known/oauth-protected-resource", POINTER),
        (Profile.HEADER_ONLY_METADATA, "/metadata.json", "http://lab.test/metadata.json"),
        (Profile.ROOT_AND_PATH_METADATA, "/.well-known/oauth-protected-resource", f"{POINTER}/mcp"),
    ],
)
def test_the_metadata_may_lie_elsewhere(make_lab, profile, path, pointer):
    lab = make_lab(profile)
    assert lab.send("GET", path).json()["resource"] == "https://mcp.test/mcp"
    at_path = lab.send("GET", "/.well-known/oauth-protected-resource/mcp").status_code
    assert at_path == (200 if profile is Profile.ROOT_AND_PATH_METADATA else 404)
    assert f'resource_metadata="{pointer}"' in lab.post({}).headers["www-authenticate"]


def test_a_view_is_shown_by_a_tool_and_said_to_be_there(make_lab, keys):
    lab = make_lab(Profile.VIEWS)
    entries = {one["name"]: one for one in lab.modern("tools/list", None, keys.token()).json()["result"]["tools"]}
    uri = entries["show_invoice"]["_meta"]["ui"]["resourceUri"]
    assert entries["refresh_invoice"]["_meta"]["ui"] == {"visibility": ["app"]}
    read = [lab.modern("resources/read", {"uri": uri}, keys.token(who)).json()["result"] for who in ("alice", "bob")]
    assert read[0]["contents"] == read[1]["contents"]
    (item,) = read[0]["contents"]
    assert (item["uri"], item["mimeType"]) == (uri, "text/html;profile=mcp-app")
    assert len(item["text"]) < 3000
    assert "extensions" in lab.modern("server/discover", None, keys.token()).json()["result"]["capabilities"]
    plain = make_lab().modern("tools/list", None, keys.token()).json()["result"]["tools"]
    assert "show_invoice" not in {one["name"] for one in plain}


def test_without_sessions_no_id_is_needed_and_verbs_are_405(make_lab, keys):
    lab = make_lab(Profile.NO_SESSIONS)
    assert "mcp-session-id" not in lab.open_session(keys.token())
    assert lab.post(rpc("tools/list"), keys.token(), STATELESS_REVISION).status_code == 200
    assert lab.post([rpc("ping")], keys.token()).status_code == 200
    assert lab.post([rpc("ping")], keys.token(), STATELESS_REVISION).status_code == 400
    for verb in ("GET", "DELETE"):
        assert lab.send(verb, "/mcp", lab.bearer(keys.token())).status_code == 405


def test_without_a_stream_get_is_405_and_sessions_go_on(make_lab, keys):
    lab = make_lab(Profile.NO_STREAM)
    session = lab.open_session(keys.token())
    answer = lab.send("GET", "/mcp", {**lab.bearer(keys.token()), **session, "accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST, DELETE")


def test_event_streams_carry_a_notification_before_the_result(make_lab, keys):
    lab = make_lab(Profile.SSE)
    token = keys.token()
    answer = lab.post(rpc("tools/list"), token, lab.open_session(token))
    assert answer.headers["content-type"].startswith("text/event-stream")
    first, comment, note, result, _ = answer.text.split("\n\n")
    assert first == "id: 0\ndata:"
    assert comment.startswith(":")
    assert "notifications/message" in note
    assert '"result"' in result


def test_tools_out_of_reach_are_hidden_and_still_403(make_lab, keys):
    lab = make_lab(Profile.HIDDEN_TOOLS)
    token = keys.token(scope="invoices:read")
    listed = lab.modern("tools/list", None, token).json()["result"]["tools"]
    assert {tool["name"] for tool in listed}.isdisjoint({"export_invoices", "update_invoice"})
    assert lab.call("export_invoices", token=token).status_code == 403


def test_pages_of_tools_belong_to_the_caller(make_lab, keys):
    lab = make_lab(Profile.PAGINATED)
    names, cursor = [], None
    while True:
        params = {} if cursor is None else {"cursor": cursor}
        page = lab.modern("tools/list", params, keys.token()).json()["result"]
        names += [tool["name"] for tool in page["tools"]]
        if "nextCursor" not in page:
            break
        cursor = page["nextCursor"]
        assert lab.modern("tools/list", {"cursor": cursor}, keys.token("bob")).status_code == 400
    assert len(names) == len(set(names)) == 8


@pytest.mark.parametrize("profile", [Profile.PUBLIC_DISCOVERY, Profile.TOOL_CHALLENGE, Profile.EITHER_CHALLENGE])
def test_discovery_may_be_open_but_not_to_bad_tokens(make_lab, keys, profile):
    lab = make_lab(profile)
    for method in ("server/discover", "tools/list", "prompts/list", "resources/templates/list"):
        assert lab.modern(method).status_code == 200
        assert lab.modern(method, None, keys.forged()).status_code == 401
    assert lab.modern("resources/read", {"uri": "invoice://INV-1"}).status_code == 401
    assert lab.modern("completion/complete", {}).status_code == 401
    assert lab.send("GET", "/mcp").status_code == 401
    anonymous = lab.modern("resources/list").json()["result"]
    assert anonymous["resources"] == []


def test_a_session_opened_without_a_token_belongs_to_who_uses_it_first(make_lab, keys):
    lab = make_lab(Profile.PUBLIC_DISCOVERY)
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    }
    ident = lab.post(rpc("initialize", params)).headers["mcp-session-id"]
    session = {"mcp-session-id": ident}
    assert lab.post(rpc("tools/list"), None, session).status_code == 200
    assert lab.post(rpc("tools/list"), keys.token(), session).status_code == 200
    assert lab.post(rpc("tools/list"), keys.token("bob"), session).status_code == 404


def test_the_challenge_may_come_in_a_tool_result(make_lab, keys):
    lab = make_lab(Profile.TOOL_CHALLENGE)
    for token, error in ((None, "invalid_token"), (keys.forged(), "invalid_token"),
                         (keys.token(scope=""), "insufficient_scope")):  # fmt: skip
        result = lab.call("get_invoice", {"invoice_id": "INV-1"}, token).json()["result"]
        assert result["isError"] is True
        (challenge,) = result["_meta"]["mcp/www_authenticate"]
        assert challenge.startswith("Bearer ")
        assert f'error="{error}"' in challenge
        assert "error_description=" in challenge
        assert f'resource_metadata="{POINTER}/mcp"' in challenge


def test_other_challenges_may_stand_beside_bearer(make_lab):
    answer = make_lab(Profile.SEVERAL_CHALLENGES).post({})
    lines = answer.headers.get_list("www-authenticate")
    assert lines[0] == 'Basic realm="lab, internal"'
    assert lines[1].startswith("Bearer resource_metadata=")
    assert lines[1].endswith('DPoP algs="ES256"')


def test_challenges_may_be_spelt_in_other_legal_ways(make_lab, keys):
    lower = make_lab(Profile.LOWER_CASE_SCHEME).post({}).headers["www-authenticate"]
    assert lower.startswith("bearer resource_metadata=")
    tokens = make_lab(Profile.TOKEN_PARAMETERS).post({}, keys.forged()).headers["www-authenticate"]
    assert tokens.startswith("Bearer error=invalid_token , error_description=")
    assert make_lab(Profile.EMPTY_REFUSALS).post({}).content == b""
    assert make_lab(Profile.MALFORMED_401).post({}, "a b").status_code == 401
    held = make_lab(Profile.HELD_SCOPES).call("export_invoices", token=keys.token(scope="invoices:read"))
    assert 'scope="invoices:export invoices:read"' in held.headers["www-authenticate"]


def test_a_foreign_session_may_be_403(make_lab, keys):
    lab = make_lab(Profile.FOREIGN_SESSION_403)
    session = lab.open_session(keys.token())
    assert lab.post(rpc("tools/list"), keys.token("bob"), session).status_code == 403


def test_a_server_may_speak_only_the_older_revisions(make_lab, keys):
    lab = make_lab(Profile.LEGACY_ONLY)
    assert lab.modern("server/discover", None, keys.token()).status_code == 400
    session = lab.open_session(keys.token())
    unknown = {**session, "mcp-protocol-version": "2026-07-28"}
    assert lab.post(rpc("tools/list"), keys.token(), unknown).status_code == 400


def test_a_server_may_speak_only_the_newest_revision(make_lab, keys):
    lab = make_lab(Profile.MODERN_ONLY)
    assert lab.modern("server/discover", None, keys.token()).json()["result"]["supportedVersions"] == ["2026-07-28"]
    refused = lab.post(rpc("initialize", {"protocolVersion": "2025-11-25"}), keys.token())
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32022)
    assert lab.post(rpc("tools/list"), keys.token()).json()["error"]["code"] == -32020
    for verb in ("GET", "DELETE"):
        answer = lab.send(verb, "/mcp", lab.bearer(keys.token()))
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_sixty_seconds_of_leeway_may_be_granted(make_lab, keys):
    claims = keys.claims()
    for past, status in ((59, 200), (60, 401)):
        lab = make_lab(Profile.LEEWAY_60, clock=lambda past=past: float(claims["exp"] + past))
        assert lab.call("whoami", token=keys.sign(claims)).status_code == status


def test_the_type_of_a_token_may_go_unchecked_where_nobody_promised_it(make_lab, keys):
    lab = make_lab(Profile.ANY_TYP)
    assert lab.call("whoami", token=keys.token(header={"typ": "JWT"})).status_code == 200
    assert lab.call("whoami", token=keys.token(header={"typ": "logout+jwt"})).status_code == 401


def test_the_own_authorization_server_may_be_named(make_lab):
    metadata = make_lab(Profile.OWN_AS).send("GET", "/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["authorization_servers"] == ["http://lab.test/as"]


def test_a_slash_at_the_end_may_be_redirected(make_lab):
    answer = make_lab(Profile.SLASH_REDIRECT).post({}, path="/mcp/")
    assert (answer.status_code, answer.headers["location"]) == (308, "/mcp")


def test_profiles_combine(make_lab, keys):
    lab = make_lab(Profile.SSE, Profile.NO_SESSIONS, Profile.ROOT_METADATA, Profile.EMPTY_REFUSALS)
    answer = lab.post(rpc("tools/list"), keys.token(), STATELESS_REVISION)
    assert answer.headers["content-type"].startswith("text/event-stream")
    refused = lab.post({})
    assert (refused.content, POINTER + '"' in refused.headers["www-authenticate"]) == (b"", True)


def test_the_audited_profile_writes_nothing_where_it_runs(make_lab, keys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lab = make_lab(Profile.AUDITED)
    assert lab.call("get_invoice", {"invoice_id": "INV-2"}, keys.token("admin")).status_code == 200
    assert list(tmp_path.iterdir()) == []


def test_a_strict_key_serves_one_payload_only(make_lab, keys):
    lab = make_lab(Profile.STRICT_KEYS)

    def write(amount, key):
        call = {
            "name": "update_invoice",
            "arguments": {"invoice_id": "INV-1", "amount": amount, "idempotency_key": key},
        }
        return lab.modern("tools/call", call, keys.token()).json()["result"]

    assert not write(1, "one")["isError"]
    assert not write(1, "one")["isError"]
    assert write(2, "one")["isError"]
    assert not write(2, "two")["isError"]


def test_what_asks_always_needs_a_client_that_answers(make_lab, keys):
    lab = make_lab(Profile.ASKS_ALWAYS)
    call = {"name": "approve_invoice", "arguments": {"invoice_id": "INV-1"}}
    refused = lab.modern("tools/call", call, keys.token())
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == -32021
    assert refused.json()["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}
