"""JUnit XML, the form of test viewers in pipelines: a suite per release, a case per limit and check.

Source: the schema that Jenkins and GitLab read (testsuites, testsuite, testcase; failure, skipped, system-out).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from privrelease.report.forms.plain import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.report.forms.results import Case, Result

__all__ = ["render_junit"]


def render_junit(cases: Sequence[Case], results: Sequence[Result] = ()) -> str:
    """Return the cases, and results that belong to no case (faults of a policy, what stopped a command), as suite ``policy``.

    ASCII; a waived case and a warning pass and say so in ``system-out``.
    """
    root = ET.Element("testsuites", name="privrelease")
    suites: dict[str, list[Case]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    counts = [_suite(root, f"release {name}", members) for name, members in suites.items()]
    if results or not cases:
        counts.append(_of_results(root, results))
    for position, key in enumerate(("tests", "failures", "skipped")):
        root.set(key, str(sum(count[position] for count in counts)))
    ET.indent(root)
    body: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return body.decode() + "\n"


def _suite(root: ET.Element, name: str, cases: Sequence[Case]) -> tuple[int, int, int]:
    failures = sum(case.outcome == "fail" for case in cases)
    skipped = sum(case.outcome == "skipped" for case in cases)
    suite = _opened(root, name, len(cases), failures, skipped)
    for case in cases:
        element = ET.SubElement(suite, "testcase", classname=printable(case.suite), name=printable(f"{case.name} {case.title}"))
        message = printable(case.message)
        if case.outcome == "fail":
            ET.SubElement(element, "failure", message=message, type=printable(case.name))
        elif case.outcome == "skipped":
            ET.SubElement(element, "skipped", message=message)
        elif case.outcome != "pass":
            ET.SubElement(element, "system-out").text = f"{case.outcome}: {message}"
    return len(cases), failures, skipped


def _of_results(root: ET.Element, results: Sequence[Result]) -> tuple[int, int, int]:
    failures = sum(result.level == "error" for result in results)
    suite = _opened(root, "policy", max(1, len(results)), failures, 0)
    for result in results:
        where = f"{result.file}:{result.line}:{result.column}: " if result.file and result.line else ""
        element = ET.SubElement(suite, "testcase", classname="policy", name=printable(f"{result.code} {where}{result.subject}"))
        message = printable(f"{where}{result.message}" + (f" (hint: {result.hint})" if result.hint else ""))
        if result.level == "error":
            ET.SubElement(element, "failure", message=message, type=result.code)
        else:
            ET.SubElement(element, "system-out").text = f"{result.level}: {message}"
    if not results:
        ET.SubElement(suite, "testcase", classname="policy", name="the policy is valid")
    return max(1, len(results)), failures, 0


def _opened(root: ET.Element, name: str, tests: int, failures: int, skipped: int) -> ET.Element:
    counts = {"tests": str(tests), "failures": str(failures), "errors": "0", "skipped": str(skipped)}
    return ET.SubElement(root, "testsuite", {"name": printable(name), **counts})
