"""A draft as the text of a contract: commented, valid, and with a mark at everything that its author has to answer."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import tomlkit

from mcp_auth_contract import __version__
from mcp_auth_contract.contract.templates import expand
from mcp_auth_contract.init import views
from mcp_auth_contract.init.draft import Draft, DraftOperation, DraftTool
from mcp_auth_contract.init.inspection import KIT, ServerSettings
from mcp_auth_contract.init.toml import MARK, Section, shown
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.oauth.metadata import Difference, difference

_KIT_ENV = {"ISSUER": "${issuer.url}", "JWKS_URI": "${issuer.jwks_uri}", "RESOURCE": "${target.resource}"}


def render(draft: Draft) -> str:
    """Return the contract's text. A line that begins with `# ? ` is a question to its author."""
    first = (_head(draft), _target(draft), _issuer(draft), _claims(draft), _policy(draft), *_principals(draft))
    sections = (str(section).strip() for section in (*first, *operation_sections(draft)))
    return "\n\n".join(sections) + "\n"


def questions_in(text: str) -> int:
    """Return how many questions a drafted text asks."""
    return sum(line.startswith(MARK) for line in text.splitlines())


def provisional(settings: ServerSettings) -> str:
    """Return the least contract of a server, by which it can be reached and a token be minted for it."""
    contract = {
        "target": {**_place(settings), "authorized": True},
        "issuer": _issuer_keys(settings),
        "principals": {"alice": {"subject": "alice", "tenant": "t1"}},
        "tools": [{"name": "tools/list"}],
    }
    return tomlkit.dumps(contract)


def _head(draft: Draft) -> Section:
    head, seen = Section(), draft.seen
    called = f"{shown(seen.name)} {shown(seen.version or '', 30)}".rstrip() if seen.name else "an MCP server"
    head.remark(f"The authentication contract of {called}, drafted by `mcp-auth-contract init` {__version__}.")
    head.remark(
        'What the server shows of itself is filled in. What only you can know is a question, marked "# ?": answer it, '
        "then remove the mark. `mcp-auth-contract plan` shows what a run would ask, and sends nothing."
    )
    words = {kind: "resource templates" if kind == "templates" else kind for kind in seen.lists}
    if listed := [words[kind] for kind, one in seen.lists.items() if one.open]:
        head.remark(f"Listed without a token: {', '.join(listed)}.")
    if listed := [words[kind] for kind, one in seen.lists.items() if one.entries and not one.open]:
        giver = KIT if seen.token_from == KIT else f"${seen.token_from}"
        head.remark(f"Listed with a token of {giver}: {', '.join(listed)}.")
    if seen.token_said:
        head.remark(f"The token was refused: {shown(seen.token_said)}.")
    if seen.closed:
        said = shown(seen.lists[seen.closed[0]].said)
        closed = ", ".join(words[kind] for kind in seen.closed)
        head.remark(f"Not shown to `init`: {closed} ({said}). {how_to_see_more(draft)}")
    if draft.left_out:
        head.remark(f"Left out: {'; '.join(draft.left_out)}.")
    return head


def how_to_see_more(draft: Draft) -> str:
    """Say by what options another `init` would see the lists that this one did not."""
    if draft.seen.token_from == KIT:
        return "See that the server trusts the issuer that --env names, then draft again into another file."
    genuine = "`init --token-env NAME` with an access token of the server in the environment variable NAME"
    if draft.seen.settings.started_by_kit:
        options = " ".join(f"--env '{name}={variable}'" for name, variable in _KIT_ENV.items())
        return (
            "To see more, draft again into another file with --env, once for each setting by which the server learns "
            f"whom to trust, as in {options}; or with {genuine}."
        )
    return (
        f"To see more, draft again into another file with {genuine}; or let the server trust the issuer that "
        "`mcp-auth-contract serve` runs, and take the token from `mcp-auth-contract mint`."
    )


def _place(settings: ServerSettings) -> dict[str, object]:
    keys = {"app": settings.app, "url": settings.url, "start": list(settings.start), "env": dict(settings.env)}
    keys["ca_file"] = settings.ca_file
    return {name: given for name, given in keys.items() if given}


def _target(draft: Draft) -> Section:
    section, seen, settings = Section("target"), draft.seen, draft.seen.settings
    for name, given in _place(settings).items():
        section.set(name, given, variables=True)
    if settings.started_by_kit and not settings.env:
        example = Section()
        example.set("env", _KIT_ENV, variables=True)
        section.ask("by which environment variables does the server learn whom to trust?", example)
    if draft.authorized is not None:
        if not draft.authorized:
            section.ask(
                "may you test this server? It is not on this machine, and a run sends it many faulty requests. "
                "If you may, write true."
            )
        section.set("authorized", draft.authorized)
    _resource(section, draft)
    if seen.revisions:
        section.remark("As the server negotiates them; the first one is tested fully.")
        section.set("revisions", list(map(str, seen.revisions)))
    return section


