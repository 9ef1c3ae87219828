"""What the fixtures and helpers do besides what the examples of docs/pytest.md show."""

import re
from collections.abc import Callable

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.plugin.contracts import PLUGIN, write_server

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.pytest_plugin import assert_accepted, assert_refused, challenge_of, token_cases
from mcp_auth_contract.tokens import Algorithm, TokenProfile
from mcp_auth_contract.tokens.keys import PRIVATE_MEMBERS

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

SCOPE = 'Bearer error="insufficient_scope", scope="read write", resource_metadata="https://mcp.example/m"'
INVALID = 'Bearer error="invalid_token", error_description="expired, or signed by another"'


def refusing(status: int, *lines: str) -> list[object]:
    """The same refusal as an answer of the kit, and as responses of two HTTP clients."""
    headers = [("WWW-Authenticate", line) for line in lines]

    async def endpoint(_: object) -> Response:
        response = JSONResponse({"error": "no"}, status_code=status)
        for name, value in headers:
            response.headers.append(name, value)
        return response

    client = TestClient(Starlette(routes=[Route("/", endpoint)]))
    return [
        Answer("x1", "POST", "/", status=status, headers=tuple((name.lower(), value) for name, value in headers)),
        httpx.Response(status, headers=headers, json={"error": "no"}),
        client.get("/"),
    ]


@pytest.mark.filterwarnings("ignore")  # the test client of newer Starlette versions prefers httpx2
@pytest.mark.parametrize("form", range(3), ids=["answer", "httpx", "starlette"])
def test_challenges_are_read_whatever_the_response_is(form: int) -> None:
    assert assert_refused(refusing(403, SCOPE)[form], "insufficient_scope", scopes=["write"]).is_bearer
    second = refusing(401, 'Negotiate, Basic realm="a, Bearer b"', INVALID)[form]
    assert assert_refused(second, "invalid_token").get("error_description") == "expired, or signed by another"
    together = refusing(401, f"Basic realm=x, {INVALID}")[form]
    assert challenge_of(together).get("error") == "invalid_token"
    assert assert_refused(refusing(401, 'bearer realm="r"')[form]).scheme == "bearer"


