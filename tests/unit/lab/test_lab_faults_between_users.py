"""The faults between users: what each lets happen, and that the sound server does not."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from mcp_auth_contract_lab.faults import FAULTS, identity

ALICE, BOB, CAROL = "alice-t1-INV-1-7f3a", "bob-t1-INV-2-91bd", "carol-t2-INV-1-c04e"
FIRST, SECOND = {"invoice_id": "INV-1"}, {"invoice_id": "INV-2"}
MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}
NAMES = {"user_id": "bob", "tenant_id": "t1"}


def call(lab: Any, keys: Any, subject: str, arguments: Any, meta: Any = (), **more: Any) -> str:
    """Call get_invoice as somebody, in 2026-07-28, with the same JSON-RPC id each time; return the answer's text."""
    params = {"name": "get_invoice", "arguments": arguments, "_meta": META | dict(meta)}
    return lab.modern("tools/call", params, more.pop("token", keys.token(subject)), **more).text


def at_once(lab: Any, keys: Any) -> list[str]:
    """Let alice and carol read INV-1 at the same time with the same JSON-RPC id; return the answers' texts."""
    params = {"name": "get_invoice", "arguments": FIRST, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "get_invoice"}

    async def both() -> list[str]:
        transport = httpx.ASGITransport(app=lab.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://lab.test") as client:
            posts = (
                client.post("/mcp", json=message, headers=headers | {"authorization": f"Bearer {keys.token(who)}"})
                for who in ("alice", "carol")
            )
            return [answer.text for answer in await asyncio.gather(*posts)]

    return asyncio.run(both())


def mixed_up_at_once(lab: Any, keys: Any) -> bool:
    first, second = at_once(lab, keys)
    return CAROL in first or ALICE in second


def searched_in_turn(lab: Any, keys: Any) -> bool:
    found = [lab.call("search_invoices", {"query": "INV"}, keys.token(who)).text for who in ("alice", "carol")]
    return ALICE in found[1]


def with_alike_tokens(**shared: Any) -> Callable[[Any, Any], bool]:
    """Alice's token, then carol's that begins with the same claims."""

    def seen(lab: Any, keys: Any) -> bool:
        texts = []
        for who in ("alice", "carol"):
            claims = {**shared, **keys.claims(who, **shared)}
            token = keys.sign({**shared, **{name: claims[name] for name in claims if name not in shared}})
            texts.append(call(lab, keys, who, FIRST, token=token))
        return ALICE in texts[1]

    return seen


def first_alice_then(token: Callable[[Any], str | None], expected: str) -> Callable[[Any, Any], bool]:
    def seen(lab: Any, keys: Any) -> bool:
        assert ALICE in call(lab, keys, "alice", FIRST)
        return expected in call(lab, keys, "alice", FIRST, token=token(keys))

    return seen


def listed_after_a_poorer_caller(lab: Any, keys: Any) -> bool:
    def tools(scope: str) -> set[str]:
        answer = lab.modern("tools/list", {}, keys.token(scope=scope))
        return {tool["name"] for tool in json.loads(answer.text)["result"]["tools"]}

    every = "invoices:read invoices:write invoices:export"
    before = tools(every)
    tools("invoices:read")
    return tools(every) != before


def claiming(**claims: Any) -> Callable[[Any, Any], bool]:
    return lambda lab, keys: BOB in call(lab, keys, "alice", SECOND, token=keys.token("alice", **claims))


SEEN: dict[str, Callable[[Any, Any], bool]] = {
    "caller-from-argument": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND | NAMES),
    "caller-from-header": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND, headers={"x-user-id": "bob"}),
    "caller-from-cookie": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND, headers={"cookie": "user_id=bob"}),
    "caller-from-query": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND, path="/mcp?user_id=bob"),
    "caller-from-meta": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND, {"user": "bob"}),
    "caller-from-client-info": lambda lab, keys: (
        BOB in call(lab, keys, "alice", SECOND, {f"{PREFIX}clientInfo": {"name": "bob", "version": "1"}})
    ),
    "role-from-header": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND, headers={"x-role": "admin"}),
    "role-from-query": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND, path="/mcp?is_admin=true"),
    "role-from-argument": lambda lab, keys: BOB in call(lab, keys, "alice", SECOND | {"is_admin": True}),
    "role-from-client-info": lambda lab, keys: (
        BOB in call(lab, keys, "alice", SECOND, {f"{PREFIX}clientInfo": {"name": "x", "version": "1", "role": "admin"}})
    ),
    "role-from-user-metadata": claiming(user_metadata={"role": "admin"}),
    "role-by-substring": claiming(role="non-admin"),
    "role-by-truth": claiming(is_admin="false"),
    "answers-swapped": mixed_up_at_once,
    "caller-kept-by-request-id": mixed_up_at_once,
    "answers-cached-by-request-id": mixed_up_at_once,
    "results-cached-by-arguments": searched_in_turn,
    "user-cached-by-token-id": with_alike_tokens(jti="one"),
    "user-cached-by-beginning": with_alike_tokens(jti="one"),
    "retry-on-connection-trusted": first_alice_then(lambda keys: None, ALICE),
    "scopes-kept-by-connection": first_alice_then(lambda keys: keys.token(scope="openid"), ALICE),
    "user-kept-by-connection": first_alice_then(lambda keys: keys.token("bob"), ALICE),
    "list-of-the-last-caller": listed_after_a_poorer_caller,
}


def test_every_fault_between_users_has_been_seen_to_show() -> None:
    assert set(SEEN) == set(identity.FAULTS)


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_between_users_shows_and_the_sound_server_does_not_show_it(make_lab, keys, name) -> None:
    assert SEEN[name](make_lab(fault=FAULTS[name]), keys)
    assert not SEEN[name](make_lab(), keys)


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_between_users_leaves_single_callers_alone(make_lab, keys, name) -> None:
    for who, canary in (("alice", ALICE), ("carol", CAROL)):
        lab = make_lab(fault=FAULTS[name])
        assert canary in call(lab, keys, who, FIRST, token=keys.token(who, jti=f"of-{who}"))
        assert canary in call(lab, keys, who, FIRST, token=keys.token(who, jti=f"of-{who}"))


@pytest.mark.parametrize("name", SEEN)
def test_a_fault_between_users_lets_no_bad_token_in_by_itself(make_lab, keys, name) -> None:
    for token, status in (
        (keys.forged(), 401),
        (None, 401),
        (keys.token(exp=1), 401),
        (keys.token(scope="openid"), 403),
    ):
        lab = make_lab(fault=FAULTS[name])
        params = {"name": "get_invoice", "arguments": FIRST, "_meta": META}
        assert lab.modern("tools/call", params, token).status_code == status


def test_a_mix_up_needs_two_callers_with_one_id(make_lab, keys) -> None:
    for name in ("answers-swapped", "caller-kept-by-request-id"):
        lab = make_lab(fault=FAULTS[name])
        assert ALICE in call(lab, keys, "alice", FIRST)
        assert CAROL in call(lab, keys, "carol", FIRST)
