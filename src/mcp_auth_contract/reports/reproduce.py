"""A command line that repeats the decisive request of a failure, its token replaced by a call of `mint`."""

import shlex
from collections.abc import Mapping

from mcp_auth_contract.answers import Accepted
from mcp_auth_contract.checks.minting import Holder
from mcp_auth_contract.checks.observing import Observation
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.wire import Evidence
from mcp_auth_contract.wire.evidence import Exchange

_LEFT_OUT = frozenset({"host", "content-length", "accept-encoding", "user-agent"})


def reproduction(
    observation: Observation,
    evidence: Evidence,
    contract: str,
    holders: Mapping[str, Holder],
    variable: str | None = None,
    *,
    minting: bool = True,
) -> str | None:
    """Return a `curl` command for the exchange that decided a case, or None where no command can repeat it.

    `holders` says by its label what each token was minted with. One that `mint` cannot make, of a timeline for example,
    has no command, nor has a request within a session, for that ended with the run. `variable` is the environment
    variable of a run's genuine token, which stands for it as `$NAME`; no command can make its tampered twins anew.
    `minting` says whether `mint` has the keys that the run had.
    """
    exchange_id = _decisive(observation)
    exchange = evidence.get(exchange_id) if exchange_id else None
    if exchange is None or any(name.lower() == "mcp-session-id" for name, _ in exchange.request_headers):
        return None
    labels = [label for text in _texts(exchange) for label in _labels(text)]
    # The built-in sample and anonymous probes have no file to mint from.
    if labels and variable is None and (not minting or contract.startswith("(")):
        return None
    if variable is None:
        calls = {label: _mint(holders[label], contract) for label in labels if label in holders}
    else:
        calls = {label: f"${variable}" for label in labels if _is_genuine(label)}
    if any(label not in calls for label in labels):
        return None
    words = ["curl", "-i", "-X", exchange.method]
    for name, value in exchange.request_headers:
        if name.lower() in _LEFT_OUT:
            continue
        words += ["-H", _with_calls(f"{name}: {value}", calls)]
    if exchange.request_body:
        words += ["--data-raw", _with_calls(exchange.request_body, calls)]
    words.append(_with_calls(exchange.url, calls))
    return " ".join(word if word.startswith('"') else shlex.quote(word) for word in words)


def _texts(exchange: Exchange) -> tuple[str, ...]:
    return (exchange.url, exchange.request_body or "", *(value for _, value in exchange.request_headers))


def _decisive(observation: Observation) -> str | None:
    if isinstance(observation, CallObserved) and observation.attempts:
        attempt = observation.accepted or next(
            (one for one in observation.attempts if not isinstance(one.reading, Accepted)), observation.attempts[0]
        )
        return attempt.answer.exchange or None
    return next((answer.exchange for answer in observation.answers if answer.exchange), None)


def _with_calls(text: str, calls: Mapping[str, str]) -> str:
    """Put a `mint` call or a variable where a token was; the text then stands in double quotes, for the shell."""
    if not any(label in text for label in calls):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`").replace("$", "\\$")
    for label, call in calls.items():
        quoted = quoted.replace(label, call)
    return f'"{quoted}"'


def _labels(text: str) -> list[str]:
    words = text.replace('"', " ").replace("=", " ").replace(",", " ").replace("%20", " ").split()
    return [word for word in dict.fromkeys(words) if word.startswith("token-") and "#" in word]


def _is_genuine(label: str) -> bool:
    return label.startswith("token-genuine#")


def _mint(holder: Holder, contract: str) -> str:
    words = ["mcp-auth-contract", "mint", shlex.quote(contract), shlex.quote(holder.principal)]
    if holder.defect is not None:
        words += ["--defect", holder.defect]
    if holder.variant:
        words += ["--variant", holder.variant]
    if holder.scopes is not None:
        words += [f"--scope {shlex.quote(scope)}" for scope in sorted(holder.scopes)] or ["--no-scope"]
    return f"$({' '.join(words)})"
