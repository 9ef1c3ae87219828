"""What is said of Views: legal variants pass, what was not seen is inconclusive, and each fault has its own check."""

from typing import Any

import pytest
from tests.unit.checks.apps.app_literals import (
    DOCUMENT,
    MIME_TYPE,
    SHOWS,
    UI,
    URI,
    app_tool,
    app_tools,
    attempt,
    called,
    content,
    here,
    meta,
    reader,
    readers,
    refused,
    tool,
    view,
)
from tests.unit.checks.literals import answer, facts, judged, result

from mcp_auth_contract.checks.apps.observation import PLAIN, Listed
from mcp_auth_contract.checks.apps.schemas import Unevaluated, faults
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict


def said(judge: str, observed: Any, **declared: Any) -> Verdict:
    return judged(judge, observed, here(**declared))


@pytest.mark.parametrize(
    "document",
    [
        "<!DOCTYPE html><html></html>",
        "\ufeff\n<!-- built 2026-12-01 --> <!doctype html>\n<title>x</title>",
        "<!-- a --><!-- b --><!doctype html SYSTEM 'about:legacy-compat'><html>",
    ],
)
def test_a_document_may_begin_with_comments_and_in_any_case(document: str) -> None:
    assert said("app_resource_html_document", view(content=content(document))) == Pass()


def test_a_document_without_a_doctype_is_remarked_and_a_fragment_is_none() -> None:
    verdict = said("app_resource_html_document", view(content=content("<html><body></body></html>")))
    assert isinstance(verdict, Pass)
    assert verdict.advice is not None
    for fragment in ("", "<div><!doctype html></div>", "<htmlx>", "plain text"):
        assert isinstance(said("app_resource_html_document", view(content=content(fragment))), Fail)


def test_a_hostile_document_is_read_in_linear_time() -> None:
    assert isinstance(said("app_resource_html_document", view(content=content("<!--" * 200_000))), Fail)


def test_spaces_in_the_media_type_are_a_remark() -> None:
    for loose in ("text/html; profile=mcp-app", 'text/html;profile="mcp-app"'):
        verdict = said("app_resource_mime_type", view(content=content(mimeType=loose)))
        assert isinstance(verdict, Pass)
        assert verdict.advice is not None
    assert isinstance(said("app_resource_mime_type", view(content=content(mimeType=None))), Fail)


def test_a_view_that_is_missing_from_the_lists_may_still_be_read() -> None:
    unlisted = view(resource=Listed(None))
    for judge in ("app_resource_resolves", "app_resource_mime_type", "app_metadata_form", "app_csp_as_declared"):
        assert said(judge, unlisted) == Pass()
    assert isinstance(said("app_listing_agrees", unlisted), NotApplicable)


def test_a_view_that_its_caller_may_not_read_shows_nothing() -> None:
    for status in (401, 403, 429, None):
        unread = view(read=attempt(answer(status)), content=content(None).__class__())
        assert isinstance(said("app_resource_resolves", unread), Inconclusive)
        assert isinstance(said("app_resource_mime_type", unread), Inconclusive)
    assert isinstance(said("app_resource_resolves", view(read=attempt(answer(404)))), Fail)


def test_a_tool_that_is_not_listed_is_told_by_one_check() -> None:
    missing = view(listed=Listed(None), uri="", read=None)
    assert isinstance(said("app_resource_resolves", missing), Fail)
    (other,) = {said(judge, missing) for judge in ("app_metadata_form", "app_pointer_nested", "app_resource_one_body")}
    assert isinstance(other, Inconclusive)
    assert other.reported_by == "app-resource-resolves"
    unread = view(listed=Listed(None, "page 1: 500"), uri="", read=None)
    assert isinstance(said("app_resource_resolves", unread), Inconclusive)


@pytest.mark.parametrize(
    "origin",
    [
        "https://api.example.com", "https://api.example.com:8443", "https://*.example.com", "wss://api.example.com",
        "http://localhost:3000", "http://127.0.0.1", "http://[::1]:8000", "https://[2001:db8::1]", "https://example.com/",
    ],
)  # fmt: skip
def test_origins_as_servers_declare_them(origin: str) -> None:
    assert isinstance(
        said("app_csp_origins_form", view(content=content(**meta({"csp": {"connectDomains": [origin]}})))), Pass
    )


@pytest.mark.parametrize(
    "origin",
    [
        "*", "https:", "https://*", "https://a.*.example.com", "http://api.example.com", "'self'", "data:", "https://x y",
        "https://x.example; script-src *", "https://x.example/path", "api.example.com", "https://u@x.example",
        "https://x.example:port", "ftp://x.example", "",
    ],
)  # fmt: skip
def test_what_is_no_origin(origin: str) -> None:
    verdict = said("app_csp_origins_form", view(content=content(**meta({"csp": {"connectDomains": [origin]}}))))
    assert isinstance(verdict, Fail)


