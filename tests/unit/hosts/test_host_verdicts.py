"""What one fact decides over a host; facts are made of literal answers."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.checks.literals import (
    ENDPOINT,
    PATH_URL,
    answer,
    at_path,
    at_pointer,
    html,
    nothing_at,
    resource,
    result,
    server,
    servers,
    tool_error,
)

from mcp_auth_contract.checks.discovery.observation import Location
from mcp_auth_contract.hosts.facts import VALUES, FactName, HostObservations, facts_of
from mcp_auth_contract.hosts.verdicts import Connection, HostVerdict, Table, host_verdicts, load_hosts

CHALLENGE = f'Bearer resource_metadata="{PATH_URL}"'
METADATA = resource(at_pointer(), at_path())
SOUND = HostObservations(
    url=ENDPOINT,
    posted=(answer(401, CHALLENGE),),
    got=answer(405),
    metadata=METADATA,
    servers=servers(server()),
    token=True,
)


def value(name: FactName, **changes: Any) -> str | None:
    return facts_of(replace(SOUND, **changes))[name].value


def verdict(host: str, **changes: Any) -> HostVerdict:
    return next(one for one in host_verdicts(facts_of(replace(SOUND, **changes))) if one.id == host)


def test_every_value_of_a_fact_is_a_known_one_and_every_fact_is_used() -> None:
    for fact in facts_of(SOUND).values():
        assert fact.value is None or fact.value in VALUES[fact.name]
    assert set(facts_of(SOUND)) == set(FactName) == set(VALUES)
    assert {name for rule in load_hosts().rule for name in rule.when} == set(FactName)


@pytest.mark.parametrize(
    ("line", "scheme", "pointer"),
    [
        (CHALLENGE, "Bearer first", "quoted"),
        (f'bearer resource_metadata="{PATH_URL}"', "other spelling", "quoted"),
        (f'Basic realm="x", {CHALLENGE}', "Bearer later", "quoted"),
        (f"Bearer resource_metadata={PATH_URL}", "Bearer first", "unquoted"),
        ("Bearer", "Bearer first", "absent"),
        ('Basic realm="x"', "none", "absent"),
    ],
)
def test_the_form_of_a_challenge_is_a_fact(line: str, scheme: str, pointer: str) -> None:
    assert value(FactName.SCHEME, posted=(answer(401, line),)) == scheme
    assert value(FactName.POINTER, posted=(answer(401, line),)) == pointer


@pytest.mark.parametrize(
    ("posted", "expected"),
    [
        ((answer(401),), "401"),
        ((result(), answer(401, CHALLENGE)), "401"),  # the handshake is public, the call is not
        ((answer(403),), "403"),
        ((answer(400),), "other"),
        ((html(),), "other"),
        ((tool_error(CHALLENGE),), "in the result"),
        ((result(),), "open"),
        ((answer(None),), None),
        ((answer(503),), None),
        ((), None),
    ],
)
def test_how_a_request_without_a_token_is_refused_is_a_fact(posted: Any, expected: str | None) -> None:
    assert value(FactName.CHALLENGE, posted=posted, metadata=None) == expected


def test_a_refusal_by_403_is_enough_for_some_hosts_only() -> None:
    for host in ("claude", "chatgpt", "goose", "gemini-cli", "typescript-sdk"):
        assert verdict(host, posted=(answer(403, CHALLENGE),)).verdict is Connection.FAILS, host
    for host in ("claude-code", "vscode"):
        assert verdict(host, posted=(answer(403, CHALLENGE),)).verdict is Connection.CONNECTS, host


def test_a_challenge_in_a_result_is_read_by_chatgpt_alone() -> None:
    posted = (tool_error(CHALLENGE),)
    assert verdict("chatgpt", posted=posted).verdict is Connection.CONNECTS
    assert verdict("claude", posted=posted).verdict is Connection.FAILS
    assert verdict("vscode", posted=posted).verdict is Connection.FAILS


def test_a_pointer_to_another_origin_is_followed_by_some() -> None:
    elsewhere = at_pointer(url="https://meta.example.net/resource")
    lost = resource(elsewhere, nothing_at(Location.PATH, PATH_URL), nothing_at(Location.ROOT, PATH_URL))
    assert verdict("goose", metadata=lost).verdict is Connection.FAILS
    assert verdict("claude", metadata=lost).verdict is Connection.CONNECTS
    both = resource(elsewhere, at_path())
    assert verdict("goose", metadata=both).verdict is Connection.CONNECTS


def test_what_was_not_seen_decides_nothing() -> None:
    unseen = verdict("chatgpt", servers=None)
    assert unseen.verdict is Connection.UNKNOWN
    assert {reason.effect for reason in unseen.reasons} == {Connection.UNKNOWN}
    own = servers(replace(server(), own=True))
    assert verdict("claude", servers=own).verdict is Connection.UNKNOWN
    assert verdict("messages-api", token=None).verdict is Connection.UNKNOWN
    assert verdict("messages-api", token=False).verdict is Connection.FAILS
    assert verdict("messages-api").verdict is Connection.CONNECTS


def test_one_fact_that_stops_a_host_counts_for_more_than_others_that_were_not_seen() -> None:
    assert verdict("claude", posted=(answer(403),), servers=None).verdict is Connection.FAILS


def test_a_server_that_asks_for_no_token_is_open_to_every_host() -> None:
    found = host_verdicts(facts_of(replace(SOUND, posted=(result(),), metadata=None, servers=None, token=None)))
    assert {one.verdict for one in found} == {Connection.CONNECTS}
    assert all("asks for no token" in one.reasons[0].says for one in found)


def test_a_server_that_publishes_metadata_is_not_called_open_for_its_public_list() -> None:
    posted = (result(), result())  # the handshake and the list of tools; a call was not tried
    assert value(FactName.CHALLENGE, posted=posted) is None
    assert verdict("claude", posted=posted).verdict is Connection.UNKNOWN
    assert not any("asks for no token" in reason.says for reason in verdict("claude", posted=posted).reasons)


def test_a_table_whose_rules_hang_in_the_air_is_refused() -> None:
    sound = load_hosts().model_dump(mode="json")
    rule = sound["rule"][0]
    for wrong in (
        {**rule, "when": {"challenge": ["402"]}},
        {**rule, "hosts": ["netscape"]},
        {**rule, "source": "hearsay"},
        {**rule, "effect": "will not", "source": "cursor"},
        {**rule, "effect": "will connect"},
    ):
        with pytest.raises(ValidationError):
            Table.model_validate({**sound, "rule": [wrong]})
