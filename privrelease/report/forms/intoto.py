"""An attestation that a release was audited: an in-toto Statement v1 with the predicate test-result v0.1.

Sources: in-toto attestation framework, Statement v1 (in-toto.io/Statement/v1) and predicate test-result v0.1. Signed, it is the payload of
a DSSE envelope (:mod:`privrelease.release.signing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.document.model import Outcome
from privrelease.errors import InputError
from privrelease.release.files import canonical_json
from privrelease.report.forms.results import cases_of
from privrelease.report.view.edition import Edition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.model import AuditResult

__all__ = ["PAYLOAD_TYPE", "PREDICATE_TYPE", "STATEMENT_TYPE", "render_statement"]

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://in-toto.io/attestation/test-result/v0.1"


#: The list of each outcome. The predicate knows the first three; who knows no others passes them over.
_LISTS: Final = {
    "pass": "passedTests",
    "warn": "warnedTests",
    "waived": "warnedTests",
    "fail": "failedTests",
    "error": "notAssessedTests",
    "skipped": "notAssessedTests",
    "not_asked": "notAskedTests",
}


def render_statement(audit: AuditResult, companions: Sequence[tuple[str, str]] = ()) -> bytes:
    """Return the statement as canonical JSON. Subjects are the released files, and their ``companions`` by name and SHA-256: the manifest and
    the recipients' report. The configuration is the resolved policy.

    The statement discloses what is published with the data: names and outcomes of checks that recipients may see, no figure.
    Raises InputError (C303) where the audit names no file: nothing would be attested.
    """
    identity = audit.identity
    if not identity.outputs:
        raise InputError(
            code="C303", message="the audit names no released file: there is nothing to attest", hint="audit a release's files"
        )
    subjects = [*((output.label, output.sha256) for output in identity.outputs), *companions]
    cases = cases_of(audit, Edition.RECIPIENT)
    names: dict[str, list[str]] = {key: [] for key in _LISTS.values()}
    for case in cases:
        names[_LISTS[case.outcome]].append(case.name)
    policy = {
        "name": identity.policy_file,
        "digest": {"sha256": identity.policy_sha256},
        "annotations": {"id": identity.policy_id, "version": identity.policy_version, "form": "resolved"},
    }
    predicate = {
        "result": _result(audit, warned=bool(names["warnedTests"] or names["notAssessedTests"])),
        "configuration": [policy],
        **{key: sorted(found) for key, found in names.items()},
    }
    return canonical_json(
        {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in subjects],
            "predicateType": PREDICATE_TYPE,
            "predicate": predicate,
        }
    )


def _result(audit: AuditResult, *, warned: bool) -> str:
    if audit.decision.outcome is Outcome.FAIL:
        return "FAILED"
    return "PASSED" if audit.decision.outcome is Outcome.PASS and not warned else "WARNED"
