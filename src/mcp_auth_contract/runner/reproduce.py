"""A command line that repeats the decisive request of a failure, its token replaced by a call of `mint`."""

import shlex

from mcp_auth_contract.observations import Accepted, CallObserved, Observation
from mcp_auth_contract.plan import Case
from mcp_auth_contract.probes import answers_of
from mcp_auth_contract.wire import Evidence

__all__ = ["reproduction"]

_LEFT_OUT = frozenset({"host", "content-length", "accept-encoding", "user-agent"})


def reproduction(case: Case, observation: Observation, evidence: Evidence, contract: str) -> str | None:
    """Return a `curl` command for the exchange that decided a case, or None where there was none.

    A session id is left to the reader as `$SESSION`, for sessions end with the run.
    """
    exchange_id = _decisive(observation)
    exchange = evidence.get(exchange_id) if exchange_id else None
    if exchange is None or contract.startswith(
        "("
    ):  # the built-in sample and anonymous probes have no file to mint from
        return None
    words = ["curl", "-i", "-X", exchange.method]
    for name, value in exchange.request_headers:
        if name.lower() in _LEFT_OUT:
            continue
        shown = "$SESSION" if name.lower() == "mcp-session-id" else value
        words += ["-H", _with_mint(f"{name}: {shown}", case, contract)]
    if exchange.request_body:
        words += ["--data-raw", _with_mint(exchange.request_body, case, contract)]
    words.append(_with_mint(exchange.url, case, contract))
    return " ".join(word if word.startswith('"') else shlex.quote(word) for word in words)


def _decisive(observation: Observation) -> str | None:
    if isinstance(observation, CallObserved) and observation.attempts:
        attempt = observation.accepted or next(
            (one for one in observation.attempts if not isinstance(one.reading, Accepted)), observation.attempts[0]
        )
        return attempt.answer.exchange or None
    return next((answer.exchange for answer in answers_of(observation) if answer.exchange), None)


def _with_mint(text: str, case: Case, contract: str) -> str:
    """Put a `mint` call where a token was; the text then stands in double quotes, for the shell to run the call."""
    question = case.question
    minted = question is not None and question.principal is not None
    marker = next((word for word in _labels(text)), None)
    if "$SESSION" not in text and (marker is None or not minted):
        return text
    quoted = (
        text.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("`", "\\`")
        .replace("$", "\\$")
        .replace("\\$SESSION", "$SESSION")
    )
    if marker is not None and question is not None:
        for label in _labels(text):
            quoted = quoted.replace(label, f"$({_mint(case, label, contract)})")
    return f'"{quoted}"'


def _labels(text: str) -> list[str]:
    words = text.replace('"', " ").replace("=", " ").replace(",", " ").replace("%20", " ").split()
    return [word for word in dict.fromkeys(words) if word.startswith("token-") and "#" in word]


def _mint(case: Case, label: str, contract: str) -> str:
    question = case.question
    if question is None or question.principal is None:
        return label
    defect = label.removeprefix("token-").rsplit("#", 1)[0]
    words = ["mcp-auth-contract", "mint", shlex.quote(contract), question.principal]
    if defect != "good":
        words += ["--defect", defect]
        if question.variant:
            words += ["--variant", question.variant]
    if question.scopes is not None:
        words += [f"--scope {scope}" for scope in sorted(question.scopes)] or ["--no-scope"]
    return " ".join(words)
