"""The formats that a report is written in: one row each, from which the command line has its options."""

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_auth_contract.reports.model import Report


@dataclass(frozen=True, slots=True)
class Format:
    """A format with a file of its own, called for on the command line by `--NAME FILE`.

    `renderer` is the function from a report to the text, or to the bytes of a file that is no text, as `module:name`
    below this package; it is imported when it is called, so that a command's help stays quick.
    """

    name: str
    help: str
    renderer: str

    def render(self, report: "Report") -> str | bytes:
        """Return a report in this format."""
        content: str | bytes = resolve_name(f"{__package__}.{self.renderer}")(report)
        return content


FORMATS = (
    Format("json", "Write the JSON report (version 1) here; `-` means stdout.", "json_v1:render_json"),
    Format("junit", "Write JUnit XML here.", "junit:render_junit"),
    Format("markdown", "Write the report as Markdown here.", "markdown:render_markdown"),
    Format("html", "Write the report as one HTML file here, to read, print and sign.", "page.render:render_html"),
    Format("sarif", "Write SARIF 2.1.0 here, for code scanning.", "sarif:render_sarif"),
    Format("har", "Write the redacted exchanges here, as HAR 1.2.", "har:render_har"),
    Format("bundle", "Write an archive (zip) of all evidence here.", "bundle:render_bundle"),
)
