"""One exchange in two lines: what was asked, and what the server answered."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_auth_contract.model import Fail, outcome_name
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import printable

_BODY = 80
_HEADER = 160


def decisive(report: Report, result: Result) -> Mapping[str, Any] | None:
    """Return the exchange that a result rests on most plainly: the last one whose status it tells, else the last."""
    cited = [report.exchanges[name] for name in result.evidence if name in report.exchanges]
    if not cited:
        return None
    observed = result.outcome.observed if isinstance(result.outcome, Fail) else result.said
    told = [one for one in cited if observed.startswith(str((one.get("response") or {}).get("status")))]
    return (told or cited)[-1]


def asked(exchange: Mapping[str, Any]) -> str:
    """Return a request in one line, as in `POST /mcp tools/call get_invoice, Authorization: Bearer token-good#3f9a`."""
    request = exchange.get("request") or {}
    target = re.sub(r"\A\w+://[^/?#]*", "", str(request.get("url", ""))) or "/"
    said = [f"{request.get('method', '')} {target}{_message(str(request.get('body', '')))}"]
    credentials = _header(request.get("headers", ()), "authorization")
    said.append(f"Authorization: {credentials}" if credentials else "without a token")
    return printable(", ".join(said), limit=400)


def answered(exchange: Mapping[str, Any]) -> str:
    """Return a response in one line: its status, its challenge, and how its body begins."""
    response = exchange.get("response")
    if response is None:
        return printable(f"{exchange.get('trouble')} {exchange.get('detail', '')}".strip())
    challenge = _header(response.get("headers", ()), "www-authenticate")
    said = str(response.get("status"))
    said += f", WWW-Authenticate: {printable(challenge, limit=_HEADER)}" if challenge else ""
    body = " ".join(str(response.get("body", "")).split())
    return f"{printable(said)}{f': {printable(body, limit=_BODY)}' if body else ''}"


def told_with_traffic(report: Report) -> Iterator[str]:
    """Yield every result with all that it rests on, line by line."""
    for result in report.results:
        where = f" [MCP {result.revision}]" if result.revision else ""
        yield f"{result.case}{where}: {outcome_name(result.outcome).replace('_', ' ')}"
        if isinstance(result.outcome, Fail):
            yield f"  expected  {result.outcome.expected}"
            yield f"  observed  {result.outcome.observed}"
        elif result.said != "passed":
            yield f"  {result.said}"
        yield f"  check     {result.check.title} ({result.check.level}, {result.impact})"
        yield f"  fix       {result.check.remedy}"
        yield ""
        for name in result.evidence:
            if name in report.exchanges:
                yield from transcript(report.exchanges[name])
                yield ""


def transcript(exchange: Mapping[str, Any]) -> Iterator[str]:
    """Yield a whole exchange line by line, as it was recorded: `>` before what was sent, `<` before what came back."""
    request, response = exchange["request"], exchange["response"]
    yield f"{exchange['id']}  {exchange['note']}".rstrip()
    yield f"> {request['method']} {request['url']}"
    yield from _part(">", request)
    if response is None:
        yield f"< {exchange['trouble']} {exchange['detail']}".rstrip()
    else:
        yield f"< {response['status']}"
        yield from _part("<", response)


def _part(mark: str, message: Mapping[str, Any]) -> Iterator[str]:
    for name, value in message["headers"]:
        yield f"{mark} {name}: {value}"
    if message["body"]:
        yield mark
        yield from (f"{mark} {line}" for line in str(message["body"]).split("\n"))


def _message(body: str) -> str:
    """Return what a JSON-RPC message asks for, behind a blank; nothing for another body."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return ""
    params = message.get("params")
    named = params.get("name", params.get("uri", "")) if isinstance(params, dict) else ""
    return f" {message['method']}{f' {named}' if named else ''}"


def _header(lines: Sequence[Sequence[str]], wanted: str) -> str:
    return ", ".join(str(value) for name, value in lines if str(name).lower() == wanted)