@pytest.mark.parametrize(
    ("response", "words", "said"),
    [
        (httpx.Response(401, headers={"WWW-Authenticate": SCOPE}), ["insufficient_scope"], "expected 403"),
        (httpx.Response(403, headers={"WWW-Authenticate": INVALID}), ["insufficient_scope"], "expected 403|error="),
        (httpx.Response(403), ["insufficient_scope"], "expected a Bearer challenge"),
        (httpx.Response(401, headers={"WWW-Authenticate": "Basic realm=x"}), [], "expected a Bearer challenge"),
        (httpx.Response(401, headers={"WWW-Authenticate": INVALID}), [], "without an error code"),
        (
            httpx.Response(401, headers={"WWW-Authenticate": 'Bearer error="invalid_token'}),
            ["invalid_token"],
            "well-formed",
        ),
        (httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": {}}), ["invalid_token"], "it was accepted"),
        (httpx.Response(500), ["invalid_token"], "expected 401"),
    ],
)
def test_what_is_no_refusal_fails(response: httpx.Response, words: list[str], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        assert_refused(response, *words)


def test_scopes_that_the_challenge_does_not_name_fail() -> None:
    with pytest.raises(AssertionError, match="expected the scopes admin in the challenge"):
        assert_refused(httpx.Response(403, headers={"WWW-Authenticate": SCOPE}), "insufficient_scope", scopes=["admin"])


def test_a_challenge_in_a_tool_result_is_a_refusal() -> None:
    result = {"isError": True, "content": [], "_meta": {"mcp/www_authenticate": [SCOPE]}}
    response = httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": result})
    assert assert_refused(response, "insufficient_scope").get("scope") == "read write"
    with pytest.raises(AssertionError, match="expected the request to be accepted"):
        assert_accepted(response)


def test_an_event_stream_is_read() -> None:
    stream = 'event: message\ndata: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}\n\n'
    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, text=stream)
    with pytest.raises(AssertionError, match="accepted"):
        assert_accepted(response)
    with pytest.raises(TypeError, match="no response"):
        assert_accepted({"status": 200})


def test_the_table_of_tokens_is_whole_and_the_same_each_time() -> None:
    cases = token_cases()
    assert [case.id for case in cases] == [case.id for case in token_cases()]
    assert len({case.id for case in cases}) == len(cases) > 300
    assert cases[0].id == "good"
    assert {case.accepted for case in cases} == {True, False}
    undecided = [case for case in token_cases(undecided=True) if case.accepted is None]
    assert undecided
    for key in cases.jwks()["keys"]:
        assert not PRIVATE_MEMBERS & set(key)
    both = TokenProfile(
        issuer="https://a.example", audience="https://b.example", algorithms=frozenset({Algorithm.ES256})
    )
    assert {key["kty"] for key in token_cases(both).jwks()["keys"]} == {"RSA", "EC"}
    with pytest.raises(UsageError, match="opaque"):
        token_cases(TokenProfile(issuer="https://a.example", audience="https://b.example", opaque=True))


def test_a_validator_is_told_what_it_does_wrong() -> None:
    cases = {case.id: case for case in token_cases()}
    with pytest.raises(AssertionError, match="expired: expected refused, observed accepted as 'alice'"):
        cases["expired"].check(lambda _: "alice", ValueError)
    with pytest.raises(AssertionError, match="good: expected accepted, observed refused"):
        cases["good"].check(lambda _: None, ValueError)

    def crashing(_: str) -> str:
        raise KeyError("kid")

    with pytest.raises(KeyError):
        cases["expired"].check(crashing, ValueError)


def passing(run: Run, *words: str) -> None:
    result = run(*words)
    assert set(result.parseoutcomes()) - {"warnings"} == {"passed"}, str(result.stdout)


def test_without_a_contract_an_application_can_be_named(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makeconftest(
        """
        import pytest
        from mcp_auth_contract_lab.app import create_app
        from mcp_auth_contract_lab.settings import LabSettings

        @pytest.fixture(scope="session")
        def mcp_app(mcp_issuer):
            base = "http://127.0.0.1:8000"
            return create_app(LabSettings(
                issuer=mcp_issuer.url, jwks_uri=mcp_issuer.jwks_uri, resource=f"{base}/mcp", base=base))
        """
    )
    pytester.makepyfile(
        test_own="""
        import pytest
        from mcp_auth_contract.errors import UsageError
        from mcp_auth_contract.pytest_plugin import assert_refused

        def test_own(mcp_client):
            zoe = mcp_client({"sub": "alice", "tenant_id": "t1"}, scopes=["invoices:read"])
            assert zoe.request("tools/list").accepted
            assert zoe.fetch("/.well-known/oauth-protected-resource/mcp").status == 200
            assert_refused(mcp_client(token="rubbish").request("tools/list"), "invalid_token")

        def test_names(mcp_mint):
            with pytest.raises(UsageError, match='did you mean "expired"'):
                mcp_mint({"sub": "alice"}, defect="expire")
        """
    )
    passing(run)


def test_prints_of_a_test_stay_its_own_beside_a_server(pytester: pytest.Pytester, run: Run) -> None:
    write_server(pytester)
    pytester.makepyfile(
        test_own="""
        import pytest
        from mcp_auth_contract.errors import UsageError

        def test_own(mcp_client, capsys):
            assert mcp_client("bob").tool("get_invoice", {"invoice_id": "INV-1"}).status == 200
            print("mine")
            assert capsys.readouterr().out == "mine\\n"

        def test_unknown(mcp_mint):
            with pytest.raises(UsageError, match='no principal "bobb"; did you mean "bob"'):
                mcp_mint("bobb")

        def test_loop(mcp_client):
            import asyncio

            async def inside():
                return mcp_client("alice").request("tools/list").status

            assert asyncio.run(inside()) == 200

        @pytest.fixture(scope="session")
        def anyio_backend():
            return "asyncio"

        @pytest.mark.anyio
        async def test_anyio(mcp_client):
            assert mcp_client("alice").request("tools/list").status == 200
        """
    )
    passing(run)


def test_the_clock_moves_issuer_and_mint_and_goes_back(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makepyfile(
        test_own="""
        import time, jwt, httpx

        def test_moved(mcp_clock, mcp_mint, mcp_issuer):
            mcp_clock.move(86400)
            claims = jwt.decode(mcp_mint({}), options={"verify_signature": False})
            assert abs(claims["iat"] - mcp_clock.now) < 10
            httpx.get(mcp_issuer.jwks_uri)
            assert abs(mcp_issuer.memory.requests("/jwks")[-1].at - mcp_clock.now) < 10
            assert abs(time.time() - mcp_clock.now) < 10

        def test_back():
            assert abs(time.time() - time.clock_gettime(time.CLOCK_REALTIME)) < 5
        """
    )
    passing(run)


def test_respx_serves_asynchronous_clients_and_what_the_issuer_is_told(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def mcp_respx_url():
            return "https://login.example/"
        """
    )
    pytester.makepyfile(
        test_own="""
        import asyncio, httpx, jwt, pytest
        from mcp_auth_contract.issuer import BEHAVIOURS, BehaviourName, Behaviour

        async def keys(url):
            async with httpx.AsyncClient() as client:
                return (await client.get(url)).json()

        def test_own(mcp_respx):
            assert mcp_respx.url == "https://login.example"
            published = asyncio.run(keys(mcp_respx.jwks_uri))
            key = jwt.PyJWK(published["keys"][0])
            token = mcp_respx.mint({"sub": "zoe"})
            claims = jwt.decode(token, key, algorithms=["RS256"], audience=mcp_respx.mint.profile.audience)
            assert claims["iss"] == "https://login.example"
            mcp_respx.issuer.control.behave(Behaviour(status=503))
            assert httpx.get(mcp_respx.jwks_uri).status_code == 503
            assert mcp_respx.router.calls.call_count == 2
            with pytest.raises(Exception):
                httpx.get("https://elsewhere.example/")
        """
    )
    passing(run)


def test_opaque_tokens_are_known_to_the_issuer(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makeconftest(
        """
        import pytest
        from mcp_auth_contract.tokens import TokenProfile

        @pytest.fixture(scope="session")
        def mcp_profile(mcp_issuer):
            return TokenProfile(issuer=mcp_issuer.url, audience="https://mcp.example/mcp", opaque=True)
        """
    )
    pytester.makepyfile(
        test_own="""
        import httpx

        def test_own(mcp_mint, mcp_issuer):
            told = httpx.post(mcp_issuer.introspection_uri, data={"token": mcp_mint({"sub": "zoe"})}).json()
            assert (told["active"], told["sub"], told["aud"]) == (True, "zoe", "https://mcp.example/mcp")
        """
    )
    passing(run)


def test_durations_are_real_although_the_clock_was_moved(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_own="""
        def test_moved(mcp_clock):
            mcp_clock.move(86400)
        """
    )
    said = str(pytester.runpytest_subprocess(*PLUGIN, "--durations=0", "-vv").stdout)
    told = [float(seconds) for seconds in re.findall(r"^ *([\d.]+)s (?:setup|call|teardown)", said, re.MULTILINE)]
    assert len(told) == 3
    assert all(seconds < 60 for seconds in told)
