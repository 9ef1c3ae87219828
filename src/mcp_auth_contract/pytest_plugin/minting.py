"""Access tokens for people's own tests: valid by default, with exactly one thing wrong on request."""

from collections.abc import Callable, Iterable, Mapping

from mcp_auth_contract.checks.minting import identity_of
from mcp_auth_contract.clock import Clock, system_clock
from mcp_auth_contract.contract import Contract
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.execution.issuer_control import Powers
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.suggest import suggest
from mcp_auth_contract.tokens import Identity, Minted, TokenProfile, good_token, mint_case

_SOMEBODY = "alice"


class Mint:
    """Mints the access tokens of one issuer; call it with whom a token is to speak for.

    `profile` says how the server reads a token. Without a contract there are no principals: give claims.
    """

    def __init__(
        self,
        issuer: EmbeddedIssuer,
        profile: TokenProfile,
        contract: Contract | None = None,
        *,
        clock: Clock = system_clock,
        listening: Callable[[str], str] | None = None,
    ) -> None:
        self.profile = profile
        self._issuer = issuer
        self._contract = contract
        self._clock = clock
        self._listening = listening

    def __call__(
        self,
        who: str | Mapping[str, object] | None = None,
        *,
        defect: str | None = None,
        variant: str | None = None,
        scopes: Iterable[str] | None = None,
    ) -> str:
        """Return a token that is valid for five minutes from now, or its faulty twin.

        `who` is a principal of the contract, by default its first one, or claims, which win over the standard ones;
        `scopes` replaces those of the principal. `defect` and `variant` are names as `mcp-auth-contract mint` takes
        them. Raises UsageError for an unknown name, with the nearest known one.
        """
        return self.minted(who, defect=defect, variant=variant, scopes=scopes).token

    def minted(
        self,
        who: str | Mapping[str, object] | None = None,
        *,
        defect: str | None = None,
        variant: str | None = None,
        scopes: Iterable[str] | None = None,
    ) -> Minted:
        """Return the token with what is wrong with it, its header and its claims."""
        identity = self._identity(who)
        key = self._issuer.signing_key(self.profile.algorithm)
        given = None if scopes is None else tuple(scopes)
        spec = good_token(self.profile, identity, key, self._clock(), scopes=given)
        heard = {} if self._listening is None else {"listening": self._listening}
        minted = mint_case(spec, defect, variant, keys=self._issuer.key_of, **heard)
        if minted.told is not None:
            Powers(self._issuer).register(minted.token, minted.told, minted.answered)
        return minted

    def _identity(self, who: str | Mapping[str, object] | None) -> Identity:
        if isinstance(who, Mapping):
            subject = who.get(self.profile.subject_claim, _SOMEBODY)
            return Identity(name="claims", subject=str(subject), claims=who)
        known = {} if self._contract is None else self._contract.principals
        if who is None and known:
            who = next(iter(known))
        if who in known and who is not None:
            return identity_of(who, known[who])
        if self._contract is not None:
            raise UsageError(f'mint: the contract has no principal "{who}"; {suggest(who or "", known)}')
        if who is None:
            return Identity(name=_SOMEBODY, subject=_SOMEBODY)
        return Identity(name=who, subject=who)