def test_unknown_keys_of_the_metadata_are_a_remark() -> None:
    for more in ({"linkTrustedDomains": []}, {"csp": {"wasmUnsafeEval": True}}):
        verdict = said("app_metadata_form", view(content=content(**meta(more))))
        assert isinstance(verdict, Pass)
        assert verdict.advice is not None
    on_tool = tool(**meta({"resourceUri": URI, "csp": {}}))
    assert isinstance(said("app_metadata_form", view(listed=on_tool)), Pass)


@pytest.mark.parametrize("ui", ["text", {"csp": []}, {"permissions": {"camera": True}}, {"domain": 1}])
def test_malformed_metadata(ui: Any) -> None:
    assert isinstance(said("app_metadata_form", view(content=content(_meta={"ui": ui}))), Fail)


@pytest.mark.parametrize("visibility", [["user"], "app"])
def test_malformed_visibility(visibility: Any) -> None:
    listed = tool(**meta({"resourceUri": URI, "visibility": visibility}))
    assert isinstance(said("app_metadata_form", view(listed=listed)), Fail)


def test_what_the_contract_leaves_open_is_not_judged() -> None:
    assert isinstance(said("app_csp_as_declared", view(), csp=None), NotApplicable)
    assert isinstance(said("app_permissions_as_declared", view(), permissions=None), NotApplicable)
    assert isinstance(said("app_visibility_as_declared", app_tools(), visibility={}), NotApplicable)
    assert isinstance(said("app_result_private_apart", view(), private=()), NotApplicable)
    assert isinstance(judged("app_csp_as_declared", view(), facts()), NotApplicable)


def test_the_metadata_of_the_contents_counts_and_else_that_of_the_list() -> None:
    bare = content(**meta())
    assert said("app_csp_as_declared", view(content=bare)) == Pass()
    assert isinstance(said("app_listing_agrees", view(content=bare)), Fail)
    alone = view(resource=Listed({"uri": URI}))
    assert isinstance(said("app_listing_agrees", alone), NotApplicable)
    assert said("app_csp_as_declared", alone) == Pass()


def test_a_tool_for_views_alone_may_be_missing_from_the_list() -> None:
    assert said("app_visibility_as_declared", app_tools(visible=(("show", None),))) == Pass()
    missing = app_tools(visible=(("refresh", ["app"]),), unread="page 2: 500")
    assert isinstance(said("app_visibility_as_declared", missing), Inconclusive)


def test_both_pointers_may_be_there_and_equal() -> None:
    both = meta({"resourceUri": URI}, **{"ui/resourceUri": URI})
    assert said("app_pointer_nested", view(listed=tool(**both))) == Pass()
    differs = meta({"resourceUri": URI}, **{"ui/resourceUri": "ui://other"})
    assert isinstance(said("app_pointer_nested", view(listed=tool(**differs))), Fail)


def test_without_the_other_sdk_there_are_no_aliases() -> None:
    assert isinstance(said("app_aliases_agree", view()), NotApplicable)


@pytest.mark.parametrize(
    ("alias", "agrees"),
    [
        ({"openai/outputTemplate": URI}, True),
        ({"openai/outputTemplate": "ui://other"}, False),
        ({"openai/widgetAccessible": True}, True),
        ({"openai/widgetAccessible": False}, False),
        ({"openai/visibility": "public"}, True),
        ({"openai/visibility": "private"}, False),
        ({"openai/toolInvocation/invoking": "Looking"}, True),
    ],
)
def test_aliases_of_the_tool(alias: dict[str, Any], agrees: bool) -> None:
    listed = tool(**meta(SHOWS["_meta"]["ui"], **alias))
    assert isinstance(said("app_aliases_agree", view(listed=listed)), Pass if agrees else Fail)


@pytest.mark.parametrize(
    ("alias", "agrees"),
    [
        ({"openai/widgetCSP": {"connect_domains": ["https://api.example.com"]}}, True),
        ({"openai/widgetCSP": {"connect_domains": []}}, False),
        ({"openai/widgetCSP": {"redirect_domains": ["https://x.example"]}}, True),
        ({"openai/widgetDomain": "https://other.example.com"}, True),
        ({"openai/widgetPrefersBorder": False}, True),
    ],
)
def test_aliases_of_the_resource(alias: dict[str, Any], agrees: bool) -> None:
    verdict = said(
        "app_aliases_agree", view(content=content(**meta({**UI, "domain": "abc.claudemcpcontent.com"}, **alias)))
    )
    assert isinstance(verdict, Pass if agrees else Fail)


