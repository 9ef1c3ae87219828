"""Where a list that comes page by page is given up, for every list that is read."""

from dataclasses import dataclass, field

from mcp_auth_contract.clock import stopwatch

_MOST_PAGES = 1000
_MOST_ENTRIES = 100_000
_MOST_SECONDS = 60.0
_PAGES_OF_THE_ENDLESS = 20


@dataclass(slots=True)
class Paging:
    """The lists of one run. One that had no end within the limits is not read that far a second time."""

    endless: set[str] = field(default_factory=set)

    def begin(self, name: str) -> "Pages":
        """Return the limits for a list that is about to be read."""
        return Pages(self, name)


@dataclass(slots=True)
class Pages:
    """The pages of one list, read so far."""

    paging: Paging
    name: str
    _seen: set[object] = field(default_factory=set)
    _pages: int = 0
    _entries: int = 0
    _begun: float = field(default_factory=stopwatch)

    def stop(self, cursor: object, entries: int = 0) -> str | None:
        """Count a page with that many entries; return why the one behind `cursor` is not read, None where it is."""
        self._pages += 1
        self._entries += entries
        if cursor in self._seen:
            return f"page {self._pages} leads back to a page that was read already, so the list has no end"
        self._seen.add(cursor)
        limit = _PAGES_OF_THE_ENDLESS if self.name in self.paging.endless else _MOST_PAGES
        took = stopwatch() - self._begun
        if self._pages < limit and self._entries < _MOST_ENTRIES and took < _MOST_SECONDS:
            return None
        self.paging.endless.add(self.name)
        return (
            f"the list goes on behind page {self._pages}, where reading stopped "
            f"({limit:,} pages, {_MOST_ENTRIES:,} entries or {_MOST_SECONDS:g} s are read at most)"
        )
