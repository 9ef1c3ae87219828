"""Writing challenges, for tests of what reads them."""

import re

from mcp_auth_contract.oauth.challenge import Challenge
from mcp_auth_contract.oauth.challenge_syntax import TOKEN, shown


def format_challenge(challenge: Challenge) -> str:
    """Write a challenge with every value as a quoted string.

    Raises ValueError for what the grammar cannot carry: a scheme or name that is not a token, a value outside
    printable ASCII and tab, a token68 beside parameters.
    """
    if TOKEN.fullmatch(challenge.scheme) is None:
        raise ValueError(f"the scheme {shown(challenge.scheme)} is not a token")
    if challenge.token68 is not None:
        if challenge.params:
            raise ValueError("a challenge has either a token68 or parameters")
        if _TOKEN68.fullmatch(challenge.token68) is None:
            raise ValueError(f"the token68 of {challenge.scheme} has characters that a token68 cannot have")
        return f"{challenge.scheme} {challenge.token68}"
    params = ", ".join(_format_param(name, value) for name, value in challenge.params)
    return f"{challenge.scheme} {params}" if params else challenge.scheme


def _format_param(name: str, value: str) -> str:
    if TOKEN.fullmatch(name) is None:
        raise ValueError(f"the parameter name {shown(name)} is not a token")
    if _QUOTABLE.fullmatch(value) is None:
        raise ValueError(f"the value of {name} has characters that a quoted string cannot have")
    escaped = _TO_ESCAPE.sub(r"\\\g<0>", value)
    return f'{name}="{escaped}"'


_TOKEN68 = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_QUOTABLE = re.compile(r"[\t\x20-\x7e]*")
_TO_ESCAPE = re.compile(r'["\\]')