def test_a_client_without_views_may_get_another_tool_or_a_text() -> None:
    variant = view(called=(called(), called(PLAIN, structuredContent=None)))
    assert said("app_plain_client_served", variant) == Pass()
    hidden = view(called=(called(), called(PLAIN, said=refused())), plain=Listed(None))
    assert said("app_plain_client_served", hidden) == Pass()
    offered = view(called=(called(), called(PLAIN, said=refused())), plain=tool())
    assert isinstance(said("app_plain_client_served", offered), Fail)


def test_a_refusal_by_status_needs_no_text() -> None:
    assert isinstance(said("app_fallback_text", view(called=(called(said=answer(403)),))), Inconclusive)


def test_a_schema_that_cannot_be_used_proves_nothing() -> None:
    for schema in ({"type": "nonsense"}, {"$ref": "https://example.com/schema.json"}, {"$ref": "#"}):
        assert isinstance(said("app_output_schema_kept", view(listed=tool(outputSchema=schema))), Inconclusive)
    assert isinstance(said("app_output_schema_kept", view(listed=tool(outputSchema=None))), NotApplicable)


def test_regular_expressions_of_a_server_are_not_run() -> None:
    slow = {"properties": {"pattern": {"type": "string", "pattern": "(a+)+$"}}, "patternProperties": {"(a+)+$": False}}
    closed = {**slow, "additionalProperties": False}
    assert list(faults({"pattern": "a" * 60 + "!", "a" * 60 + "!": 1}, closed)) == []
    assert [keyword for keyword, _, _ in faults({"pattern": 1}, closed)] == ["type"]
    with pytest.raises(Unevaluated):
        list(faults({}, {"properties": 1}))


def test_only_refused_tools_can_be_opened_by_the_extension() -> None:
    everybody = app_tools(app_tool(plain=result(), apps=result()))
    assert said("app_capability_lends_nothing", everybody) == Pass()
    assert isinstance(said("app_only_tool_gated", everybody), Fail)


def test_a_tool_that_refuses_the_good_token_too_proves_nothing() -> None:
    closed = app_tools(app_tool(good=called(said=answer(403))))
    assert isinstance(said("app_only_tool_gated", closed), Inconclusive)
    assert isinstance(said("app_only_tool_gated", app_tools(app_tool(only=False))), NotApplicable)
    assert isinstance(said("app_only_tool_gated", app_tools(app_tool(plain=answer(429)))), Inconclusive)


def test_a_public_static_view_is_legal() -> None:
    assert said("app_resource_public_static", readers(reader("alice"), reader("bob"), reader(""))) == Pass()


def test_nonces_builds_and_languages_may_differ_between_readers() -> None:
    differing = readers(
        reader("alice", document=f"{DOCUMENT}<!-- 1 -->"), reader("bob", document=f"{DOCUMENT}<!-- 2 -->")
    )
    assert said("app_resource_same_for_all", differing) == Pass()
    named_for_all = readers(*(reader(name, names=frozenset({"alice"}), document=name) for name in ("alice", "bob")))
    assert said("app_resource_same_for_all", named_for_all) == Pass()


def test_a_view_needs_two_readers_to_differ() -> None:
    for judge in ("app_resource_same_for_all", "app_resource_no_canary"):
        assert isinstance(said(judge, readers(reader("alice"))), NotApplicable)
        assert isinstance(said(judge, readers(reader("alice"), reader("bob", answer(403)))), NotApplicable)
        assert isinstance(said(judge, readers(reader("alice"), reader("bob", answer(429)))), Inconclusive)


def test_what_looks_like_a_credential_of_somebody_else_is_a_remark() -> None:
    url = "https://files.example.com/INV-1.pdf?X-Amz-Signature=0123456789abcdef"
    signed = app_tools(app_tool(good=called(structuredContent={"file": url})))
    verdict = said("app_result_no_token", signed)
    assert isinstance(verdict, Pass)
    assert "URL" in str(verdict.advice)
    assert said("app_result_no_token", app_tools()) == Pass()


def test_a_private_place_that_the_model_reads_is_told() -> None:
    verdict = said("app_result_private_apart", view(), private=("/structuredContent/amount",))
    assert isinstance(verdict, Fail)
    assert isinstance(said("app_result_private_apart", view(), private=("/_meta/gone",)), Inconclusive)


def test_a_sound_view_is_as_declared() -> None:
    for judge in ("app_csp_as_declared", "app_permissions_as_declared", "app_result_private_apart"):
        assert said(judge, view()) == Pass()
    assert said("app_visibility_as_declared", app_tools()) == Pass()


def test_several_items_and_another_uri() -> None:
    assert said("app_resource_resolves", view()) == Pass()
    assert isinstance(said("app_resource_resolves", view(content=content(uri="ui://other"))), Fail)
    assert "2 items" in str(said("app_resource_resolves", view(content=content(items=2))))
    assert MIME_TYPE in str(said("app_resource_mime_type", view(content=content(mimeType="text/html"))))
