"""The forms of an HTML page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

_PRESSED = frozenset({"submit", "image"})
_TICKED = frozenset({"checkbox", "radio"})


@dataclass(slots=True)
class Form:
    """One form as a browser would send it. `fields` has no buttons; `buttons` are those that have a name, in order."""

    action: str = ""
    method: str = "get"
    fields: dict[str, str] = field(default_factory=dict, repr=False)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    asks_password: bool = False

    def filled(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return what is sent when these fields are filled in, and the first button is pressed unless they name one."""
        pressed = {}
        if self.buttons and not any(name in values for name, _ in self.buttons):
            pressed = dict(self.buttons[:1])
        return {**self.fields, **pressed, **values}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._open: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(given.get("action", ""), given.get("method", "get").lower())
            self.forms.append(self._open)
        elif self._open is not None and tag in ("input", "button", "select", "textarea"):
            _add(self._open, tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None


def _add(form: Form, tag: str, given: Mapping[str, str]) -> None:
    kind = given.get("type", "submit" if tag == "button" else "text").lower()
    form.asks_password |= kind == "password"
    name = given.get("name")
    if not name or (kind in _TICKED and "checked" not in given):
        return
    if kind in _PRESSED:
        form.buttons.append((name, given.get("value", "")))
    elif kind != "button":
        form.fields[name] = given.get("value", "on" if kind in _TICKED else "")


def forms_in(text: str) -> tuple[Form, ...]:
    """Return the forms of a page, in order."""
    reader = _Reader()
    reader.feed(text)
    return tuple(reader.forms)
