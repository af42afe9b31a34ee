"""The checks of a microdata release, in order: rows, cells, identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import Check, run_checks
from privrelease.audit.microdata.integrity import cells, files, households, identifiers, rows
from privrelease.audit.microdata.integrity import disguised_identifiers as hidden
from privrelease.audit.microdata.integrity import source_consistency as explained

if TYPE_CHECKING:
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.microdata.evidence import Evidence

__all__ = ["MICRODATA_CHECKS", "integrity"]


def _without_row_map(evidence: Evidence) -> bool:
    """With a row map every cell is led to its own source cell: no need to ask what could explain it."""
    return evidence.target.row_map is None


MICRODATA_CHECKS: tuple[Check[Evidence], ...] = (
    Check(
        "A201",
        "AUDIT-FILES",
        files.files_readable,
    ),
    Check(
        "A219",
        "AUDIT-RECORDS",
        files.records_released,
    ),
    Check("A202", "AUDIT-DIGEST", files.digests_agree),
    Check(
        "A203",
        "AUDIT-COLUMNS",
        files.columns_planned,
    ),
    Check(
        "A204",
        "AUDIT-TYPES",
        files.types_planned,
    ),
    Check(
        "A205",
        "AUDIT-SAME",
        files.files_same,
    ),
    Check(
        "A221",
        "AUDIT-LEFTOVER",
        files.nothing_left_over,
    ),
    Check("A206", "AUDIT-ROWMAP", rows.row_map_sound),
    Check(
        "A207",
        "AUDIT-ROWS",
        rows.rows_add_up,
    ),
    Check(
        "A220",
        "AUDIT-PERSONS",
        rows.persons_counted,
    ),
    Check(
        "A298",
        "AUDIT-HOUSEHOLDS",
        households.households_hidden,
        asked=households.households_declared,
        declined=households.households_unasked,
    ),
    Check(
        "A299",
        "AUDIT-LINKS",
        households.links_declared,
        asked=households.links_possible,
    ),
    Check(
        "A208",
        "AUDIT-DROPPED",
        rows.rows_left_residual,
    ),
    Check(
        "A209",
        "AUDIT-CHANGED",
        cells.none_changed,
    ),
    Check(
        "A310",
        "AUDIT-LEVEL",
        cells.planned_level,
        asked=cells.levels_planned,
    ),
    Check(
        "A210",
        "AUDIT-INVENTED",
        cells.none_invented,
    ),
    Check(
        "A211",
        "AUDIT-NULLED",
        cells.missing_only_where_planned,
    ),
    Check(
        "A222",
        "AUDIT-EXPLAINED",
        explained.rows_explained,
        asked=_without_row_map,
    ),
    Check(
        "A212",
        "AUDIT-LIMIT",
        cells.within_limit,
    ),
    Check("A213", "AUDIT-CLAIMS", rows.claims_agree),
    Check(
        "A214",
        "AUDIT-RESIDUAL",
        rows.no_small_residual,
    ),
    Check(
        "A215",
        "AUDIT-ORDER",
        rows.order_says_nothing,
    ),
    Check(
        "A216",
        "AUDIT-DIRECT",
        identifiers.no_direct_identifier,
    ),
    Check(
        "A217",
        "AUDIT-HIDDEN",
        hidden.no_hidden_identifier,
    ),
    Check(
        "A218",
        "AUDIT-PSEUDONYM",
        identifiers.pseudonyms_keyed,
    ),
)


def integrity(evidence: Evidence) -> tuple[CheckResult, ...]:
    """Make every check on the evidence. Evidence that was never handed over is excused only where the file did not come from a
    run of ours.
    """
    return run_checks(MICRODATA_CHECKS, evidence, excused=evidence.target.run is None)
