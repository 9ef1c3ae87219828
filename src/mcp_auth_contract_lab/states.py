"""The state of a request that asks for input: a sealed text, for one caller, one request and a short time."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract_lab.principal import Principal

_GOOD_FOR_S = 300


@dataclass(frozen=True, slots=True)
class StateRules:
    """Steps: which parts of a state are sealed, and what is asked of one that comes back.

    `sealed` picks what the seal covers, `verified` compares the seal that came (None: there is none) with the right
    one, `serves` says whom a state serves, `names` what of a request it is for, and `acting` who acts when it is used
    (the caller, or who it was given to). `once` forbids to use a state twice,
    `demanded` to call what asks with a client that cannot be asked.
    """

    sealed: Callable[[Mapping[str, Any]], object] = lambda payload: payload
    verified: Callable[[str | None, str], bool] = lambda given, right: (
        given is not None and hmac.compare_digest(given.encode(), right.encode())
    )
    serves: Callable[[Principal, Principal], bool] = Principal.same
    names: Callable[[str, Mapping[str, Any]], object] = lambda tool, arguments: [tool, arguments]
    acting: Callable[[Principal, Principal], Principal] = lambda caller, _given_to: caller
    once: bool = False
    demanded: bool = False


@dataclass(slots=True)
class States:
    """The states that one server gives out; it keeps none of them, but the ones used where each is good once."""

    rules: StateRules = field(default_factory=StateRules)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _used: set[str] = field(default_factory=set)

    def give(self, principal: Principal, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the state of a request."""
        payload = {
            "for": list(principal.key),
            "request": self._digest(tool, arguments),
            "until": int(time.time()) + _GOOD_FOR_S,
            "nonce": secrets.token_hex(8),
        }
        text = json.dumps(payload, separators=(",", ":")).encode()
        return f"{base64.urlsafe_b64encode(text).decode().rstrip('=')}.{self._seal(payload)}"

    def take(self, caller: Principal, tool: str, arguments: Mapping[str, Any], state: object) -> Principal | None:
        """Return who acts with a state that came back, or None for one that is not good for this request."""
        if not isinstance(state, str) or not state.isascii():
            return None
        body, stop, seal = state.partition(".")
        try:
            payload = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            subject, tenant, client = payload["for"]
            until, request = float(payload["until"]), payload["request"]
        except (ValueError, TypeError, KeyError):
            return None
        given_to = Principal(str(subject), str(tenant), str(client))
        good = (
            self.rules.verified(seal if stop else None, self._seal(payload))
            and self.rules.serves(caller, given_to)
            and request == self._digest(tool, arguments)
            and time.time() < until
            and state not in self._used
        )
        if not good:
            return None
        if self.rules.once:
            self._used.add(state)
        return self.rules.acting(caller, given_to)

    def _seal(self, payload: Mapping[str, Any]) -> str:
        text = json.dumps(self.rules.sealed(payload), sort_keys=True, separators=(",", ":")).encode()
        return hmac.new(self._secret, text, "sha256").hexdigest()

    def _digest(self, tool: str, arguments: Mapping[str, Any]) -> str:
        named = json.dumps(self.rules.names(tool, arguments), sort_keys=True).encode()
        return hashlib.sha256(named).hexdigest()
