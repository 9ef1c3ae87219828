"""A draft as the text of a contract: commented, valid, and with a mark at everything that somebody has to answer."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from mcp_auth_contract import __version__
from mcp_auth_contract.drafting.draft import Draft
from mcp_auth_contract.drafting.operations import cursors, prompts, records, resources, tools
from mcp_auth_contract.drafting.seen import KIT, Place
from mcp_auth_contract.drafting.toml import comment, key, question, quoted, server_text, shown
from mcp_auth_contract.oauth.metadata import Difference, difference

__all__ = ["provisional", "questions_in", "render"]

_KIT_ENV = 'env = { ISSUER = "${issuer.url}", JWKS_URI = "${issuer.jwks_uri}", RESOURCE = "${target.resource}" }'
_WORDS = {"tools": "tools", "resources": "resources", "templates": "resource templates", "prompts": "prompts"}


def render(draft: Draft) -> str:
    """Return the contract's text. A line that begins with `# ? ` is a question to its author."""
    parts = (
        _head(draft),
        _target(draft),
        _issuer(draft),
        _claims(draft),
        _policy(draft),
        _principals(draft),
        tools(draft),
        resources(draft),
        prompts(draft),
        records(draft),
        cursors(draft),
    )
    sections = ("\n".join(lines) for lines in map(list, parts) if lines)
    return "\n\n".join(sections) + "\n"


def questions_in(text: str) -> int:
    """Return how many questions a drafted text asks."""
    return sum(line.startswith("# ? ") for line in text.splitlines())


def provisional(place: Place) -> str:
    """Return the least contract of a server at a place, by which it can be reached and a token be minted for it."""
    target = [*_place(place), "authorized = true"]
    issuer = ["[issuer]", *_issuer_keys(place)]
    return "\n".join(
        [
            "[target]",
            *target,
            *issuer,
            '[principals.alice]\nsubject = "alice"\ntenant = "t1"\n[[tools]]\nname = "tools/list"\n',
        ]
    )


def _head(draft: Draft) -> Iterator[str]:
    seen = draft.seen
    called = f"{shown(seen.name)} {shown(seen.version or '', 30)}".rstrip() if seen.name else "an MCP server"
    yield from comment(f"The authentication contract of {called}, drafted by `mcp-auth-contract init` {__version__}.")
    yield from comment(
        'What the server shows of itself is filled in. What only you can know is a question, marked "# ?": answer it, '
        "then remove the mark. `mcp-auth-contract plan` shows what a run would ask, and sends nothing."
    )
    open_lists = [_WORDS[kind] for kind, listed in seen.lists.items() if listed.open]
    token_lists = [_WORDS[kind] for kind, listed in seen.lists.items() if not listed.open and listed.entries]
    if open_lists:
        yield from comment(f"Listed without a token: {', '.join(open_lists)}.")
    if token_lists:
        giver = KIT if seen.token_from == KIT else f"${seen.token_from}"
        yield from comment(f"Listed with a token of {giver}: {', '.join(token_lists)}.")
    if seen.token_said:
        yield from comment(f"The token was refused: {shown(seen.token_said)}.")
    if closed := [_WORDS[kind] for kind in seen.closed]:
        said = seen.lists[seen.closed[0]].said
        yield from comment(f"Not shown to `init`: {', '.join(closed)} ({shown(said)}). {how_to_see_more(draft)}")
    if draft.left_out:
        yield from comment(f"Left out: {'; '.join(draft.left_out)}.")


def how_to_see_more(draft: Draft) -> str:
    """Say by what options another `init` would see the lists that this one did not."""
    seen = draft.seen
    if seen.token_from == KIT:
        return "See that the server trusts the issuer that --env names, then draft again into another file."
    genuine = "`init --token-env NAME` with an access token of the server in the environment variable NAME"
    if seen.place.app is not None or seen.place.start:
        return (
            "To see more, draft again into another file with --env, once for each setting by which the server learns "
            "whom to trust, as in --env 'ISSUER=${issuer.url}' --env 'JWKS_URI=${issuer.jwks_uri}' "
            f"--env 'RESOURCE=${{target.resource}}'; or with {genuine}."
        )
    return (
        f"To see more, draft again into another file with {genuine}; or let the server trust the issuer that "
        "`mcp-auth-contract serve` runs, and take the token from `mcp-auth-contract mint`."
    )


def _place(place: Place) -> Iterator[str]:
    if place.app is not None:
        yield f"app = {quoted(place.app)}"
    if place.url is not None:
        yield f"url = {quoted(place.url)}"
    if place.start:
        yield f"start = [{', '.join(map(quoted, place.start))}]"
    if place.env:
        members = (f"{key(name)} = {quoted(value)}" for name, value in place.env.items())
        yield f"env = {{ {', '.join(members)} }}"


def _target(draft: Draft) -> Iterator[str]:
    seen, place = draft.seen, draft.seen.place
    yield "[target]"
    yield from _place(place)
    if (place.app is not None or place.start) and not place.env:
        yield from question("by which environment variables does the server learn whom to trust?", [_KIT_ENV])
    if draft.authorized is not None:
        if not draft.authorized:
            yield from question(
                "may you test this server? It is not on this machine, and a run sends it many faulty requests. "
                "If you may, write true."
            )
        yield f"authorized = {'true' if draft.authorized else 'false'}"
    yield from _resource(draft)
    if seen.revisions:
        yield from comment("As the server negotiates them; the first one is tested fully.")
        yield f"revisions = [{', '.join(quoted(revision) for revision in seen.revisions)}]"


