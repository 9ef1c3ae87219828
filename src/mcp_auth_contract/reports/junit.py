"""JUnit XML, one test case per case, for continuous integration."""

from itertools import groupby
from xml.etree import ElementTree

from mcp_auth_contract.model import Error, Fail, Inconclusive, NotApplicable, Pass
from mcp_auth_contract.reports.plain import printable
from mcp_auth_contract.runner.result import Report, Result

__all__ = ["render_junit"]

_LINE = 8000
"""Long enough for a command line, which is worth nothing when it is cut."""


def render_junit(report: Report) -> str:
    """Render a report as JUnit XML.

    What shuts the gate is a failure; a broken recommendation, a waived failure and a clause that does not apply are
    skipped with their reason; an inconclusive case is an error if it binds, for JUnit knows no third state. A waiver
    is told in the properties of its case as well. A gate that is shut although no case shows it (an interrupted run,
    no case at all, a waiver that is no longer true) is an error of its own.
    """
    suites = ElementTree.Element("testsuites", name="mcp-auth-contract", time=f"{report.duration_s:.3f}")
    ordered = sorted(report.results, key=lambda result: result.check.family)
    for family, grouped in groupby(ordered, key=lambda result: result.check.family):
        cases = list(grouped)
        suite = ElementTree.SubElement(suites, "testsuite", name=family, timestamp=report.started)
        elements = [_case(suite, report, result) for result in cases]
        suite.set("tests", str(len(cases)))
        for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(counted, str(sum(1 for element in elements if element.find(tag) is not None)))
    shown = any(suites.find(f".//{tag}") is not None for tag in ("failure", "error"))
    unshown = report.gate.stale if shown else report.gate.reasons
    if unshown:
        suite = ElementTree.SubElement(suites, "testsuite", name="gate", timestamp=report.started)
        case = ElementTree.SubElement(suite, "testcase", classname="mcp_auth_contract.gate", name="gate")
        _add(case, "error", "gate", "; ".join(unshown), "")
        for counted, number in (("tests", 1), ("failures", 0), ("errors", 1), ("skipped", 0)):
            suite.set(counted, str(number))
    for counted in ("tests", "failures", "errors", "skipped"):
        suites.set(counted, str(sum(int(suite.get(counted, "0")) for suite in suites)))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, report: Report, result: Result) -> ElementTree.Element:
    revision = f" ({result.revision})" if result.revision else ""
    name = printable(f"{result.case}{revision}")
    case = ElementTree.SubElement(suite, "testcase", classname=f"mcp_auth_contract.{result.check.family}", name=name)
    binds = report.gate.binds(result)
    match result.outcome:
        case Fail() if result.waived is not None:
            waiver = result.waived
            properties = ElementTree.SubElement(case, "properties")
            told = {"reason": waiver.reason, "owner": waiver.owner, "expires": waiver.expires.isoformat()}
            for name, value in told.items():
                ElementTree.SubElement(properties, "property", name=f"waived.{name}", value=printable(value))
            said = f"waived until {waiver.expires} by {waiver.owner}: {waiver.reason}; {result.sentence}"
            _add(case, "skipped", "waived", said, _details(result))
        case Fail():
            tag = "failure" if binds else "skipped"
            _add(case, tag, result.impact, result.sentence, _details(result))
        case Inconclusive(reason=reason):
            _add(case, "error" if binds else "skipped", "inconclusive", reason, "")
        case NotApplicable(reason=reason):
            _add(case, "skipped", "not applicable", reason, "")
        case Error(reason=reason):
            _add(case, "error", "fault in the kit", reason, "")
        case Pass(advice=advice):
            if advice:
                ElementTree.SubElement(case, "system-out").text = printable(advice)
    return case


def _details(result: Result) -> str:
    lines = [result.check.title, result.sentence, f"remedy: {result.check.remedy}"]
    if result.reproduce:
        lines.append(f"by hand: {result.reproduce}")
    return "\n".join(lines)


def _add(case: ElementTree.Element, tag: str, kind: str, message: str, text: str) -> None:
    element = ElementTree.SubElement(case, tag, message=printable(message))
    if tag != "skipped":
        element.set("type", kind)
    if text:
        element.text = "\n".join(printable(line, limit=_LINE) for line in text.splitlines())
