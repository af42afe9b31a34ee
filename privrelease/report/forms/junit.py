"""JUnit XML, the form of test viewers in pipelines: a suite per release, a case per limit and check.

Source: the schema that Jenkins and GitLab read (testsuites, testsuite, testcase; failure, skipped, system-out).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from privrelease.report.forms.results import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.report.forms.results import Case, Result

__all__ = ["render_junit"]

#: What a skipped case says first.
_SKIPPED = {"skipped": "not assessed", "not_asked": "not asked for"}


def render_junit(cases: Sequence[Case], results: Sequence[Result] = ()) -> str:
    """Return the cases, and results that belong to no case (faults of a policy, what stopped a command), as suite ``policy``.

    ASCII; a waived case and a warning pass and say so in ``system-out``. A check that could not be made and had to be is an error, one that had
    not, or was not asked for, is skipped.
    """
    root = ET.Element("testsuites", name="privrelease")
    suites: dict[str, list[Case]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    counts = [_suite(root, f"release {name}", members) for name, members in suites.items()]
    if results or not cases:
        counts.append(_of_results(root, results))
    # the schema of Jenkins knows no `skipped` here, and the one of Surefire neither: each suite has it
    for position, key in enumerate(("tests", "failures", "errors")):
        root.set(key, str(sum(count[position] for count in counts)))
    ET.indent(root)
    body: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return body.decode() + "\n"


def _suite(root: ET.Element, name: str, cases: Sequence[Case]) -> tuple[int, int, int, int]:
    failures = sum(case.outcome == "fail" for case in cases)
    errors = sum(case.outcome == "error" for case in cases)
    skipped = sum(case.outcome in _SKIPPED for case in cases)
    suite = _opened(root, name, (len(cases), failures, errors, skipped))
    for case in cases:
        element = ET.SubElement(suite, "testcase", classname=printable(case.suite), name=printable(f"{case.name} {case.title}"))
        message = printable(case.message)
        if case.outcome == "fail":
            ET.SubElement(element, "failure", message=message, type=printable(case.name))
        elif case.outcome == "error":
            ET.SubElement(element, "error", message=message, type=printable(case.name))
        elif case.outcome in _SKIPPED:
            ET.SubElement(element, "skipped", message=f"{_SKIPPED[case.outcome]}: {message}")
        elif case.outcome != "pass":
            ET.SubElement(element, "system-out").text = f"{case.outcome}: {message}"
    return len(cases), failures, errors, skipped


def _of_results(root: ET.Element, results: Sequence[Result]) -> tuple[int, int, int, int]:
    failures = sum(result.level == "error" for result in results)
    suite = _opened(root, "policy", (max(1, len(results)), failures, 0, 0))
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
    return max(1, len(results)), failures, 0, 0


def _opened(root: ET.Element, name: str, counts: tuple[int, int, int, int]) -> ET.Element:
    written = dict(zip(("tests", "failures", "errors", "skipped"), map(str, counts), strict=True))
    return ET.SubElement(root, "testsuite", {"name": printable(name), **written})
