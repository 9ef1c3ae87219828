"""The document of a View in an answer to resources/read."""

import base64
import binascii
from typing import Any

from mcp_auth_contract.checks.apps.observation import Content
from mcp_auth_contract.wire import Redactor
from mcp_auth_contract.wire.conversation import Received


def content_of(received: Received, uri: str, redactor: Redactor) -> Content:
    """Return the item of a URI, and its document without secrets."""
    shown, raw = _contents(received.answer.reply), _contents(received.raw_reply)
    if not shown:
        return Content(fault="no contents")
    at = next((place for place, one in enumerate(raw) if one.get("uri") == uri), 0)
    item = shown[at]
    text, blob = item.get("text"), raw[at].get("blob")
    if text is not None and blob is not None:
        return Content(item, len(shown), fault="both text and blob")
    if isinstance(text, str):
        return Content(item, len(shown), text)
    if not isinstance(blob, str):
        return Content(item, len(shown), fault="neither text nor blob")
    try:
        document = base64.b64decode(blob, validate=True).decode()
    except (binascii.Error, ValueError):
        return Content(item, len(shown), fault="a blob that is no Base64 of UTF-8 text")
    return Content(item, len(shown), redactor.redact(document))


def _contents(reply: Any) -> list[dict[str, Any]]:
    result = (reply or {}).get("result")
    contents = result.get("contents") if isinstance(result, dict) else None
    return [one for one in contents if isinstance(one, dict)] if isinstance(contents, list) else []
