"""The checks in order, each with the code of its finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.audit.checks.codes import INTEGRITY_CODES
from privrelease.audit.document.model import CheckResult
from privrelease.audit.microdata.integrity import cells, files, identifiers, rows
from privrelease.audit.microdata.integrity import disguised_identifiers as hidden
from privrelease.audit.microdata.integrity import source_consistency as explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.audit.checks.judged import Judged
    from privrelease.audit.microdata.evidence import Evidence

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


_JUDGES: dict[str, Callable[[Evidence], Judged]] = {
    "AUDIT-FILES": files.files_readable,
    "AUDIT-RECORDS": files.records_released,
    "AUDIT-DIGEST": files.digests_agree,
    "AUDIT-COLUMNS": files.columns_planned,
    "AUDIT-TYPES": files.types_planned,
    "AUDIT-SAME": files.files_same,
    "AUDIT-LEFTOVER": files.nothing_left_over,
    "AUDIT-ROWMAP": rows.row_map_sound,
    "AUDIT-ROWS": rows.rows_add_up,
    "AUDIT-PERSONS": rows.persons_counted,
    "AUDIT-DROPPED": rows.rows_left_residual,
    "AUDIT-CHANGED": cells.none_changed,
    "AUDIT-INVENTED": cells.none_invented,
    "AUDIT-NULLED": cells.missing_only_where_planned,
    "AUDIT-EXPLAINED": explained.rows_explained,
    "AUDIT-LIMIT": cells.within_limit,
    "AUDIT-CLAIMS": rows.claims_agree,
    "AUDIT-RESIDUAL": rows.no_small_residual,
    "AUDIT-ORDER": rows.order_says_nothing,
    "AUDIT-DIRECT": identifiers.no_direct_identifier,
    "AUDIT-HIDDEN": hidden.no_hidden_identifier,
    "AUDIT-PSEUDONYM": identifiers.pseudonyms_keyed,
}

INTEGRITY_CHECKS: tuple[IntegrityCheck, ...] = tuple(
    IntegrityCheck(check_id, code, title, _JUDGES[check_id]) for check_id, code, title in INTEGRITY_CODES
)


def integrity(evidence: Evidence) -> tuple[CheckResult, ...]:
    """Make every check on the evidence. With a row map every cell is led to its own source cell: no need to ask what could explain it."""
    needless = {"AUDIT-EXPLAINED"} if evidence.target.row_map is not None else frozenset()
    return tuple(check.result(evidence) for check in INTEGRITY_CHECKS if check.id not in needless)
