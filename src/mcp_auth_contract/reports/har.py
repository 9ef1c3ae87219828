"""HAR 1.2: the redacted exchanges that results cite, for the tools that show HTTP.

http://www.softwareishard.com/blog/har-12-spec/
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.plain import encodable

_CASES = 5


def render_har(report: Report) -> str:
    """Render the exchanges that some result of a report cites as HAR 1.2, in the order in which they were made.

    The comment of an entry names the exchange as the report does, what it was made for, and the cases that cite it.
    """
    cited: dict[str, list[str]] = {}
    for result in report.results:
        for key in result.evidence:
            if key in report.exchanges:
                cited.setdefault(key, []).append(result.case)
    begun = _moment(report.started)
    ordered = sorted(cited, key=lambda key: (_number(report.exchanges[key].get("started")), key))
    log = {
        "version": "1.2",
        "creator": {"name": "mcp-auth-contract", "version": report.kit_version},
        "pages": [],
        "entries": [_entry(key, report.exchanges[key], begun, cited[key]) for key in ordered],
        "comment": "redacted as they were recorded: labels stand for tokens",
    }
    return json.dumps(encodable({"log": log}), indent=1, ensure_ascii=True) + "\n"


def _entry(key: str, exchange: Mapping[str, Any], begun: datetime, cases: Sequence[str]) -> dict[str, Any]:
    request, response = exchange.get("request") or {}, exchange.get("response")
    milliseconds = round(_number(exchange.get("duration")) * 1000, 3)
    started = begun + timedelta(seconds=_number(exchange.get("started")))
    named = list(dict.fromkeys(cases))
    others = f" and {len(named) - _CASES} more" if named[_CASES:] else ""
    said = "; ".join(filter(None, (key, str(exchange.get("note") or ""), ", ".join(named[:_CASES]) + others)))
    return {
        "startedDateTime": started.isoformat(timespec="milliseconds"),
        "time": milliseconds,
        "request": _request(request),
        "response": _response(exchange, response),
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "comment": said,
    }


def _request(request: Mapping[str, Any]) -> dict[str, Any]:
    headers, body, url = request.get("headers") or [], str(request.get("body") or ""), str(request.get("url", ""))
    told: dict[str, Any] = {
        "method": str(request.get("method", "")),
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(headers),
        "queryString": _query(url),
        "headersSize": -1,
        "bodySize": len(body.encode("utf-8", "replace")),
    }
    if body:
        told["postData"] = {"mimeType": _value(headers, "content-type"), "text": body, "params": []}
    return told


def _response(exchange: Mapping[str, Any], response: Mapping[str, Any] | None) -> dict[str, Any]:
    if response is None:  # as browsers write a request without a response
        trouble = f"{exchange.get('trouble') or 'no response'} {exchange.get('detail') or ''}".strip()
        response, comment = {"status": 0, "headers": [], "body": ""}, trouble
    else:
        comment = "the recording of the body ends early" if response.get("truncated") else ""
    headers, body = response.get("headers") or [], str(response.get("body") or "")
    status = int(response.get("status") or 0)
    return {
        "status": status,
        "statusText": HTTPStatus(status).phrase if status in set(HTTPStatus) else "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(headers),
        "content": {
            "size": len(body.encode("utf-8", "replace")),
            "mimeType": _value(headers, "content-type") or "application/octet-stream",
            "text": body,
        },
        "redirectURL": _value(headers, "location"),
        "headersSize": -1,
        "bodySize": -1,
        "comment": comment,
    }


def _headers(lines: Iterable[Sequence[str]]) -> list[dict[str, str]]:
    return [{"name": str(name), "value": str(value)} for name, value in lines]


def _value(lines: Iterable[Sequence[str]], wanted: str) -> str:
    return next((str(value) for name, value in lines if str(name).lower() == wanted), "")


def _query(url: str) -> list[dict[str, str]]:
    try:
        return [
            {"name": name, "value": value} for name, value in parse_qsl(urlsplit(url).query, keep_blank_values=True)
        ]
    except ValueError:
        return []


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else 0.0
