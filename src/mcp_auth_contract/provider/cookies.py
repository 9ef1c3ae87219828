"""The cookies of one browser, as far as a login needs them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(slots=True)
class Jar:
    """Keeps cookies by host and path (RFC 6265); each goes back to the host that set it alone."""

    _kept: dict[tuple[str, str, str], str] = field(default_factory=dict, repr=False)

    def take(self, url: str, lines: Iterable[str]) -> None:
        """Take the Set-Cookie lines of an answer."""
        host = urlsplit(url).hostname or ""
        for line in lines:
            pair, *attributes = line.split(";")
            name, _, value = pair.strip().partition("=")
            told = {one.strip().partition("=")[0].lower(): one.strip().partition("=")[2] for one in attributes}
            key = (host, told.get("path") or "/", name)
            if told.get("max-age") == "0" or told.get("expires", "").find(" 1970 ") > 0 or not value:
                self._kept.pop(key, None)
            else:
                self._kept[key] = value

    def header(self, url: str) -> str:
        """Return the Cookie header for a URL, empty where there is none."""
        parts = urlsplit(url)
        path = parts.path or "/"
        return "; ".join(
            f"{name}={value}"
            for (host, below, name), value in self._kept.items()
            if host == parts.hostname and (path == below or path.startswith(below.rstrip("/") + "/"))
        )
