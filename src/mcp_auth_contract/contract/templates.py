"""URI templates of resources (RFC 6570), with text values, beside variables of the contract."""

import re
from collections.abc import Mapping
from urllib.parse import quote

import uritemplate

_RESERVED = ":/?#[]@!$&'()*+,;="
_VARIABLE = r"[A-Za-z0-9_%]+(?:\.[A-Za-z0-9_%]+)*(?::[1-9][0-9]{0,3}|\*)?"
# `${…}` is a variable of the contract, not of the template.
_EXPRESSION = re.compile(rf"(?<!\$)\{{(?P<operator>[+#./;?&]?){_VARIABLE}(?:,{_VARIABLE})*\}}")
# What the text of an expression may be, by its operator; a plain variable has none.
_MADE = {"?": r"(?:\?[^#]*)?", "&": "(?:&[^#]*)?", "+": ".+", "#": ".+", "/": ".+", ".": "[^/?#]*", ";": "[^/?#]*"}


def template_variables(template: str) -> tuple[str, ...]:
    """Return the variables of a template in order, each once, without modifiers."""
    found = (name for one in _EXPRESSION.finditer(template) for name in uritemplate.variables(one[0]))
    return tuple(dict.fromkeys(found))


def expand(template: str, values: Mapping[str, str]) -> str:
    """Return the URI that a template makes of text values (RFC 6570 section 3); one without a value is left out.

    A variable of the contract that has no value yet stays as it is written.
    """
    pending = [text for text in values.values() if "${" in text]

    def filled(expression: re.Match[str]) -> str:
        uri = uritemplate.expand(expression[0], dict(values))
        for text in pending:
            uri = uri.replace(quote(text, safe=""), text).replace(quote(text, safe=_RESERVED), text)
        # uritemplate leaves a value of {+…} and {#…} alone as soon as anything in it is encoded.
        return uri if pending else re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", quote(uri, safe=_RESERVED + "%"))

    return _EXPRESSION.sub(filled, template)


def matches(template: str, uri: str) -> bool:
    """Return whether a template can make a URI.

    A plain variable stands for one path segment, one with `+` or `*` for several, a query expression for any query.
    """
    pattern, end = "", 0
    for expression in _EXPRESSION.finditer(template):
        made = _MADE.get(expression["operator"]) or (".+" if "*" in expression[0] else "[^/?#]+")
        pattern += re.escape(template[end : expression.start()]) + made
        end = expression.end()
    return re.fullmatch(pattern + re.escape(template[end:]), uri) is not None
