"""Recorded exchanges as HTTP that a person can read, and the steps of a timeline."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_auth_contract.reports.plain import encodable, printable

_MOST = 6000
_LINE = 2000
_LABEL = re.compile(r"(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{1,200}#[0-9a-f]{8}")
_STEP = re.compile(r"timeline ([^:]+): (.+)")


@dataclass(frozen=True, slots=True)
class HttpText:
    """One exchange as text. `title` is its first line, `note` what the kit made it for."""

    id: str
    title: str
    note: str
    request: str
    response: str
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a timeline: its place in time (0 to 1), what was done, and how it was answered."""

    at: float
    seconds: float
    name: str
    answer: str
    accepted: bool


def http_text(exchange: Mapping[str, Any]) -> HttpText:
    """Return a recorded exchange as readable HTTP; JSON is indented, what is long is cut."""
    request = exchange.get("request") or {}
    response = exchange.get("response")
    first = f"{request.get('method', '')} {request.get('url', '')}"
    if response is None:
        got = f"no response: {exchange.get('trouble') or 'unknown'} {exchange.get('detail') or ''}".strip()
        status = "no response"
    else:
        status = str(response.get("status"))
        got = _message(f"HTTP {status}", response)
    sent = _message(first, request)
    return HttpText(
        id=str(exchange.get("id", "")),
        title=printable(f"{first} → {status}", limit=300),
        note=printable(str(exchange.get("note") or ""), limit=300),
        request=sent,
        response=lines_of(got),
        tokens=tuple(dict.fromkeys(_LABEL.findall(sent))),
    )


def lines_of(text: str, most: int = _MOST) -> str:
    """Return a text of several lines with what cannot be seen escaped, cut at `most` characters."""
    shown = "\n".join(printable(line, limit=_LINE) for line in text[: most + 1].replace("\r\n", "\n").split("\n"))
    return shown if len(shown) <= most else f"{shown[:most]}\n… (cut; the JSON report has more of it)"


def timeline_of(evidence: Sequence[str], exchanges: Mapping[str, Mapping[str, Any]]) -> tuple[Step, ...]:
    """Return the steps of the timeline that a case went through; nothing where it is none."""
    steps = []
    for key in evidence:
        exchange = exchanges.get(key, {})
        named = _STEP.match(str(exchange.get("note") or ""))
        if named is not None:
            response = exchange.get("response") or {}
            status = response.get("status")
            answer = "no response" if status is None else str(status)
            steps.append((float(exchange.get("started") or 0), named[2], answer, status == 200))
    if len(steps) < 2:
        return ()
    begun, ended = steps[0][0], max(step[0] for step in steps)
    whole = ended - begun or 1.0
    return tuple(
        Step((at - begun) / whole, at - begun, printable(name, limit=80), answer, ok) for at, name, answer, ok in steps
    )


def _message(first: str, message: Mapping[str, Any]) -> str:
    lines = [first, *(f"{name}: {value}" for name, value in message.get("headers") or [])]
    body = str(message.get("body") or "")
    if body:
        lines += ["", _indented(body)]
    if message.get("truncated"):
        lines.append("… (the recording ends here)")
    return lines_of("\n".join(lines))


def _indented(body: str) -> str:
    if body.lstrip()[:1] not in ("{", "["):
        return body
    try:
        return json.dumps(encodable(json.loads(body)), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body
