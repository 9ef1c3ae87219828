"""URI templates of resources (RFC 6570), as far as MCP servers use them."""

import re
from collections.abc import Mapping
from urllib.parse import quote

__all__ = ["expand", "is_template", "matches", "template_variables"]

# `${…}` is a variable of the contract, not of the template.
_EXPRESSION = re.compile(r"(?<!\$)\{(?P<operator>[+#./;?&]?)(?P<variables>[A-Za-z0-9_.%,*:]+)\}")


_RESERVED = ":/?#[]@!$&'()*+,;="

# RFC 6570 appendix A: what comes first, what separates, and whether the variable's name is written.
_FORMS = {
    "": ("", ",", False),
    "+": ("", ",", False),
    "#": ("#", ",", False),
    ".": (".", ".", False),
    "/": ("/", "/", False),
    ";": (";", ";", True),
    "?": ("?", "&", True),
    "&": ("&", "&", True),
}


def is_template(uri: str) -> bool:
    """Return whether a URI holds at least one template expression."""
    return _EXPRESSION.search(uri) is not None


def template_variables(template: str) -> tuple[str, ...]:
    """Return the variables of a template in order, each once, without modifiers."""
    names = (
        re.split(r"[*:]", variable)[0]
        for expression in _EXPRESSION.finditer(template)
        for variable in expression["variables"].split(",")
    )
    return tuple(dict.fromkeys(name for name in names if name))


def expand(template: str, values: Mapping[str, str]) -> str:
    """Return the URI that a template makes of text values (RFC 6570 section 3); one without a value is left out."""

    def filled(expression: re.Match[str]) -> str:
        operator = expression["operator"]
        first, separator, named = _FORMS[operator]
        parts = []
        for variable in expression["variables"].split(","):
            name, _, length = variable.removesuffix("*").partition(":")
            if name in values:
                text = _encoded(values[name][: int(length) if length.isdecimal() else None], operator)
                parts.append(f"{name}={text}" if named else text)
        return first + separator.join(parts) if parts else ""

    return _EXPRESSION.sub(filled, template)


def _encoded(text: str, operator: str) -> str:
    if "${" in text:
        return text  # a variable of the contract that has no value yet
    if operator in ("+", "#"):
        return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", quote(text, safe=_RESERVED + "%"))
    return quote(text, safe="")


def matches(template: str, uri: str) -> bool:
    """Return whether a template can make a URI.

    A plain variable stands for one path segment, one with `+` or `*` for several, a query expression for any query.
    """
    pattern, end = "", 0
    for expression in _EXPRESSION.finditer(template):
        pattern += re.escape(template[end : expression.start()]) + _pattern(expression)
        end = expression.end()
    return re.fullmatch(pattern + re.escape(template[end:]), uri) is not None


def _pattern(expression: re.Match[str]) -> str:
    variables = expression["variables"]
    match expression["operator"]:
        case "?":
            return r"(?:\?[^#]*)?"
        case "&":
            return r"(?:&[^#]*)?"
        case "+" | "#" | "/":
            return ".+"
        case "." | ";":
            return "[^/?#]*"
        case _:
            return ".+" if "*" in variables else "[^/?#]+"
