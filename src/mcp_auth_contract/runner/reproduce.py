"""A command line that repeats the decisive request of a failure, its token replaced by a call of `mint`."""

import shlex

from mcp_auth_contract.observations import Accepted, CallObserved, Observation
from mcp_auth_contract.plan import Case
from mcp_auth_contract.probes import answers_of
from mcp_auth_contract.wire import Evidence
from mcp_auth_contract.wire.evidence import Exchange

__all__ = ["reproduction"]

_LEFT_OUT = frozenset({"host", "content-length", "accept-encoding", "user-agent"})


def reproduction(
    case: Case, observation: Observation, evidence: Evidence, contract: str, variable: str | None = None
) -> str | None:
    """Return a `curl` command for the exchange that decided a case, or None where there was none.

    A session id is left to the reader as `$SESSION`, for sessions end with the run. `variable` is the environment
    variable of a run's genuine token, which stands for it as `$NAME`; no command can make its tampered twins anew.
    """
    exchange_id = _decisive(observation)
    exchange = evidence.get(exchange_id) if exchange_id else None
    if exchange is None or contract.startswith(
        "("
    ):  # the built-in sample and anonymous probes have no file to mint from
        return None
    if variable is not None and any(not _is_genuine(label) for text in _texts(exchange) for label in _labels(text)):
        return None
    words = ["curl", "-i", "-X", exchange.method]
    for name, value in exchange.request_headers:
        if name.lower() in _LEFT_OUT:
            continue
        shown = "$SESSION" if name.lower() == "mcp-session-id" else value
        words += ["-H", _with_mint(f"{name}: {shown}", case, contract, variable)]
    if exchange.request_body:
        words += ["--data-raw", _with_mint(exchange.request_body, case, contract, variable)]
    words.append(_with_mint(exchange.url, case, contract, variable))
    return " ".join(word if word.startswith('"') else shlex.quote(word) for word in words)


def _texts(exchange: Exchange) -> tuple[str, ...]:
    return (exchange.url, exchange.request_body or "", *(value for _, value in exchange.request_headers))


def _decisive(observation: Observation) -> str | None:
    if isinstance(observation, CallObserved) and observation.attempts:
        attempt = observation.accepted or next(
            (one for one in observation.attempts if not isinstance(one.reading, Accepted)), observation.attempts[0]
        )
        return attempt.answer.exchange or None
    return next((answer.exchange for answer in answers_of(observation) if answer.exchange), None)


def _with_mint(text: str, case: Case, contract: str, variable: str | None) -> str:
    """Put a `mint` call or a variable where a token was; the text then stands in double quotes, for the shell."""
    calls = {label: call for label in _labels(text) if (call := _standing_for(label, case, contract, variable))}
    if "$SESSION" not in text and not calls:
        return text
    quoted = (
        text.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("`", "\\`")
        .replace("$", "\\$")
        .replace("\\$SESSION", "$SESSION")
    )
    for label, call in calls.items():
        quoted = quoted.replace(label, call)
    return f'"{quoted}"'


def _labels(text: str) -> list[str]:
    words = text.replace('"', " ").replace("=", " ").replace(",", " ").replace("%20", " ").split()
    return [word for word in dict.fromkeys(words) if word.startswith("token-") and "#" in word]


def _is_genuine(label: str) -> bool:
    return label.startswith("token-genuine#")


def _standing_for(label: str, case: Case, contract: str, variable: str | None) -> str | None:
    """Return what the shell puts in the place of a label; None where the label has to stay."""
    question = case.question
    defect = label.removeprefix("token-").rsplit("#", 1)[0]
    if variable is not None:
        return f"${variable}"
    if question is None or question.principal is None:
        return None
    words = ["mcp-auth-contract", "mint", shlex.quote(contract), question.principal]
    if defect != "good":
        words += ["--defect", defect]
        if question.variant:
            words += ["--variant", question.variant]
    if question.scopes is not None:
        words += [f"--scope {scope}" for scope in sorted(question.scopes)] or ["--no-scope"]
    return f"$({' '.join(words)})"
