"""URI templates of resources (RFC 6570), as far as MCP servers use them."""

import re

__all__ = ["is_template", "matches", "template_variables"]

# `${…}` is a variable of the contract, not of the template.
_EXPRESSION = re.compile(r"(?<!\$)\{(?P<operator>[+#./;?&]?)(?P<variables>[A-Za-z0-9_.%,*:]+)\}")


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
