"""SARIF 2.1.0, the form of code-scanning viewers: results point at lines of the policy; a waiver is a suppression.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0. Viewers keep at most 5,000 results of a run: more are counted in a
notification.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from privrelease import __version__
from privrelease.texts.codes import code_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.report.forms.results import Case, Result

__all__ = ["MOST_RESULTS", "render_sarif"]

MOST_RESULTS = 5_000
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warn": "warning", "info": "note"}
_WEIGHTS = {"error": 0, "warn": 1, "info": 2}


def _rule(name: str, docs: str) -> dict[str, Any]:
    """Describe a code. Viewers show its help next to a result; ``helpUri`` is an absolute URI (3.49.12), left out where none is known."""
    tags = {"properties": {"tags": ["privacy", "security"]}}
    try:
        code = code_of(name)
    except KeyError:  # of an audit that a newer version wrote
        return {"id": name, "shortDescription": {"text": f"finding {name}"}} | tags
    rule: dict[str, Any] = {
        "id": name,
        "shortDescription": {"text": code.meaning},
        "fullDescription": {"text": code.cause},
        "help": {
            "text": f"{code.cause} {code.remedy}",
            "markdown": f"**{name}: {code.meaning}**\n\n{code.cause}\n\n{code.remedy}",
        },
    }
    if docs:
        rule["helpUri"] = f"{docs.rstrip('/')}/codes.md#{name.lower()}"
    return rule | tags


def render_sarif(
    results: Sequence[Result],
    about: Sequence[str] = (),
    cases: Sequence[Case] = (),
    docs: str = "",
) -> str:
    """Return a SARIF log of one run, ASCII; the same results give the same text. Errors are kept first where there are too many.

    ``about``: what was judged, from the wider to the narrower (a policy, a release). It names the run in ``automationDetails.id``: a viewer
    that gets the runs of several policies or releases keeps them apart, and refuses two without a name. ``cases``: what was checked; the
    run's properties name those of each state, also those that gave no result. ``docs``: the address of the folder of the documentation.

    >>> run = json.loads(render_sarif((), ("registry", "microdata")))["runs"][0]
    >>> run["results"], run["automationDetails"]["id"]
    ([], 'privrelease/registry/microdata/')
    """
    kept = sorted(results, key=lambda result: _WEIGHTS[result.level])[:MOST_RESULTS]
    codes = sorted({result.code for result in kept})
    more = len(results) - len(kept)
    failed = any(result.level == "error" and result.waiver is None for result in results)
    invocation: dict[str, Any] = {"executionSuccessful": True, "exitCodeDescription": "failed" if failed else "passed"}
    if more:
        text = f"{more} more results are not shown: viewers keep at most {MOST_RESULTS}"
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
    rules = [_rule(code, docs) for code in codes]
    run = {
        "tool": {"driver": {"name": "privrelease", "semanticVersion": __version__, "rules": rules}},
        "automationDetails": {"id": "".join(f"{quote(part, safe='@')}/" for part in ("privrelease", *about))},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_result(result, codes.index(result.code)) for result in kept],
        **({"properties": {"checks": _states(cases)}} if cases else {}),
    }
    text = json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True)
    return text.replace("<", "\\u003c") + "\n"


def _states(cases: Sequence[Case]) -> dict[str, list[str]]:
    """Names of the limits and checks in each state."""
    found: dict[str, list[str]] = {"holds": [], "does_not_hold": [], "not_assessed": [], "not_asked": []}
    for case in cases:
        found[case.state].append(f"{case.suite}: {case.name}")
    return found


def _result(result: Result, rule: int) -> dict[str, Any]:
    text = result.message if result.hint is None else f"{result.message}\nhint: {result.hint}"
    about = f"{result.release}: {text}" if result.release else text
    value: dict[str, Any] = {
        "ruleId": result.code,
        "ruleIndex": rule,
        "level": _LEVELS[result.level],
        "message": {"text": about},
        "partialFingerprints": {"privrelease/v1": _fingerprint(result)},
        "properties": {"subject": result.subject, "release": result.release},
    }
    if result.file:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(result.file)}}
        if result.line:
            place["region"] = {"startLine": result.line} | ({"startColumn": result.column} if result.column else {})
        value["locations"] = [{"physicalLocation": place}]
    if result.waiver is not None:
        waiver = result.waiver
        properties = {"expires": waiver.expires, "owner": waiver.owner, "approvedBy": waiver.approved_by}
        value["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": waiver.reason, "properties": properties}
        ]
    return value


def _uri(file: str) -> str:
    """Return a path as a URI: relative ones stay relative to where the command ran.

    >>> _uri("policies/a b.yaml"), _uri("/srv/a.yaml")
    ('policies/a%20b.yaml', 'file:///srv/a.yaml')
    """
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _fingerprint(result: Result) -> str:
    """Name a result so that it is the same one on another line: by its rule and what it is about."""
    text = "\0".join((result.code, result.release, result.subject or result.message))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
