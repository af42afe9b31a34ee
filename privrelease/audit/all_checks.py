"""Every check of the auditor and every other finding, by code: for forms that explain codes. Importing it imports all checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from privrelease.audit.checks.codes import OTHER_FINDINGS
from privrelease.audit.comparison.combine import EARLIER_CHECKS
from privrelease.audit.microdata.attacks.assessment import ATTACK_CHECKS, GROUND_CHECKS
from privrelease.audit.microdata.integrity.checks import MICRODATA_CHECKS
from privrelease.audit.statistics.audit import STATISTICS_CHECKS
from privrelease.audit.tables.audit import TABLE_CHECKS
from privrelease.audit.threat_checks import THREAT_CHECKS

if TYPE_CHECKING:
    from privrelease.audit.check import Check

__all__ = ["ALL_CHECKS", "FINDING_HINTS", "FINDING_TITLES"]

ALL_CHECKS: Final[tuple[Check[Any], ...]] = (
    *THREAT_CHECKS,
    *MICRODATA_CHECKS,
    *STATISTICS_CHECKS,
    *TABLE_CHECKS,
    *ATTACK_CHECKS,
    *GROUND_CHECKS,
    *EARLIER_CHECKS,
)

_MEANINGS = (
    *((check.code, check.title, check.hint) for check in ALL_CHECKS),
    *((kind.code, kind.title, kind.hint) for kind in OTHER_FINDINGS),
)
#: The meaning of each code.
FINDING_TITLES: Final[dict[str, str]] = {code: title for code, title, _ in _MEANINGS}
#: The remedy of each code.
FINDING_HINTS: Final[dict[str, str]] = {code: hint for code, _, hint in _MEANINGS}
