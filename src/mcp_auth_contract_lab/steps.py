"""Steps that several faults share: one condition added to a step of the verification, another answer, other callers."""

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from jwt import PyJWK
from starlette.responses import Response

from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.credentials import Identity, Presented, Source, present
from mcp_auth_contract_lab.fault import Change, changing, with_memory
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.jose import CompactJws, parse_compact
from mcp_auth_contract_lab.keyring import usable
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import HttpRefused, InvalidToken
from mcp_auth_contract_lab.scopes import SCOPES_SUPPORTED
from mcp_auth_contract_lab.verification import SOUND, Trust, published_keys, signature_verified

When: TypeAlias = Callable[..., bool]
"""A condition on the arguments of a step."""
Message: TypeAlias = Mapping[str, Any]
Edit: TypeAlias = Callable[[Incoming, Response], Awaitable[Response]]
"""Makes another answer of one, or returns it as it is."""
Secrets: TypeAlias = Callable[[CompactJws, Sequence[PyJWK]], Iterable[bytes]]

DEFAULT_USER = Principal("alice", "t1", "default", frozenset(SCOPES_SUPPORTED))
"""The first user of the first tenant, with every scope: what a careless fallback usually is."""

_DIGESTS: Mapping[str, str] = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}

verifying = partial(changing, "verification")
"""Returns the change that replaces steps of the verification."""
intercepting = partial(changing, "endpoint")
"""Returns the change that replaces steps before the authentication."""


def always(*_given: object) -> bool:
    """Whatever it is."""
    return True


def broken() -> HttpRefused:
    """Return the answer of a server in which an error escaped from the token check."""
    return HttpRefused(500, "internal error")


def fails(read: Callable[..., object], *errors: type[Exception]) -> When:
    """Return the condition that something cannot be read."""

    def failing(*given: Any) -> bool:
        try:
            read(*given)
        except errors:
            return True
        return False

    return failing


def accepting(step: str) -> Callable[[When], Change]:
    """Skip a step of the verification where the condition holds."""
    return lambda when: verifying(**{step: _skipping(step, when)})


def _skipping(step: str, when: When) -> Callable[..., Any]:
    sound = getattr(SOUND, step)
    return lambda *given: None if when(*given) else sound(*given)


def refusing(step: str) -> Callable[[When], Change]:
    """Refuse in a step of the verification where the condition holds, besides what is refused rightly."""
    return _raising(step, lambda: InvalidToken("the token is not accepted"), after=False)


def breaking(step: str, *, after: bool = False) -> Callable[[When], Change]:
    """Break down in a step of the verification where the condition holds, or after the step has been taken soundly."""
    return _raising(step, broken, after=after)


def _raising(step: str, refusal: Callable[[], Exception], *, after: bool) -> Callable[[When], Change]:
    sound = getattr(SOUND, step)

    def change(when: When) -> Change:
        def changed(*given: Any) -> Any:
            result = sound(*given) if after else None
            if when(*given):
                raise refusal()
            return result if after else sound(*given)

        return verifying(**{step: changed})

    return change


def remembering(step: str, key: Callable[[Any], object]) -> Change:
    """Skip a step of the verification for what has passed it before, by a key of its first argument."""

    def changed(seen: dict[object, bool], token: Any, context: Any) -> None:
        if key(token) not in seen:
            getattr(SOUND, step)(token, context)
            seen[key(token)] = True

    return with_memory(lambda changed: verifying(**{step: changed}))(changed)


def breaking_over(when: Callable[[CompactJws], bool]) -> Change:
    """Break down over some well-formed tokens, before anything is verified."""

    def parse(token: str) -> CompactJws:
        jws = parse_compact(token)
        if when(jws):
            raise broken()
        return jws

    return verifying(parse=parse)


def allowing(named: Callable[[object], bool]) -> Callable[..., None]:
    """Return the algorithm step that lets other names pass, too."""
    return _skipping("algorithm", lambda header, _trust: named(header.get("alg")))


def unless(exempt: When) -> Callable[..., None]:
    """Return the signature step that does not verify the tokens that `exempt` picks."""
    return _skipping("signature", exempt)


async def members_of(kid: object, trust: Trust) -> Sequence[Mapping[str, Any]]:
    """Return the published keys of a kid, whatever they are published for."""
    return [jwk for jwk in (await trust.keys.knowing(kid)).members if jwk.get("kid") == kid]


async def keys_of_kid(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """Return the signing keys of the token's kid, each for its own algorithm whatever the header says."""
    members = await members_of(token.header.get("kid"), trust)
    return [key for jwk in members if (key := usable(jwk, jwk.get("alg", ""))) is not None]


def hmac_keyed(secrets: Secrets) -> Change:
    """Allow HMAC, with the secrets that the public keys of the kid lead to."""

    async def keys(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
        return await (keys_of_kid if str(token.header.get("alg")) in _DIGESTS else published_keys)(token, trust)

    def signature(token: CompactJws, keys: Sequence[PyJWK]) -> None:
        digest = _DIGESTS.get(str(token.header.get("alg")))
        if digest is None:
            signature_verified(token, keys)
            return
        made = (hmac.digest(secret, token.signing_input, digest) for secret in secrets(token, keys))
        if not any(hmac.compare_digest(one, token.signature) for one in made):
            raise InvalidToken("the signature does not verify")

    return verifying(algorithm=allowing(lambda named: str(named) in _DIGESTS), keys=keys, signature=signature)


def edited(edit: Edit) -> Change:
    """Change what the endpoint answers, after it has answered soundly."""

    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        if not lab.behaviour.endpoint.matches(incoming.path) or incoming.header("origin") is not None:
            return None
        return await edit(incoming, await lab.guarded(incoming))

    return intercepting(intercept=intercept)


def replacing(when: Callable[[Incoming, Response], bool], make: Callable[[Incoming, Response], Response]) -> Change:
    """Give another answer where the condition holds."""

    async def edit(incoming: Incoming, response: Response) -> Response:
        return make(incoming, response) if when(incoming, response) else response

    return edited(edit)


def replying(
    when: Callable[[Incoming, Message, Response], bool], make: Callable[[Message, Response], Response]
) -> Change:
    """Give another answer where the condition holds, also of the message: what `Incoming.posted` returns."""

    async def edit(incoming: Incoming, response: Response) -> Response:
        message = await incoming.posted()
        return make(message, response) if when(incoming, message, response) else response

    return edited(edit)


def adding(name: str, value: str | Callable[[Incoming], str], when: Callable[[Incoming, Response], bool]) -> Change:
    """Set a header field of the answer where the condition holds."""

    def add(incoming: Incoming, response: Response) -> Response:
        response.headers[name] = value if isinstance(value, str) else value(incoming)
        return response

    return replacing(when, add)


def sources(*tried: Source) -> Change:
    """Take tokens from these places, in this order."""
    return changing("credentials", sources=tried)


def vouched(vouching: Identity) -> Change:
    """Let this step vouch for callers, before a token is looked for."""
    return changing("credentials", identities=(vouching,))


async def verified(lab: Lab, incoming: Incoming) -> Principal | None:
    """Return whom the token names, None where there is no token; raises what the sound step does."""
    match await present(incoming, lab.behaviour.credentials):
        case Presented(token):
            return await lab.principal_of(token)
        case _:
            return None
