"""The checks in order, each with the code of its finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.audit.integrity import cells, files, identifiers, rows
from privrelease.audit.model import CheckResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.audit.evidence import Evidence
    from privrelease.audit.integrity.judged import Judged

__all__ = ["INTEGRITY_CHECKS", "IntegrityCheck", "integrity"]


@dataclass(frozen=True, slots=True)
class IntegrityCheck:
    """One check: its id, the code of the finding when it fails, what it looks at, the function that judges."""

    id: str
    code: str
    title: str
    judge: Callable[[Evidence], Judged]

    def result(self, evidence: Evidence) -> CheckResult:
        """Judge the evidence. What was never handed over is excused only where the file did not come from a run of ours."""
        judged = self.judge(evidence)
        excused = judged.absent and evidence.target.run is None
        return CheckResult(
            id=self.id,
            title=self.title,
            outcome=judged.outcome,
            severity="warn" if excused else "error",
            message=judged.message,
            observed=judged.observed,
            limit=judged.limit,
            visibility=judged.visibility,
        )


INTEGRITY_CHECKS: tuple[IntegrityCheck, ...] = (
    IntegrityCheck("AUDIT-FILES", "A201", "Every output is there", files.files_readable),
    IntegrityCheck("AUDIT-RECORDS", "A219", "There are records", files.records_released),
    IntegrityCheck("AUDIT-DIGEST", "A202", "Files are those of the manifest", files.digests_agree),
    IntegrityCheck("AUDIT-COLUMNS", "A203", "Columns as planned", files.columns_planned),
    IntegrityCheck("AUDIT-TYPES", "A204", "Types as declared", files.types_planned),
    IntegrityCheck("AUDIT-SAME", "A205", "All files hold the same", files.files_same),
    IntegrityCheck("AUDIT-LEFTOVER", "A221", "Rows and nothing else", files.nothing_left_over),
    IntegrityCheck("AUDIT-ROWMAP", "A206", "Row map is sound", rows.row_map_sound),
    IntegrityCheck("AUDIT-ROWS", "A207", "Rows add up", rows.rows_add_up),
    IntegrityCheck("AUDIT-PERSONS", "A220", "Persons, not rows", rows.persons_counted),
    IntegrityCheck("AUDIT-DROPPED", "A208", "Rows left only as residual", rows.rows_left_residual),
    IntegrityCheck("AUDIT-CHANGED", "A209", "No value changed", cells.none_changed),
    IntegrityCheck("AUDIT-INVENTED", "A210", "No value made up", cells.none_invented),
    IntegrityCheck("AUDIT-NULLED", "A211", "Missing only where planned", cells.missing_only_where_planned),
    IntegrityCheck("AUDIT-LIMIT", "A212", "Lost cells within the limit", cells.within_limit),
    IntegrityCheck("AUDIT-CLAIMS", "A213", "Counts as stated", rows.claims_agree),
    IntegrityCheck("AUDIT-RESIDUAL", "A214", "No small residual group", rows.no_small_residual),
    IntegrityCheck("AUDIT-ORDER", "A215", "Order says nothing", rows.order_says_nothing),
    IntegrityCheck("AUDIT-DIRECT", "A216", "No direct identifier", identifiers.no_direct_identifier),
    IntegrityCheck("AUDIT-HIDDEN", "A217", "No direct identifier under another name", identifiers.no_hidden_identifier),
    IntegrityCheck("AUDIT-PSEUDONYM", "A218", "Pseudonyms are keyed", identifiers.pseudonyms_keyed),
)


def integrity(evidence: Evidence) -> tuple[CheckResult, ...]:
    """Make every check on the evidence."""
    return tuple(check.result(evidence) for check in INTEGRITY_CHECKS)
