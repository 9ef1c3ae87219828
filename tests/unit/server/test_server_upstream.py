"""The upstream answers anything, and remembers which tokens reached it, never the tokens."""

import httpx

from mcp_auth_contract.server import Upstream
from mcp_auth_contract.wire import Redactor

TOKEN = "opaque-token-5f0cX2_kq9"


def test_it_remembers_where_a_token_was() -> None:
    redactor = Redactor()
    label = redactor.register(TOKEN, "token-good")
    with Upstream(redactor) as upstream:
        url = upstream.url
        assert httpx.get(f"{url}/a", headers={"Authorization": f"Bearer {TOKEN}"}).json() == {"ok": True}
        httpx.post(f"{url}/b?access_token={TOKEN}", json={"token": TOKEN})
        httpx.get(f"{url}/c", headers={"Authorization": "Bearer its-own-credential"})
        httpx.get(f"{url}/d/{TOKEN}")
    header, everywhere, none, path = upstream.passed
    assert header.request == "GET /a"
    assert header.tokens == (("authorization header", label),)
    assert everywhere.tokens == (("query", label), ("body", label))
    assert none.tokens == ()
    assert path.request == f"GET /d/{label}"
    assert path.tokens == (("path", label),)
    assert TOKEN not in repr(upstream.passed)