def _resource(section: Section, draft: Draft) -> None:
    """Write the audience, where the metadata calls the server otherwise than its URL does."""
    seen = draft.seen
    if seen.resource is None or difference(seen.endpoint, seen.resource) is Difference.NONE:
        return
    section.ask(
        "is this the audience that tokens must carry? The server's metadata names it, and it is not the URL. If it is "
        "not, remove the line, and a run will tell what is wrong with the metadata."
    )
    written, port = seen.resource.replace("${", "$${"), urlsplit(seen.endpoint).port
    if port is not None and seen.settings.url is not None and ":0/" in f"{seen.settings.url}/":
        written = written.replace(f":{port}", ":${target.port}")
    section.set("resource", written, variables=True)


def _issuer_keys(settings: ServerSettings) -> dict[str, object]:
    opaque, tls = settings.tells("issuer.introspection_uri}"), settings.tells("issuer.ca_file}")
    return ({"tokens": "opaque"} if opaque else {}) | ({"tls": True} if tls else {})


def _issuer(draft: Draft) -> Section:
    section, seen, shape = Section("issuer"), draft.seen, draft.seen.shape
    section.remark("The kit's own authorization server, which the server has to trust for the time of a run.")
    if seen.issuers and not seen.settings.tells("issuer."):
        section.remark(f"Now it trusts: {', '.join(shown(issuer, 80) for issuer in seen.issuers[:5])}.")
    if not seen.settings.started_by_kit:
        section.ask(
            "can the server be told to trust it? Then fix the port, run `mcp-auth-contract serve`, and configure the "
            "server with what that prints. Else run with `--token-env NAME` and a genuine token.",
            {"port": 9000},
        )
    for name, given in _issuer_keys(seen.settings).items():
        section.set(name, given)
    if shape is not None and shape.opaque:
        section.remark("As your token is.")
        section.set("tokens", "opaque")
    elif shape is not None and shape.algorithm is not None:
        section.remark("As your token is signed.")
        section.set("algorithms", [shape.algorithm])
    return section


def _claims(draft: Draft) -> Section:
    section, shape = Section("claims"), draft.seen.shape
    if shape is not None:
        for name in ("scope", "client", "tenant", "typ"):
            if (given := getattr(shape, name)) is not None:
                section.set(name, given)
        if shape.scope_list:
            section.set("scope_format", "list")
    section.ask(
        "which claims must every token carry, besides iss, aud and exp? Their absence is tested then.",
        {"required": ["sub", "tenant_id"]},
    )
    return section


def _policy(draft: Draft) -> Section:
    section, seen = Section("policy"), draft.seen
    if seen.public:
        section.remark("Answered without a token. Remove what should not be, and a run will tell.")
        section.set("public", seen.public)
    if seen.challenge == "tool":
        section.ask('does it refuse by HTTP status elsewhere? Then write "either".')
        section.set("challenge", "tool")
    elif seen.challenge is not None:
        section.remark("As a call without a token was refused.")
        section.set("challenge", seen.challenge)
    else:
        section.ask(
            'how is a call refused: by HTTP status ("http"), by a result with a challenge ("tool"), or "either"?',
            {"challenge": "http"},
        )
    section.ask("how many seconds of clock skew does it allow at exp and nbf?", {"leeway": 60})
    nameable = [scope for scope in draft.scopes if "${" not in scope]  # a key holds no variable
    if len(nameable) > 1:
        section.ask("does one scope contain another?", {"implies": {nameable[1]: [nameable[0]]}})
    section.ask("may a run call the tools that write?", {"writes": True})
    return section


def _principals(draft: Draft) -> Iterator[Section]:
    about = Section()
    if not all(one.answered for one in draft.principals):
        about.ask(
            "whom does the server know? Write subjects that it has data for, and the tenant claim if it has tenants. "
            "Two who must not see each other's data are the least that isolation can be tested with."
        )
    if draft.scopes:
        about.remark(f"The scopes are those that {draft.seen.scopes_from or 'the tools need'}.")
    else:
        about.ask("which scopes may they be given at most?", {"scopes": ["records:read"]})
    yield about
    for one in draft.principals:
        section = Section("principals", one.name)
        section.set("subject", one.subject, variables=True)
        if one.tenant is not None:
            section.set("tenant", one.tenant, variables=True)
        if draft.scopes:
            section.set("scopes", draft.scopes)
        yield section


_OFFERED = 12
_UNSEEN: Mapping[str, Mapping[str, object]] = {
    "resources": {"uri": "record://{id}", "arguments": {"id": "1"}},
    "prompts": {"name": "summarise_record"},
}
_GUESSED = {
    OperationKind.TOOL: "with which arguments does the call work for alice? These are guesses.",
    OperationKind.RESOURCE: "which values lead to something that alice may read? These are guesses.",
    OperationKind.PROMPT: "which texts does it work with for alice? These are guesses.",
}


