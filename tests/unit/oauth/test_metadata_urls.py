"""Where metadata lives, what identifiers look like, and how two URLs differ."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_auth_contract.oauth.metadata import (
    AuthorizationServerUrls,
    Difference,
    ProtectedResourceUrls,
    authorization_server_urls,
    difference,
    endpoint_faults,
    identifier_faults,
    is_loopback_url,
    issuer_faults,
    protected_resource_urls,
    resource_of_well_known,
)

patiently = settings(deadline=None)  # a busy machine is no failure

PRM = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OIDC = "/.well-known/openid-configuration"

segments = st.text("abcXYZ019-._~%!$&'()*+,;=:@", min_size=1, max_size=6)
paths = st.lists(segments, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts))
hosts = st.sampled_from(["h", "H.example.com", "127.0.0.1:8000", "[::1]:9", "u@h"])
slashes = st.sampled_from(["", "/"])
queries = st.sampled_from(["", "?", "?a=b&c=/d"])
resources = st.builds("https://{}{}{}{}".format, hosts, paths, slashes, queries)
any_text = st.text() | st.text("htps:/?#@[]:.%1aZ \\", max_size=30)


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("https://h", ProtectedResourceUrls(f"https://h{PRM}", f"https://h{PRM}", f"https://h{PRM}")),
        ("https://h/", ProtectedResourceUrls(f"https://h{PRM}", f"https://h{PRM}", f"https://h{PRM}")),
        (
            "https://h/a/mcp",
            ProtectedResourceUrls(f"https://h{PRM}/a/mcp", f"https://h{PRM}", f"https://h/a/mcp{PRM}"),
        ),
        (
            "https://h/mcp/",
            ProtectedResourceUrls(f"https://h{PRM}/mcp/", f"https://h{PRM}", f"https://h/mcp{PRM}"),
        ),
        (
            "https://h:8443/mcp?k=v",
            ProtectedResourceUrls(f"https://h:8443{PRM}/mcp?k=v", f"https://h:8443{PRM}", f"https://h:8443/mcp{PRM}"),
        ),
        (
            "https://h/?k=v",
            ProtectedResourceUrls(f"https://h{PRM}?k=v", f"https://h{PRM}", f"https://h{PRM}"),
        ),
        ("https://h?k=v", ProtectedResourceUrls(f"https://h{PRM}?k=v", f"https://h{PRM}", f"https://h{PRM}")),
        (
            "HTTP://[::1]:80/%7Emcp/../x",
            ProtectedResourceUrls(
                f"HTTP://[::1]:80{PRM}/%7Emcp/../x",
                f"HTTP://[::1]:80{PRM}",
                f"HTTP://[::1]:80/%7Emcp/../x{PRM}",
            ),
        ),
    ],
)
def test_protected_resource_metadata_is_inserted_behind_the_host(
    resource: str, expected: ProtectedResourceUrls
) -> None:
    assert protected_resource_urls(resource) == expected


@pytest.mark.parametrize("issuer", ["https://as.example.com/realms/x", "https://as.example.com/realms/x/"])
def test_terminating_slash_of_an_issuer_is_removed(issuer: str) -> None:
    origin = "https://as.example.com"
    assert authorization_server_urls(issuer) == AuthorizationServerUrls(
        oauth=f"{origin}{OAUTH}/realms/x",
        oidc_inserted=f"{origin}{OIDC}/realms/x",
        oidc_appended=f"{origin}/realms/x{OIDC}",
        oauth_appended=f"{origin}/realms/x{OAUTH}",
        oauth_at_root=f"{origin}{OAUTH}",
        oidc_at_root=f"{origin}{OIDC}",
    )


@pytest.mark.parametrize("issuer", ["https://as.example.com", "https://as.example.com/"])
def test_inserted_and_appended_are_the_same_for_an_issuer_without_path(issuer: str) -> None:
    origin = "https://as.example.com"
    assert authorization_server_urls(issuer) == AuthorizationServerUrls(
        f"{origin}{OAUTH}",
        f"{origin}{OIDC}",
        f"{origin}{OIDC}",
        f"{origin}{OAUTH}",
        f"{origin}{OAUTH}",
        f"{origin}{OIDC}",
    )


@pytest.mark.parametrize(
    ("url", "resource"),
    [
        (f"https://h{PRM}", "https://h"),
        (f"https://h{PRM}/mcp", "https://h/mcp"),
        (f"https://h{PRM}/mcp/", "https://h/mcp/"),
        (f"https://h{PRM}?k=v", "https://h?k=v"),
        (f"https://h{PRM}s/mcp", None),
        (f"https://h/mcp{PRM}", None),
        (f"https://h{OAUTH}/mcp", None),
        ("https://h/mcp", None),
        (PRM, None),
        ("", None),
    ],
)
def test_insertion_is_reversed(url: str, resource: str | None) -> None:
    assert resource_of_well_known(url) == resource


@patiently
@given(resources)
def test_every_resource_comes_back_from_its_metadata_url(resource: str) -> None:
    path, mark, query = resource.partition("?")
    bare = path.removesuffix("/") if path.count("/") == 3 else path
    same = resource if path.rstrip("/").count("/") > 2 else f"{bare}{mark}{query}"
    assert resource_of_well_known(protected_resource_urls(resource).path) == same


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("https://h/mcp", "https://h/mcp", Difference.NONE),
        ("https://h/mcp", "https://h/mcp/", Difference.TRAILING_SLASH),
        ("https://h", "https://h/", Difference.TRAILING_SLASH),
        ("https://h/mcp", "HTTPS://h/mcp", Difference.CASE),
        ("https://h/mcp", "https://H/mcp", Difference.CASE),
        ("https://h/mcp", "https://h:443/mcp", Difference.DEFAULT_PORT),
        ("http://h:80/mcp", "http://h/mcp", Difference.DEFAULT_PORT),
        ("https://h/mcp", "https://H:443/mcp/", Difference.TRAILING_SLASH),
        ("https://h/mcp", "https://H:443/mcp", Difference.DEFAULT_PORT),
        ("https://h/mcp", "https://h/mcp?x=1", Difference.QUERY),
        ("https://h/mcp", "https://h/mcp?", Difference.QUERY),
        ("https://h/mcp", "https://h/mcp#", Difference.FRAGMENT),
        ("https://h/a/mcp", "https://h/a", Difference.PARENT_PATH),
        ("https://h/a/mcp", "https://h/a/", Difference.PARENT_PATH),
        ("https://h/a/mcp", "https://h", Difference.PARENT_PATH),
        ("https://h/a/mcp", "https://h/", Difference.PARENT_PATH),
        ("https://h/a", "https://h/a/mcp", Difference.LONGER_PATH),
        ("https://h", "https://h/mcp", Difference.LONGER_PATH),
        ("https://h/mcp", "https://h/mcpx", Difference.PATH),
        ("https://h/mcpx", "https://h/mcp", Difference.PATH),
        ("https://h/mcp", "https://h/MCP", Difference.PATH),
        ("https://h/~m", "https://h/%7Em", Difference.PATH),
        ("https://h/a/mcp", "https://h/b/mcp", Difference.PATH),
        ("https://h/mcp", "http://h/mcp", Difference.SCHEME),
        ("https://h:8443/mcp", "http://h:8443/mcp", Difference.SCHEME),
        ("https://h/mcp", "http://h:8000/mcp", Difference.ORIGIN),
        ("https://h/mcp", "https://h:8443/mcp", Difference.ORIGIN),
        ("https://h/mcp", "https://other/mcp", Difference.ORIGIN),
        ("https://h/mcp", "https://u@h/mcp", Difference.ORIGIN),
        ("https://h/mcp", "https://h.evil.example/mcp", Difference.ORIGIN),
        ("https://h/mcp", "/mcp", Difference.ORIGIN),
        ("https://h/mcp", "api://client-id", Difference.ORIGIN),
        ("https://[::1]/mcp", "https://[::1]:443/mcp", Difference.DEFAULT_PORT),
        ("urn:a", "urn:b", Difference.PATH),
        ("urn:a", "URN:a", Difference.CASE),
    ],
)
def test_gravest_difference_is_named(a: str, b: str, expected: Difference) -> None:
    assert difference(a, b) is expected


@patiently
@given(any_text | resources, any_text | resources)
def test_nothing_differs_exactly_when_the_code_points_are_the_same(a: str, b: str) -> None:
    assert (difference(a, b) is Difference.NONE) == (a == b)


@patiently
@given(any_text | resources, any_text | resources)
def test_difference_is_symmetric_but_for_parents(a: str, b: str) -> None:
    mirror = {
        Difference.PARENT_PATH: Difference.LONGER_PATH,
        Difference.LONGER_PATH: Difference.PARENT_PATH,
    }
    there, back = difference(a, b), difference(b, a)
    assert back is mirror.get(there, there)


@patiently
@given(any_text)
def test_no_text_raises(text: str) -> None:
    for url in (text, f"https://{text}", f"http://localhost{text}"):
        protected_resource_urls(url)
        authorization_server_urls(url)
        resource_of_well_known(url)
        is_loopback_url(url)
        for faults in (identifier_faults(url), issuer_faults(url), endpoint_faults(url)):
            assert all(phrase.isascii() and phrase.isprintable() for phrase in faults)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "http://LOCALHOST:8000/mcp",
        "https://127.0.0.1/mcp",
        "http://127.8.9.10:1",
        "http://[::1]:8000/mcp",
        "http://[0:0:0:0:0:0:0:1]/",
    ],
)
def test_loopback_host_is_recognised(url: str) -> None:
    assert is_loopback_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost@example.com",
        "http://example.com/localhost",
        "http://example.com\\@localhost/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::2]/",
        "http://[127.0.0.1]/",
        "http://::1/",
        "http://0.0.0.0/",
        "http://128.0.0.1/",
        "http://2130706433/",
        "http://localhost:999999",
        "localhost:8000",
        "",
    ],
)
def test_other_host_is_not_loopback(url: str) -> None:
    assert not is_loopback_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://mcp.example.com",
        "https://mcp.example.com/",
        "https://MCP.example.com:8443/a/mcp",
        "https://mcp.example.com/mcp?tenant=1",
        "http://127.0.0.1:8000/mcp",
        "http://localhost/mcp",
        "http://[::1]:8000/mcp",
        "https://[2001:db8::1]/mcp",
    ],
)
def test_sound_identifier_has_no_fault(url: str) -> None:
    assert identifier_faults(url) == ()


@pytest.mark.parametrize(
    ("url", "faults"),
    [
        ("mcp.example.com/mcp", ("not an absolute URL",)),
        ("/mcp", ("not an absolute URL",)),
        ("//h/mcp", ("not an absolute URL",)),
        ("", ("not an absolute URL",)),
        ("http://mcp.example.com/mcp", ("http instead of https",)),
        ("api://client-id/x", ("api instead of https",)),
        ("urn:example:mcp", ("no host",)),
        ("https:///mcp", ("no host",)),
        ("https://u:secret@h/mcp", ("user information",)),
        ("https://h/mcp#part", ("a fragment",)),
        ("https://h/mcp#", ("a fragment",)),
        ("https://h/a b", ("a character that no URL has (U+0020)",)),
        ("https://h/ü", ("a character that no URL has (U+00FC)",)),
        ("https://h/mcp\n", ("a character that no URL has (U+000A)",)),
        ("https://h:99999/", ("a malformed host or port",)),
        ("https://h:" + "9" * 10_000, ("a malformed host or port",)),
        ("https://h:port/", ("a malformed host or port",)),
        ("https://[::1/", ("a malformed host or port",)),
        ("https://[1:2]/", ("a malformed host or port",)),
        ("https://:443/", ("a malformed host or port",)),
        ("http://u@h/#x", ("http instead of https", "user information", "a fragment")),
    ],
)
def test_faulty_identifier_says_what_is_wrong(url: str, faults: tuple[str, ...]) -> None:
    assert identifier_faults(url) == faults


@pytest.mark.parametrize(
    "url",
    [
        "https://as.example.com",
        "https://tenant.auth0.example/",
        "https://as/realms/x",
        "http://127.0.0.1:9/a",
    ],
)
def test_sound_issuer_has_no_fault(url: str) -> None:
    assert issuer_faults(url) == ()


@pytest.mark.parametrize(
    ("url", "faults"),
    [
        ("https://as/?a=b", ("a query",)),
        ("https://as/?", ("a query",)),
        ("https://as/#x", ("a fragment",)),
        ("http://as.example.com", ("http instead of https",)),
        (f"https://as{OIDC}", ("a metadata URL instead of an issuer",)),
        (f"https://as{OAUTH}/realms/x", ("a metadata URL instead of an issuer",)),
        ("as.example.com", ("not an absolute URL",)),
    ],
)
def test_faulty_issuer_says_what_is_wrong(url: str, faults: tuple[str, ...]) -> None:
    assert issuer_faults(url) == faults


@pytest.mark.parametrize(
    ("url", "faults"),
    [
        ("https://as/token?tenant=1", ()),
        ("http://localhost:9000/token", ()),
        ("http://as.example.com/token", ("http instead of https",)),
        ("https://as/token#x", ("a fragment",)),
        ("/token", ("not an absolute URL",)),
    ],
)
def test_endpoint_may_have_a_query_and_no_fragment(url: str, faults: tuple[str, ...]) -> None:
    assert endpoint_faults(url) == faults


def test_user_information_is_never_repeated() -> None:
    assert "secret" not in str(identifier_faults("ftp://u:secret@h:x/ #"))
