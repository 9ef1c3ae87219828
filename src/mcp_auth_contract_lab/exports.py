"""Exports that are kept under a handle, for whoever made them."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from mcp_auth_contract_lab.principal import Principal


@dataclass(frozen=True, slots=True)
class ExportRules:
    """Steps: whom an export serves, what it is called (by its number), and whether a use by anybody ends it."""

    serves: Callable[[Principal, Principal], bool] = Principal.same
    named: Callable[[int], str] = lambda _number: secrets.token_urlsafe(16)
    ended_by_use: bool = False
    ended_by_strangers: bool = False


@dataclass(slots=True)
class Exports:
    """The exports of one server."""

    rules: ExportRules = field(default_factory=ExportRules)
    _kept: dict[str, tuple[Principal, str]] = field(default_factory=dict)

    def keep(self, maker: Principal, text: str) -> str:
        """Keep an export, and return its handle."""
        handle = self.rules.named(len(self._kept) + 1)
        self._kept[handle] = (maker, text)
        return handle

    def find(self, caller: Principal, handle: str) -> str | None:
        """Return a kept export that serves the caller, or None: a foreign one looks like none."""
        maker, text = self._kept.get(handle, (None, ""))
        if maker is None:
            return None
        served = self.rules.serves(caller, maker)
        if (served and self.rules.ended_by_use) or (not served and self.rules.ended_by_strangers):
            # The place stays taken, so that numbers go on.
            self._kept[handle] = (Principal("", "", ""), "")
        return text if served else None
