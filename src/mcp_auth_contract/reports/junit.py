"""JUnit XML, one test case per case, for continuous integration."""

from itertools import groupby
from xml.etree import ElementTree

from mcp_auth_contract.reports.groups import Part, part_of, waived_by
from mcp_auth_contract.reports.model import Report, Result
from mcp_auth_contract.reports.plain import printable

_LINE = 8000
"""Long enough for a command line, which is worth nothing when it is cut."""

_COUNTED = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


def render_junit(report: Report) -> str:
    """Render a report as JUnit XML.

    What shuts the gate is a failure; a failed recommendation, a waived failure and a clause that does not apply are
    skipped with their reason; an inconclusive case is an error if it binds, for JUnit knows no third state. A waiver
    is told in the properties of its case as well. A gate that is shut although no case shows it (an interrupted run,
    no case at all, a waiver that is no longer true) is an error of its own.
    """
    suites = ElementTree.Element("testsuites", name="mcp-auth-contract", time=f"{report.duration_s:.3f}")
    ordered = sorted(report.results, key=lambda result: result.check.family)
    for family, results in groupby(ordered, key=lambda result: result.check.family):
        suite = ElementTree.SubElement(suites, "testsuite", name=family, timestamp=report.started)
        for result in results:
            _case(suite, report, result)
    shown = any(suites.find(f".//{tag}") is not None for tag in ("failure", "error"))
    unshown = report.gate.stale if shown else report.gate.reasons
    if unshown:
        suite = ElementTree.SubElement(suites, "testsuite", name="gate", timestamp=report.started)
        case = ElementTree.SubElement(suite, "testcase", classname="mcp_auth_contract.gate", name="gate")
        _add(case, "error", "gate", "; ".join(unshown), "")
    for element in (*suites, suites):
        element.set("tests", str(len(list(element.iter("testcase")))))
        for counted, tag in _COUNTED:
            element.set(counted, str(len(list(element.iter(tag)))))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, report: Report, result: Result) -> None:
    revision = f" ({result.revision})" if result.revision else ""
    name = printable(f"{result.case}{revision}")
    case = ElementTree.SubElement(suite, "testcase", classname=f"mcp_auth_contract.{result.check.family}", name=name)
    match part_of(result, report.gate):
        case Part.FAILED:
            _add(case, "failure", result.impact, result.sentence, _details(result))
        case Part.RECOMMENDED:
            _add(case, "skipped", "", result.sentence, _details(result))
        case Part.WAIVED if result.waived is not None:
            waiver = result.waived
            properties = ElementTree.SubElement(case, "properties")
            told = {"reason": waiver.reason, "owner": waiver.owner, "expires": waiver.expires.isoformat()}
            for name, value in told.items():
                ElementTree.SubElement(properties, "property", name=f"waived.{name}", value=printable(value))
            _add(case, "skipped", "", f"waived {waived_by(waiver)}; {result.sentence}", _details(result))
        case Part.ERROR:
            _add(case, "error", "kit error", result.said, "")
        case Part.INCONCLUSIVE:
            _add(case, "error", "inconclusive", result.said, "")
        case Part.REMARK:
            ElementTree.SubElement(case, "system-out").text = printable(result.said)
        case Part.PASSED:
            pass
        case _:
            _add(case, "skipped", "", result.said, "")


def _details(result: Result) -> str:
    lines = [result.check.title, result.sentence, f"fix: {result.check.remedy}"]
    if result.reproduce:
        lines.append(f"by hand: {result.reproduce}")
    return "\n".join(lines)


def _add(case: ElementTree.Element, tag: str, kind: str, message: str, text: str) -> None:
    element = ElementTree.SubElement(case, tag, message=printable(message))
    if kind:
        element.set("type", kind)
    if text:
        element.text = "\n".join(printable(line, limit=_LINE) for line in text.splitlines())
