"""How a secret may be spelt where a server repeats it."""

import base64
import html
import json
import re
from urllib.parse import quote

# Shorter strings are words, numbers and the like: replacing them everywhere would garble every text.
SHORTEST = 8
KEY = 8
"""So many characters at the end of a spelling are what it is looked up by."""
_TAIL = 24
# What encoders leave as it is: nothing, a slash (Python), JavaScript's marks, a query's (RFC 3986 §3.4).
_UNQUOTED = ("", "/", "!'()*", "!$&'()*+,;=:@/?")


def spellings(secret: str) -> set[str]:
    """The texts by which a secret can be recognised, except Base64."""
    forms = {secret, secret.replace("/", "\\/")}
    for safe in _UNQUOTED:
        encoded = quote(secret, safe=safe, errors="replace")
        for form in (encoded, encoded.replace("%20", "+")):
            forms |= {form, re.sub(r"%[0-9A-F]{2}", lambda found: found.group().lower(), form)}
    for ensure_ascii in (True, False):
        escaped = json.dumps(secret, ensure_ascii=ensure_ascii)[1:-1]
        # A tool's result often carries JSON as a text, and so escapes it twice.
        forms |= {escaped, json.dumps(escaped, ensure_ascii=ensure_ascii)[1:-1]}
    marked = html.escape(secret)
    forms |= {html.escape(secret, quote=False), marked, marked.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")}
    first, *parts = secret.split(".")
    if len(parts) > 1:
        # Whatever stands before them, for servers repeat malformed tokens too; a header is no secret.
        forms.update(part for part in parts if len(part) >= 2 * SHORTEST and part != first)
    if not secret.isascii():
        # UTF-8 in a header field is Latin-1 to many servers, and is so repeated.
        forms |= {form.encode("utf-8", "surrogatepass").decode("latin-1") for form in tuple(forms)}
    return forms


def base64_tails(secret: str) -> set[str]:
    """The end of a secret in Base64, at each of the three offsets it can have, in both alphabets (RFC 4648 §4, §5)."""
    raw = secret.encode("utf-8", "surrogatepass")[-_TAIL:]
    tails: set[str] = set()
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + raw).decode("ascii").rstrip("=")
        # The characters at both ends also hold bits of what stands before and after.
        end = len(encoded) - (1 if (offset + len(raw)) % 3 else 0)
        inner = encoded[(0, 2, 3)[offset] : end]
        tails |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {tail for tail in tails if len(tail) > KEY}
