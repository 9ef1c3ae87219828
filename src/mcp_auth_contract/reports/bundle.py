"""Everything that a decision rests on in one archive, the same bytes for the same report."""

import hashlib
import json
import zipfile
from io import BytesIO

from mcp_auth_contract.reports.har import render_har
from mcp_auth_contract.reports.json_v1 import render_json
from mcp_auth_contract.reports.markdown import render_markdown
from mcp_auth_contract.reports.model import Report
from mcp_auth_contract.reports.page.render import render_html
from mcp_auth_contract.reports.plain import encodable
from mcp_auth_contract.reports.sarif import render_sarif

MANIFEST = "SHA256SUMS"
"""The last file of a bundle: the digest of every other one, as `sha256sum --check` reads it."""

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip archive can tell; the report says when it was made."""


def render_bundle(report: Report) -> bytes:
    """Return a zip archive: the report in each form, the exchanges, the contract, the waivers, what it was made with.

    The contract is without comments and secrets. Equal reports make equal bytes: files in the order of their names,
    without times, not compressed, since compressors differ.
    """
    files = dict(sorted(_files(report).items()))
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, content in (*files.items(), (MANIFEST, sums.encode())):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system = 3  # the same on every platform
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return written.getvalue()


def _files(report: Report) -> dict[str, bytes]:
    texts = {
        "report.html": render_html(report),
        "report.json": render_json(report),
        "report.md": render_markdown(report),
        "report.sarif": render_sarif(report),
        "exchanges.har": render_har(report),
        "environment.json": _json({"kit": report.kit_version, **report.environment}),
        "waivers.json": _json(
            [
                {
                    "about": waiver.about,
                    "reason": waiver.reason,
                    "owner": waiver.owner,
                    "expires": waiver.expires.isoformat(),
                    "file": waiver.file,
                    "covers": sorted({result.case for result in report.results if result.waived == waiver}),
                }
                for waiver in report.waivers
            ]
        ),
    }
    if report.source is not None:
        texts["contract.toml"] = report.source
    return {name: str(encodable(text)).encode("utf-8") for name, text in texts.items()}


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"