def operation_sections(draft: Draft) -> Iterator[Section]:
    """Yield the tools, resources and prompts, or an example where they were not shown; then records and cursors."""
    if draft.tools:
        about = Section()
        told = "scopes: what a caller needs, all of them. Without the key any valid token will do; [] needs none."
        about.remark(told)
        if any(not tool.effect_from for tool in draft.tools):
            about.remark('effect: "read" changes nothing, "export" reads many records at once, "write" changes some.')
        yield about
    elif "tools" in draft.seen.closed or not (draft.resources or draft.prompts):
        example = {"name": "get_record", "scopes": _scope_example(draft), "arguments": {"id": "1"}, "control": True}
        yield _asked("which tools are there, and which scopes does each need?", "tools", example)
    for tool in draft.tools:
        yield _tool(tool, draft)
    for table, named, operations in (("resources", "uri", draft.resources), ("prompts", "name", draft.prompts)):
        if not operations and not draft.tools and table in draft.seen.closed:
            yield _asked(f"which {table} are there?", table, _UNSEEN[table])
        for operation in operations:
            yield _operation(table, named, operation, draft)
    yield from views.sections({tool.name: tool.view for tool in draft.tools if tool.view is not None}, draft.seen.views)
    yield _record(draft)
    for tool in draft.tools:
        if tool.cursor is not None and tool.effect is not Effect.WRITE:
            example = {"tool": tool.name, "argument": tool.cursor, "result": "/structuredContent/nextCursor"}
            question = "where does its result hold the next page token? It must not carry over to somebody else."
            yield _asked(question, "cursors", example)
            break


def _asked(question: str, table: str, example: Mapping[str, object]) -> Section:
    """A question whose answer is an entry of a table."""
    entry, asked = Section(table, entry=True), Section()
    for name, given in example.items():
        entry.set(name, given)
    asked.ask(question, entry)
    return asked


def _tool(tool: DraftTool, draft: Draft) -> Section:
    section = _operation("tools", "name", tool, draft)
    if tool.effect_from:
        section.set("effect", str(tool.effect), tool.effect_from)
    else:
        section.ask(f"read, export or write? {tool.guess}")
        section.set("effect", str(tool.effect))
    if tool.visibility:
        section.set("visibility", list(tool.visibility), "as the server says")
    if tool.control:
        if not tool.control_answered:
            section.ask("does this call always work for alice, without side effects? Refusals are told by it.")
        section.set("control", given=True)
    return section


def _operation(table: str, named: str, operation: DraftOperation, draft: Draft) -> Section:
    section = Section(table, entry=True)
    said = shown(operation.said, 80)
    section.set(named, operation.name, f"the server says: {said}" if said else "")
    _scopes(section, operation, draft)
    arguments = operation.arguments
    if arguments.missing:
        names = ", ".join(shown(name, 30) for name in arguments.missing[:_OFFERED])
        section.ask(f"it needs arguments that could not be made up: {names}")
    if arguments.made_up:
        section.ask(_GUESSED[operation.kind])
    if arguments.values:
        section.set("arguments", arguments.values)
    return section


def _scopes(section: Section, operation: DraftOperation, draft: Draft) -> None:
    scopes, known = operation.scopes, operation.scopes_from
    offered = ", ".join(shown(scope, 60) for scope in draft.scopes[:_OFFERED])
    offer = f" The server offers {offered}{', …' if len(draft.scopes) > _OFFERED else ''}." if offered else ""
    if scopes is None and known:
        section.remark(f"Any valid token will do: {known}.")
    elif scopes is None:
        section.ask(f"which scopes does it need?{offer}", {"scopes": _scope_example(draft)})
    else:
        if not known and scopes == draft.seen.base:
            section.ask(f"nothing is served without what is written here; does it need more?{offer}")
        elif not known:
            section.ask("are these all? Challenges named them, and the call then failed for another reason.")
        section.set("scopes", scopes, known)


def _scope_example(draft: Draft) -> tuple[str, ...]:
    return draft.scopes[:1] or ("records:read",)


def _record(draft: Draft) -> Section:
    """An example of a record in comments, reached by what the server has."""
    usable = (tool for tool in draft.tools if tool.effect is not Effect.WRITE and tool.scopes != ())
    reading = [tool for tool in usable if not tool.arguments.missing]
    calls = [{"tool": tool.name, "arguments": tool.arguments.values} for tool in reading if tool.arguments.values]
    lists = [{"tool": tool.name} for tool in reading if not tool.arguments.values]
    written = [one for one in draft.resources if "${" not in one.name]
    resources = [{"resource": expand(one.name, one.arguments.values)} for one in written[:1]]
    texts = [(one.name, one.arguments.values) for one in draft.prompts if one.arguments.values]
    prompts = [{"prompt": name, "arguments": values} for name, values in texts]
    # The first way of each kind to one record: a call that takes arguments.
    reads = [*calls[:1], *resources, *prompts[:1]]
    asked = Section()
    example = Section("records", entry=True)
    for name, given in (("name", "record of alice"), ("owner", "alice"), ("canary", "alice-only-7f3a")):
        example.set(name, given)
    if reads:
        example.set_lines("reads", reads)
    if lists or not reads:
        example.set("lists", lists[:1] or [{"tool": "list_records"}])
    asked.ask(
        "what belongs to one of them alone? Put a text into it that nobody else may ever receive, the canary, and name "
        "every way that leads to it. Do the same for bob, so that each can ask for what is the other's.",
        example,
    )
    return asked