def _resource(draft: Draft) -> Iterator[str]:
    """Yield the audience, where the metadata calls the server otherwise than its URL does."""
    seen = draft.seen
    if seen.resource is None or difference(seen.endpoint, seen.resource) is Difference.NONE:
        return
    yield from question(
        "is this the audience that tokens must carry? The server's metadata names it, and it is not the URL. If it is "
        "not, remove the line, and a run will tell what is wrong with the metadata."
    )
    written = server_text(seen.resource)
    port = urlsplit(seen.endpoint).port
    if port is not None and seen.place.url is not None and ":0/" in f"{seen.place.url}/":
        written = written.replace(f":{port}", ":${target.port}")
    yield f"resource = {written}"


def _issuer_keys(place: Place) -> Iterator[str]:
    if "${issuer.introspection_uri}" in place.told:
        yield 'tokens = "opaque"'
    if "${issuer.ca_file}" in place.told:
        yield "tls = true"


def _issuer(draft: Draft) -> Iterator[str]:
    seen, shape = draft.seen, draft.seen.shape
    yield "[issuer]"
    yield from comment("The kit's own authorization server, which the server has to trust for the time of a run.")
    if seen.issuers and not seen.place.trusts_the_kit:
        names = ", ".join(shown(issuer, 80) for issuer in seen.issuers[:5])
        yield from comment(f"Now it trusts: {names}.")
    if seen.place.app is None and not seen.place.start:
        yield from question(
            "can the server be told to trust it? Then fix the port, run `mcp-auth-contract serve`, and configure the "
            "server with what that prints. Else run with `--token-env NAME` and a genuine token.",
            ["port = 9000"],
        )
    yield from _issuer_keys(seen.place)
    if shape is not None and shape.opaque:
        yield from comment("As your token is.")
        yield 'tokens = "opaque"'
    elif shape is not None and shape.algorithm is not None:
        yield from comment("As your token is signed.")
        yield f"algorithms = [{quoted(shape.algorithm)}]"


def _claims(draft: Draft) -> Iterator[str]:
    shape = draft.seen.shape
    yield "[claims]"
    for name, value in () if shape is None else _shape_keys(draft):
        yield f"{name} = {server_text(value)}"
    yield from question(
        "which claims must every token carry, besides iss, aud and exp? Their absence is tested then.",
        ['required = ["sub", "tenant_id"]'],
    )


def _shape_keys(draft: Draft) -> Iterator[tuple[str, str]]:
    shape = draft.seen.shape
    if shape is None:
        return
    named = (("scope", shape.scope), ("client", shape.client), ("tenant", shape.tenant), ("typ", shape.typ))
    for name, value in named:
        if value is not None:
            yield name, value
    if shape.scope_list:
        yield "scope_format", "list"


def _policy(draft: Draft) -> Iterator[str]:
    seen = draft.seen
    yield "[policy]"
    if seen.public:
        yield from comment("Answered without a token. Remove what should not be, and a run will tell.")
        yield f"public = [{', '.join(map(quoted, seen.public))}]"
    if seen.challenge == "tool":
        yield from question('does it refuse by HTTP status elsewhere? Then write "either".')
        yield 'challenge = "tool"'
    elif seen.challenge is not None:
        yield from comment("As a call without a token was refused.")
        yield f"challenge = {quoted(seen.challenge)}"
    else:
        yield from question(
            'how is a call refused: by HTTP status ("http"), by a result with a challenge ("tool"), or "either"?',
            ['challenge = "http"'],
        )
    yield from question("how many seconds of clock skew does it allow at exp and nbf?", ["leeway = 60"])
    if len(draft.scopes) > 1:
        wide, narrow = (server_text(scope) for scope in (draft.scopes[1], draft.scopes[0]))
        yield from question("does one scope contain another?", [f"implies = {{ {wide} = [{narrow}] }}"])
    yield from question("may a run call the tools that write?", ["writes = true"])


def _principals(draft: Draft) -> Iterator[str]:
    if not all(one.answered for one in draft.principals):
        yield from question(
            "whom does the server know? Write subjects that it has data for, and the tenant claim if it has tenants. "
            "Two who must not see each other's data are the least that isolation can be tested with."
        )
    if draft.scopes:
        yield from comment(f"The scopes are those that {draft.seen.scopes_from or 'the tools need'}.")
    else:
        yield from question("which scopes may they be given at most?", ['scopes = ["records:read"]'])
    for number, one in enumerate(draft.principals):
        if number:
            yield ""
        yield f"[principals.{key(one.name)}]"
        yield f"subject = {quoted(one.subject)}"
        if one.tenant is not None:
            yield f"tenant = {quoted(one.tenant)}"
        if draft.scopes:
            yield f"scopes = {_list(draft.scopes)}"


def _list(words: Sequence[str]) -> str:
    return f"[{', '.join(map(server_text, words))}]"
