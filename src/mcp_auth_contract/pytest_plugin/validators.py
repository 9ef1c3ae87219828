"""The table of faulty tokens for tests of a token validator alone: a function from a token to whom it speaks for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.tokens import (
    DEFECTS,
    Algorithm,
    Identity,
    Minted,
    Role,
    TokenProfile,
    TokenSpec,
    good_token,
    mint_case,
    published_key,
)
from mcp_auth_contract.tokens.defects.defect import Expectation

_VERDICTS = {Expectation.ACCEPTED: True, Expectation.REFUSED: False}
_SOMEBODY = Identity(name="alice", subject="alice", tenant="t1", scopes=("read", "write"))


@dataclass(frozen=True, slots=True)
class TokenCase:
    """One token and what a right validator does with it.

    `accepted` is None where that is no validator's to decide: the specifications allow both, or the token is genuine
    and grants too little. `token` is minted anew each time, by the clock of now.
    """

    id: str
    sentence: str
    defect: str | None
    variant: str | None
    accepted: bool | None
    _profile: TokenProfile = field(repr=False)
    _identity: Identity = field(repr=False)
    _clock: Clock = field(repr=False)

    def minted(self) -> Minted:
        """Return the token with its header and claims."""
        return mint_case(_good(self._profile, self._identity, self._clock()), self.defect, self.variant)

    @property
    def token(self) -> str:
        """The token, as it stands behind `Bearer `."""
        return self.minted().token

    def check(self, validate: Callable[[str], object], refusals: type[Exception] | tuple[type[Exception], ...]) -> None:
        """Call the validator and see that it decides right.

        It accepts by returning whom the token speaks for, and refuses by raising one of `refusals` or returning None
        or False. Any other exception is a crash, and passes through.
        """
        __tracebackhide__ = True
        try:
            who = validate(self.token)
        except refusals as refusal:
            who, said = None, f"refused ({type(refusal).__name__}: {refusal})"
        else:
            said = "refused" if who is None or who is False else f"accepted as {who!r}"
        accepted = not (who is None or who is False)
        if self.accepted is not None and accepted is not self.accepted:
            expected = "accepted" if self.accepted else "refused"
            raise AssertionError(f"{self.id}: expected {expected}, observed {said}. {self.sentence}")


class TokenCases(Sequence[TokenCase]):
    """The cases of one profile; give `params` to `pytest.mark.parametrize`."""

    def __init__(self, cases: Sequence[TokenCase], profile: TokenProfile) -> None:
        self._cases = tuple(cases)
        self.profile = profile

    def __getitem__(self, index: int) -> TokenCase:  # type: ignore[override]  # slices are of no use here
        return self._cases[index]

    def __len__(self) -> int:
        return len(self._cases)

    @property
    def params(self) -> list[object]:
        """The cases as parameters with readable ids, as `expired[an_hour_ago]`."""
        return [pytest.param(case, id=case.id) for case in self._cases]

    def jwks(self) -> dict[str, object]:
        """Return the JWK set (RFC 7517) that the validator has to know: the issuer's keys, one for encryption too."""
        keys = [published_key(Role.ISSUER, alg).public_jwk() for alg in sorted(self.profile.algorithms)]
        encryption = published_key(Role.ENCRYPTION, Algorithm.RS256).public_jwk()
        return {"keys": [*map(dict, keys), {**encryption, "use": "enc", "alg": "RSA-OAEP-256"}]}


def token_cases(
    profile: TokenProfile | None = None,
    *,
    issuer: str = "https://issuer.example",
    audience: str = "https://mcp.example/mcp",
    identity: Identity = _SOMEBODY,
    undecided: bool = False,
    clock: Clock = system_clock,
) -> TokenCases:
    """Return every faulty token of the kit that differs for this profile, every legal oddity, and the good token.

    The tokens are signed with the published test keys, so that ids and keys are the same in every process; no server
    trusts them. `undecided` adds those about which a validator may decide either way, to be judged by other means.
    Raises UsageError for opaque tokens, which no validator can tell apart by itself.
    """
    read = profile or TokenProfile(issuer=issuer, audience=audience)
    if read.opaque:
        raise UsageError("token_cases: opaque tokens say nothing by themselves; use mcp_issuer and its introspection")
    cases = list(_cases(read, identity, clock))
    return TokenCases([case for case in cases if undecided or case.accepted is not None], read)


def _good(profile: TokenProfile, identity: Identity, now: float) -> TokenSpec:
    return good_token(profile, identity, published_key(Role.ISSUER, profile.algorithm), now)


def _cases(profile: TokenProfile, identity: Identity, clock: Clock) -> Iterator[TokenCase]:
    good = TokenCase("good", "The token is right.", None, None, True, profile, identity, clock)
    yield good
    spec = _good(profile, identity, clock())
    for name, defect in DEFECTS.items():
        for variant in defect.variants_for(spec, published_key):
            yield replace(
                good,
                id=f"{name}[{variant}]" if variant else name,
                sentence=defect.sentence,
                defect=name,
                variant=variant or None,
                accepted=_VERDICTS.get(defect.expectation),
            )
