"""The metadata that the lab publishes."""

import pytest

PRM = "/.well-known/oauth-protected-resource/mcp"


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/event-stream", None])
def test_the_resource_metadata_is_open_to_everybody(lab, accept):
    answer = lab.send("GET", PRM, {} if accept is None else {"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json() == {
        "resource": "https://mcp.test/mcp",
        "authorization_servers": ["https://issuer.test"],
        "scopes_supported": ["invoices:read", "invoices:write", "invoices:export"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Invoices of the lab",
    }


def test_a_foreign_origin_may_read_the_metadata(lab):
    assert lab.send("GET", PRM, {"origin": "https://client.test"}).status_code == 200
    assert lab.send("OPTIONS", PRM, {"origin": "https://client.test"}).status_code == 204


@pytest.mark.parametrize("path", ["/.well-known/oauth-protected-resource", PRM + "/", PRM + "x",
                                  "/mcp/.well-known/oauth-protected-resource",
                                  "/.well-known/oauth-authorization-server"])  # fmt: skip
def test_no_metadata_lies_elsewhere(lab, path):
    assert lab.send("GET", path).status_code == 404


def test_a_resource_without_a_path_is_described_at_the_root(make_lab):
    lab = make_lab(resource="https://mcp.test")
    assert lab.send("GET", "/.well-known/oauth-protected-resource").status_code == 200


def test_the_pointer_does_not_follow_forwarded_headers(lab):
    answer = lab.post({}, headers={"x-forwarded-host": "evil.test", "host": "evil.test"})
    assert "evil" not in answer.headers["www-authenticate"]


def test_the_own_authorization_server_says_the_same_everywhere(lab):
    paths = (
        "/.well-known/oauth-authorization-server/as",
        "/.well-known/openid-configuration/as",
        "/as/.well-known/openid-configuration",
    )
    documents = [lab.send("GET", path, {"mcp-protocol-version": "2025-11-25"}).json() for path in paths]
    assert documents[0] == documents[1] == documents[2]
    metadata = documents[0]
    assert metadata["issuer"] == "http://lab.test/as"
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["protected_resources"] == ["https://mcp.test/mcp"]
    assert "none" in metadata["token_endpoint_auth_methods_supported"]
    assert all(value not in ([], None, "") for value in metadata.values())


def test_the_own_key_set_is_stable_and_public(lab):
    first = lab.send("GET", "/as/jwks").json()
    assert first == lab.send("GET", "/as/jwks").json()
    assert set(first["keys"][0]) == {"kty", "n", "e", "kid", "use", "alg"}


def test_the_own_authorization_server_refuses_strangers_with_oauth_errors(lab):
    authorize = lab.send("GET", "/as/authorize?client_id=x&redirect_uri=https://probe.test/cb&response_type=code")
    assert (authorize.status_code, "location" in authorize.headers) == (400, False)
    for path, status, error in (
        ("/as/token", 401, "invalid_client"),
        ("/as/register", 400, "invalid_client_metadata"),
    ):
        answer = lab.send("POST", path, {"content-type": "application/json"}, b"{}")
        assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert answer.headers["cache-control"] == "no-store"
    assert lab.send("GET", "/as/token").status_code == 405
    assert lab.send("GET", "/as/other").status_code == 404
