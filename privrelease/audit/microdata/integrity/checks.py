"""The checks of a microdata release, in order: rows, cells, identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import AGAIN, EDITED, FAULT, Check, run_checks
from privrelease.audit.microdata.integrity import cells, files, households, identifiers, rows
from privrelease.audit.microdata.integrity import disguised_identifiers as hidden
from privrelease.audit.microdata.integrity import source_consistency as explained
from privrelease.plan.microdata.links import LESS_OF_HOUSEHOLDS, SAY_WHOM

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
        "Every output is there",
        "write every output of the policy; of a file of others the code in brackets says what is wrong, often a column that was recoded "
        "(ranges, masked digits) and no longer has its declared type",
        files.files_readable,
    ),
    Check(
        "A219",
        "AUDIT-RECORDS",
        "There are records",
        "an empty release shows nothing: look at the filters of the policy, and at what its steps suppress or drop",
        files.records_released,
    ),
    Check("A202", "AUDIT-DIGEST", "Files are those of the manifest", EDITED, files.digests_agree),
    Check(
        "A203",
        "AUDIT-COLUMNS",
        "Columns as planned",
        "release the columns of the policy, no more and no fewer, or change what the policy releases",
        files.columns_planned,
    ),
    Check(
        "A204",
        "AUDIT-TYPES",
        "Types as declared",
        "write the types of the policy; a column that was recoded (ranges, masked digits) has another type, which a policy that only suppresses does not allow",
        files.types_planned,
    ),
    Check(
        "A205",
        "AUDIT-SAME",
        "All files hold the same",
        f"all outputs of a release hold the same rows: {AGAIN}",
        files.files_same,
    ),
    Check(
        "A221",
        "AUDIT-LEFTOVER",
        "Rows and nothing else",
        "write the rows alone: no metadata, other table or dictionary value that no row has",
        files.nothing_left_over,
    ),
    Check("A206", "AUDIT-ROWMAP", "Row map is sound", FAULT, rows.row_map_sound),
    Check(
        "A207",
        "AUDIT-ROWS",
        "Rows add up",
        "rows may be dropped only as a residual group: add none, and release the others",
        rows.rows_add_up,
    ),
    Check(
        "A220",
        "AUDIT-PERSONS",
        "Persons, not rows",
        "declare the person (`unit: {column: …, max_rows: …}`) as the data has them",
        rows.persons_counted,
    ),
    Check(
        "A298",
        "AUDIT-HOUSEHOLDS",
        "Households share their composition",
        LESS_OF_HOUSEHOLDS,
        households.households_hidden,
        asked=households.households_declared,
        declined=households.households_unasked,
    ),
    Check(
        "A299",
        "AUDIT-LINKS",
        "No column links persons unsaid",
        SAY_WHOM,
        households.links_declared,
        asked=households.links_possible,
    ),
    Check(
        "A208",
        "AUDIT-DROPPED",
        "Rows left only as residual",
        "keep the rows, with cells suppressed, or let a threat's residual group explain them",
        rows.rows_left_residual,
    ),
    Check(
        "A209",
        "AUDIT-CHANGED",
        "No value changed",
        "suppress a cell, never change it: a changed value hides the person from k and is not a protection that the policy declares",
        cells.none_changed,
    ),
    Check(
        "A310",
        "AUDIT-LEVEL",
        "Labels of the planned level",
        "write every value of the column at the level of the policy: a finer one discloses more than planned, and two levels next to each other divide classes",
        cells.planned_level,
        asked=cells.levels_planned,
    ),
    Check(
        "A210",
        "AUDIT-INVENTED",
        "No value made up",
        "leave a missing value missing: a value that was filled in is none of the source's",
        cells.none_invented,
    ),
    Check(
        "A211",
        "AUDIT-NULLED",
        "Missing only where planned",
        "name the column in a threat that the release protects, or leave its cells as they are",
        cells.missing_only_where_planned,
    ),
    Check(
        "A222",
        "AUDIT-EXPLAINED",
        "Rows are explained by the source",
        "drop rows, suppress cells and write values coarser as the policy's steps say, and change nothing else; where a column was recoded otherwise on purpose, declare the step (`generalise`, `code`, `round`), or make the policy's source of the recoded data",
        explained.rows_explained,
        asked=_without_row_map,
    ),
    Check(
        "A212",
        "AUDIT-LIMIT",
        "Lost cells within the limit",
        "generalise (`generalise`) or leave out the column that lost most cells, or allow more (`limit`)",
        cells.within_limit,
    ),
    Check("A213", "AUDIT-CLAIMS", "Counts as stated", FAULT, rows.claims_agree),
    Check(
        "A214",
        "AUDIT-RESIDUAL",
        "No small residual group",
        "drop the residual records (`residual: drop`), or suppress more records to the last cell until they are k",
        rows.no_small_residual,
    ),
    Check(
        "A215",
        "AUDIT-ORDER",
        "Order says nothing",
        "sort the file by its own values (`order: values`)",
        rows.order_says_nothing,
    ),
    Check(
        "A216",
        "AUDIT-DIRECT",
        "No direct identifier",
        "remove the column, or let it leave as a pseudonym (`pseudonymise`)",
        identifiers.no_direct_identifier,
    ),
    Check(
        "A217",
        "AUDIT-HIDDEN",
        "No direct identifier under another name",
        "remove the column, or declare it `direct`; where values agree by chance, say why in the policy's context",
        hidden.no_hidden_identifier,
    ),
    Check(
        "A218",
        "AUDIT-PSEUDONYM",
        "Pseudonyms are keyed",
        "make pseudonyms with a secret key (`pseudonymise`): a plain hash is undone by trying every value",
        identifiers.pseudonyms_keyed,
    ),
)


def integrity(evidence: Evidence) -> tuple[CheckResult, ...]:
    """Make every check on the evidence. Evidence that was never handed over is excused only where the file did not come from a
    run of ours.
    """
    return run_checks(MICRODATA_CHECKS, evidence, excused=evidence.target.run is None)
