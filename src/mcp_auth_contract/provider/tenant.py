"""The tenant that a run is about: the sound login that every other question is measured by, asked for once."""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from mcp_auth_contract.answers.authorization import Ending, How, Issued
from mcp_auth_contract.contract import Provider
from mcp_auth_contract.provider.client import AuthorizationServerClient, Client, Verifier, client_of, other_client_of

STATE = "Zx9+/=%&\u00e4"
"""What a state may hold, without its random part."""


@dataclass(frozen=True, slots=True)
class Flow:
    """One authorization request as it was sent, where it ended, and what its code was exchanged for, if it was."""

    sent: Mapping[str, str]
    verifier: Verifier
    ending: Ending
    issued: Issued | None = None

    @property
    def why_no_code(self) -> str:
        """Why there is no code, empty where there is one."""
        return "" if self.ending.code else f"the sound authorization request ended with {self.ending.said}"

    @property
    def why_no_token(self) -> str:
        """Why there is no token, empty where there is one."""
        if self.issued is not None and self.issued.token:
            return ""
        if self.issued is None:
            return self.why_no_code
        said = f'error "{self.issued.error}"' if self.issued.error else "no access_token"
        return f"the sound token request got {self.issued.answer.status} with {said}"


@dataclass(slots=True)
class Tenant:
    """An authorization server, and what the contract says about it."""

    http: AuthorizationServerClient
    _sound: "asyncio.Task[Flow] | None" = None

    @property
    def provider(self) -> Provider:
        """What the contract says."""
        return self.http.provider

    @property
    def client(self) -> Client:
        """The client that the kit acts as."""
        return client_of(self.provider)

    @property
    def other_client(self) -> Client | None:
        """A second client, if the contract names one."""
        return other_client_of(self.provider)

    async def sound(self) -> Flow:
        """Return the sound flow, made once; a failed one is not made again."""
        if self._sound is None:
            self._sound = asyncio.create_task(self.flow(note="the sound flow"))
        return await asyncio.shield(self._sound)

    async def code(self, *, note: str = "", **changes: str | None) -> Flow:
        """Make an authorization request, with some parameters changed (None: left out)."""
        verifier = self.http.verifier()
        sent = self.http.request(verifier, secrets.token_urlsafe(16) + STATE)
        for name, value in changes.items():
            if value is None:
                sent.pop(name, None)
            else:
                sent[name] = value
        ending = await self.http.authorize(list(sent.items()), note=note)
        return Flow(sent, verifier, ending)

    def exchange(self, flow: Flow, **changes: str | None) -> dict[str, str]:
        """Return the sound token request for a code, with some parameters changed (None: left out)."""
        form: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "code": flow.ending.code,
            "redirect_uri": flow.sent["redirect_uri"],
            "code_verifier": flow.verifier.text,
            "resource": flow.sent.get("resource"),
            **changes,
        }
        return {name: value for name, value in form.items() if value is not None}

    async def flow(self, *, note: str = "", **changes: str | None) -> Flow:
        """Make an authorization request, and exchange its code."""
        flow = await self.code(note=note, **changes)
        if flow.ending.how is not How.REDIRECT or not flow.ending.code:
            return flow
        issued = await self.http.token(self.exchange(flow), self.client, note=note)
        return Flow(flow.sent, flow.verifier, flow.ending, issued)

    async def refresh(self, token: str, client: Client | None = None, *, note: str = "", **more: str) -> Issued:
        """Use a refresh token."""
        form = {"grant_type": "refresh_token", "refresh_token": token, **more}
        return await self.http.token(form, client or self.client, note=note)

    async def close(self) -> None:
        """End what is still under way."""
        if self._sound is not None and not self._sound.done():
            self._sound.cancel()
            await asyncio.gather(self._sound, return_exceptions=True)
