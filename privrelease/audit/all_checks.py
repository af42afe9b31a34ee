"""Every check of the auditor, of every kind of release. Importing it imports all checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from privrelease.audit.attacks.assessment import ATTACK_CHECKS, GROUND_CHECKS
from privrelease.audit.comparison.combine import EARLIER_CHECKS
from privrelease.audit.microdata.integrity.checks import MICRODATA_CHECKS
from privrelease.audit.statistics.audit import STATISTICS_CHECKS
from privrelease.audit.synthetic.checks import SYNTHETIC_CHECKS
from privrelease.audit.synthetic.informing import INFORMING_CHECKS
from privrelease.audit.tables.checks import TABLE_CHECKS
from privrelease.audit.threat_checks import THREAT_CHECKS

if TYPE_CHECKING:
    from privrelease.audit.check import Check

__all__ = ["ALL_CHECKS"]

ALL_CHECKS: Final[tuple[Check[Any], ...]] = (
    *THREAT_CHECKS,
    *MICRODATA_CHECKS,
    *STATISTICS_CHECKS,
    *TABLE_CHECKS,
    *SYNTHETIC_CHECKS,
    *INFORMING_CHECKS,
    *ATTACK_CHECKS,
    *GROUND_CHECKS,
    *EARLIER_CHECKS,
)
