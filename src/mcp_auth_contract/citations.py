"""Every reference to a specification, from scenarios/citations.toml: checks cite by key, reports print labels."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError


@dataclass(frozen=True, slots=True)
class Citation:
    """One section of one specification.

    `section` is its number ("3.3"), or empty where the document numbers nothing; `title` is its heading.
    """

    key: str
    document: str
    section: str
    title: str
    url: str

    @property
    def label(self) -> str:
        """The reference as prose: `RFC 9728 §3.3`, or `MCP 2025-11-25 authorization, Token Handling`."""
        return f"{self.document} §{self.section}" if self.section else f"{self.document}, {self.title}"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Draft(_Table):
    """An Internet-Draft: its headings by section number."""

    document: str
    url: str
    sections: dict[str, str]


class _Page(_Table):
    """A section of a document that appears here only a few times."""

    key: str
    document: str
    section: str = ""
    title: str
    url: str


class _Mcp(_Table):
    """The MCP specification: URLs of its pages, and the headings cited of each, by revision and page."""

    pages: dict[str, str]
    headings: dict[str, dict[str, list[str]]]


class _File(_Table):
    rfc: dict[str, dict[str, str]] = Field(default_factory=dict)
    draft: dict[str, _Draft] = Field(default_factory=dict)
    page: list[_Page] = Field(default_factory=list)
    mcp: _Mcp = _Mcp(pages={}, headings={})

    def citations(self) -> Iterable[Citation]:
        for number, sections in self.rfc.items():
            url = f"https://www.rfc-editor.org/rfc/rfc{number}"
            yield from _numbered(f"rfc{number}", f"RFC {number}", url, sections)
        for name, draft in self.draft.items():
            yield from _numbered(name, draft.document, draft.url, draft.sections)
        for page in self.page:
            yield Citation(**page.model_dump())
        for revision, pages in self.mcp.headings.items():
            for name, headings in pages.items():
                yield from self._mcp(revision, name, headings)

    def _mcp(self, revision: str, page: str, headings: Iterable[str]) -> Iterable[Citation]:
        if page not in self.mcp.pages:
            raise ValueError(f"mcp.headings.{revision}.{page}: no such page in mcp.pages")
        url = self.mcp.pages[page].format(revision=revision)
        for heading in headings:
            anchor = "-".join(re.findall(r"[a-z0-9]+", heading.lower()))  # as the site makes them
            document = f"MCP {revision} {page.replace('-', ' ')}"
            yield Citation(f"mcp-{revision}-{page}#{anchor}", document, "", heading, f"{url}#{anchor}")


def _numbered(name: str, document: str, url: str, sections: Mapping[str, str]) -> Iterable[Citation]:
    for section, title in sections.items():
        yield Citation(f"{name}-{section}", document, section, title, f"{url}#section-{section}")


def read_citations(file: Path) -> Mapping[str, Citation]:
    """Return the citations of a file by their keys.

    Raises ContractError, naming file and entry, for what is not readable, an unknown or missing key, a page that
    `mcp.pages` does not list, and a key of a citation that appears twice.
    """
    try:
        return _by_key(_File.model_validate(tomllib.loads(file.read_text("utf-8"))).citations())
    except ValidationError as invalid:
        first = invalid.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ContractError(f"{file.name}: {place}: {first['msg']}") from None
    except ValueError as invalid:  # also what is no TOML or no UTF-8
        raise ContractError(f"{file.name}: {invalid}") from None


def _by_key(citations: Iterable[Citation]) -> Mapping[str, Citation]:
    found: dict[str, Citation] = {}
    for citation in citations:
        if found.setdefault(citation.key, citation) is not citation:
            raise ValueError(f"{citation.key}: used twice")
    return MappingProxyType(found)


CITATIONS = read_citations(data_folder("scenarios") / "citations.toml")
"""Every citable section by its key; a closed table, to which a check may refer only by key."""
