"""What the lab carries over from one request to the next: exports, tasks and states of requests, and their faults."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.lab.conftest import MODERN, Client, Keys, MakeLab

from mcp_auth_contract.checks.handles.tampering import alterations
from mcp_auth_contract_lab.faults import FAULTS
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.records import Exports
from mcp_auth_contract_lab.states import States
from mcp_auth_contract_lab.tasks import EXTENSION

ASKABLE = {"elicitation": {"form": {}}}
TASKING = {"extensions": {EXTENSION: {}}}
YES = {"approval": {"action": "accept", "content": {"approve": True}}}
CANARY = "alice-t1-INV-1-7f3a"


def somebody(name: str) -> Principal:
    return Principal(name, "t1", "kit")


class Talk:
    """One lab, spoken to by name of the caller."""

    def __init__(self, lab: Client, keys: Keys) -> None:
        self.lab, self.keys = lab, keys
        self.sessions: dict[str, dict[str, str]] = {}

    def modern(self, who: str, method: str, params: Mapping[str, Any], client: Mapping[str, Any]) -> Any:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": dict(client),
        }
        named = {"mcp-name": params["taskId"]} if "taskId" in params else {}
        answer = self.lab.modern(method, {**params, "_meta": meta}, self.keys.token(who), named)
        return answer.json()

    def legacy(self, who: str, method: str, params: Mapping[str, Any], revision: str = "2025-11-25") -> Any:
        token = self.keys.token(who)
        if who not in self.sessions:
            self.sessions[who] = self.lab.open_session(token, revision)
        return self.lab.legacy(method, params, token, session=self.sessions[who]).json()

    def approve(self, who: str, invoice: str = "INV-1", **more: Any) -> Any:
        params = {"name": "approve_invoice", "arguments": {"invoice_id": invoice}, **more}
        return self.modern(who, "tools/call", params, ASKABLE)

    def asked(self, who: str, invoice: str = "INV-1") -> str:
        result = self.approve(who, invoice)["result"]
        assert result["resultType"] == "input_required"
        assert set(result["inputRequests"]) == set(YES)
        return str(result["requestState"])

    def start(self, who: str = "alice") -> str:
        params = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}, "task": {"ttl": 60000}}
        task = self.legacy(who, "tools/call", params)["result"]["task"]
        assert task["status"] == "working"
        return str(task["taskId"])


@pytest.fixture
def talk(make_lab: MakeLab, keys: Keys) -> Any:
    def make(*profiles: Profile, fault: str | None = None) -> Talk:
        return Talk(make_lab(*profiles, fault=None if fault is None else FAULTS[fault]), keys)

    return make


def test_an_export_is_read_again_by_whoever_made_it(talk: Any) -> None:
    sound = talk()
    made = sound.modern("alice", "tools/call", {"name": "export_invoices"}, {})["result"]["structuredContent"]
    again = {"name": "export_invoices", "arguments": {"export_id": made["export_id"]}}
    assert sound.modern("alice", "tools/call", again, {})["result"]["structuredContent"] == {"csv": made["csv"]}
    for other in ("bob", "carol"):
        assert sound.modern(other, "tools/call", again, {})["result"]["isError"] is True


@pytest.mark.parametrize(("fault", "others"), [(None, ()), ("isolation-linked-export-open", ("bob", "carol"))])
def test_an_export_is_read_by_its_uri_by_whoever_made_it(talk: Any, fault: str | None, others: tuple[str, ...]) -> None:
    server = talk(fault=fault)
    params = {"name": "export_invoices", "arguments": {"format": "link"}}
    made = server.modern("alice", "tools/call", params, {})["result"]
    (link,) = made["content"]
    assert link["type"] == "resource_link"
    assert link["uri"] == made["structuredContent"]["uri"]
    for who in ("alice", "bob", "carol"):
        answer = server.modern(who, "resources/read", {"uri": link["uri"]}, {})
        assert ("result" in answer) == (who in ("alice", *others))


def test_exports_have_random_names_and_end_with_their_use_where_that_is_the_rule(talk: Any) -> None:
    keeps: Exports = talk().lab.app.ledger.exports
    alice = somebody("alice")
    names = {keeps.keep(alice, "x") for _ in range(5)}
    assert len(names) == 5
    once: Exports = talk(Profile.SINGLE_USE).lab.app.ledger.exports
    name = once.keep(alice, "x")
    assert [once.find(alice, name), once.find(alice, name)] == ["x", None]
    spent: Exports = talk(fault="isolation-handle-spent-by-strangers").lab.app.ledger.exports
    name = spent.keep(alice, "x")
    assert [spent.find(somebody("bob"), name), spent.find(alice, name)] == [None, None]


def test_a_client_that_cannot_be_asked_is_not_asked(talk: Any) -> None:
    params = {"name": "approve_invoice", "arguments": {"invoice_id": "INV-1"}}
    assert talk().modern("alice", "tools/call", params, {})["result"]["structuredContent"]["approved"] is True


def test_a_state_is_good_for_its_caller_its_request_and_as_it_was(talk: Any) -> None:
    sound = talk()
    state = sound.asked("alice")
    for who, invoice, sent in (
        ("bob", "INV-1", state),
        ("carol", "INV-1", state),
        ("alice", "INV-11", state),
        ("alice", "INV-1", None),
        ("alice", "INV-1", 7),
        ("alice", "INV-1", "é"),
        *(("alice", "INV-1", changed) for _, changed in alterations(state)),
    ):
        more = {"inputResponses": YES} if sent is None else {"inputResponses": YES, "requestState": sent}
        assert sound.approve(who, invoice, **more)["error"]["code"] == -32602
    done = sound.approve("alice", inputResponses=YES, requestState=state)["result"]
    assert done["structuredContent"]["approved"] is True
    no = {"approval": {"action": "decline"}}
    again = sound.approve("alice", inputResponses=no, requestState=state)["result"]
    assert again["resultType"] == "input_required"


def test_a_state_lapses_and_is_good_once_where_that_is_the_rule(talk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    once = talk(Profile.SINGLE_USE)
    state = once.asked("alice")
    assert "result" in once.approve("alice", inputResponses=YES, requestState=state)
    assert "error" in once.approve("alice", inputResponses=YES, requestState=state)
    states, alice = States(), somebody("alice")
    given = states.give(alice, "t", {})
    assert states.take(alice, "t", {}, given) == alice
    monkeypatch.setattr("mcp_auth_contract_lab.states._GOOD_FOR_S", -1)
    assert states.take(alice, "t", {}, states.give(alice, "t", {})) is None


@pytest.mark.parametrize(
    ("name", "who", "invoice", "leaks"),
    [
        ("isolation-request-state-unbound", "carol", "INV-1", False),
        ("isolation-request-state-unbound-and-acting", "carol", "INV-1", True),
        ("isolation-request-state-bound-to-tenant-and-acting", "bob", "INV-1", True),
        ("isolation-request-state-bound-to-client-and-acting", "bob", "INV-1", True),
        ("isolation-request-state-for-any-request", "alice", "INV-11", False),
        ("isolation-request-state-for-any-arguments", "alice", "INV-11", False),
    ],
)
def test_a_fault_lets_a_state_serve_more(talk: Any, name: str, who: str, invoice: str, leaks: bool) -> None:
    faulty = talk(fault=name)
    result = faulty.approve(who, invoice, inputResponses=YES, requestState=faulty.asked("alice"))["result"]
    assert result["structuredContent"]["approved"] is True
    assert (CANARY in json.dumps(result)) is leaks


@pytest.mark.parametrize(
    "name",
    [name for name in FAULTS if name.startswith(("isolation-request-state-seal", "isolation-request-state-unsealed"))],
)
def test_a_fault_of_the_seal_takes_an_altered_state(talk: Any, name: str) -> None:
    faulty = talk(fault=name)
    state = faulty.asked("alice")
    answers = [faulty.approve("alice", inputResponses=YES, requestState=changed) for _, changed in alterations(state)]
    assert any("result" in answer for answer in answers)


def test_a_task_serves_its_owner_alone(talk: Any) -> None:
    sound = talk()
    task = sound.start()
    for other in ("bob", "carol"):
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            assert sound.legacy(other, method, {"taskId": task})["error"]["code"] == -32602
        assert sound.legacy(other, "tasks/list", {})["result"] == {"tasks": []}
    assert [one["taskId"] for one in sound.legacy("alice", "tasks/list", {})["result"]["tasks"]] == [task]
    result = sound.legacy("alice", "tasks/result", {"taskId": task})["result"]
    assert CANARY in json.dumps(result)
    assert result["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": task}}
    assert sound.legacy("alice", "tasks/get", {"taskId": task})["result"]["status"] == "completed"
    assert "error" in sound.legacy("alice", "tasks/cancel", {"taskId": task})
    assert "error" in sound.legacy("alice", "tasks/get", {"taskId": "nothing"})


def test_a_cancelled_task_brings_nothing(talk: Any) -> None:
    sound = talk()
    task = sound.start()
    assert sound.legacy("alice", "tasks/cancel", {"taskId": task})["result"]["status"] == "cancelled"
    assert "error" in sound.legacy("alice", "tasks/result", {"taskId": task})


def test_tasks_are_announced_where_there_are_any(talk: Any) -> None:
    def listed(one: Talk, revision: str = "2025-11-25") -> set[str]:
        tools = one.legacy("alice", "tools/list", {}, revision)["result"]["tools"]
        return {tool["name"] for tool in tools if "execution" in tool}

    assert listed(talk()) == {"get_invoice"}
    assert listed(talk(), "2025-06-18") == listed(talk(Profile.NO_TASKS)) == set()
    for one, revision in ((talk(), "2025-06-18"), (talk(Profile.NO_TASKS), "2025-11-25")):
        params = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}, "task": {}}
        assert CANARY in json.dumps(one.legacy("alice", "tools/call", params, revision))
        assert one.legacy("alice", "tasks/list", {})["error"]["code"] == -32601
    discovered = [one.modern("alice", "server/discover", {}, {})["result"] for one in (talk(), talk(Profile.NO_TASKS))]
    assert ["extensions" in one["capabilities"] for one in discovered] == [True, False]


def test_the_extension_has_its_result_in_the_task(talk: Any) -> None:
    sound = talk()
    call = {"name": "get_invoice", "arguments": {"invoice_id": "INV-1"}}
    made = sound.modern("alice", "tools/call", call, TASKING)["result"]
    assert (made["resultType"], made["status"]) == ("task", "working")
    task = {"taskId": made["taskId"]}
    assert sound.modern("bob", "tasks/get", task, TASKING)["error"]["code"] == -32602
    looks = [sound.modern("alice", "tasks/get", task, TASKING)["result"] for _ in range(2)]
    assert [one["status"] for one in looks] == ["working", "completed"]
    assert CANARY in json.dumps(looks[1]["result"])
    assert sound.modern("alice", "tasks/result", task, TASKING)["error"]["code"] == -32601
    plain = sound.modern("alice", "tools/call", call, {})["result"]
    assert plain["resultType"] == "complete"


@pytest.mark.parametrize(
    ("name", "opened"),
    [
        ("isolation-task-status-open", {"tasks/get"}),
        ("isolation-task-result-open", {"tasks/result"}),
        ("isolation-task-cancel-open", {"tasks/cancel"}),
        ("isolation-task-list-by-tenant", {"tasks/list"}),
        ("isolation-task-list-unfiltered", {"tasks/list"}),
        ("isolation-task-bound-to-tenant", {"tasks/get", "tasks/result", "tasks/cancel", "tasks/list"}),
        ("isolation-task-refusal-tells", set()),
        ("isolation-task-cancelled-before-check", set()),
    ],
)
def test_a_fault_opens_tasks_in_its_own_uses(talk: Any, name: str, opened: set[str]) -> None:
    faulty = talk(fault=name)
    found = set()
    for method in ("tasks/get", "tasks/result", "tasks/cancel", "tasks/list"):
        task = faulty.start()
        if task in json.dumps(faulty.legacy("bob", method, {"taskId": task}).get("result", {})):
            found.add(method)
    assert found == opened


def test_a_refusal_may_tell_or_cancel_by_fault(talk: Any) -> None:
    telling = talk(fault="isolation-task-refusal-tells")
    refused = telling.legacy("bob", "tasks/get", {"taskId": telling.start()})
    assert CANARY in json.dumps(refused["error"])
    hasty = talk(fault="isolation-task-cancelled-before-check")
    task = hasty.start()
    assert "error" in hasty.legacy("bob", "tasks/cancel", {"taskId": task})
    assert hasty.legacy("alice", "tasks/get", {"taskId": task})["result"]["status"] == "cancelled"


@pytest.mark.parametrize(
    ("profile", "status"), [(Profile.FOREIGN_HANDLES_403, 403), (Profile.FOREIGN_HANDLES_404, 404)]
)
def test_a_foreign_task_may_be_refused_by_a_status(talk: Any, keys: Keys, profile: Profile, status: int) -> None:
    strict = talk(profile)
    task = strict.start()
    session = strict.lab.open_session(keys.token("bob"))
    answer = strict.lab.legacy("tasks/get", {"taskId": task}, keys.token("bob"), session=session)
    assert answer.status_code == status
