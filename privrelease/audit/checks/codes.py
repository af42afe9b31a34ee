"""Codes of the auditor's findings; append-only. Values alone, so that a renderer can name them without touching a file or an engine."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ATTACK_CODES",
    "CONTROL_CHECK",
    "EARLIER_CODES",
    "FINDING_TITLES",
    "INTEGRITY_CODES",
    "MEASURE_CODES",
    "NO_MANIFEST",
    "STATISTICS_CODES",
    "TABLE_CODES",
]

#: The code of each measure of a threat that misses its limit.
MEASURE_CODES: Final = {"highest_risk": "A101", "average_risk": "A102", "records_at_risk": "A103", "subsets": "A104"}

#: Id, code and title of every check of a parked microdata release.
INTEGRITY_CODES: tuple[tuple[str, str, str], ...] = (
    ("AUDIT-FILES", "A201", "Every output is there"),
    ("AUDIT-RECORDS", "A219", "There are records"),
    ("AUDIT-DIGEST", "A202", "Files are those of the manifest"),
    ("AUDIT-COLUMNS", "A203", "Columns as planned"),
    ("AUDIT-TYPES", "A204", "Types as declared"),
    ("AUDIT-SAME", "A205", "All files hold the same"),
    ("AUDIT-LEFTOVER", "A221", "Rows and nothing else"),
    ("AUDIT-ROWMAP", "A206", "Row map is sound"),
    ("AUDIT-ROWS", "A207", "Rows add up"),
    ("AUDIT-PERSONS", "A220", "Persons, not rows"),
    ("AUDIT-DROPPED", "A208", "Rows left only as residual"),
    ("AUDIT-CHANGED", "A209", "No value changed"),
    ("AUDIT-INVENTED", "A210", "No value made up"),
    ("AUDIT-NULLED", "A211", "Missing only where planned"),
    ("AUDIT-EXPLAINED", "A222", "Rows are explained by the source"),
    ("AUDIT-LIMIT", "A212", "Lost cells within the limit"),
    ("AUDIT-CLAIMS", "A213", "Counts as stated"),
    ("AUDIT-RESIDUAL", "A214", "No small residual group"),
    ("AUDIT-ORDER", "A215", "Order says nothing"),
    ("AUDIT-DIRECT", "A216", "No direct identifier"),
    ("AUDIT-HIDDEN", "A217", "No direct identifier under another name"),
    ("AUDIT-PSEUDONYM", "A218", "Pseudonyms are keyed"),
)

#: Id, code and title of every check of a release of statistics.
STATISTICS_CODES: tuple[tuple[str, str, str], ...] = (
    ("AUDIT-DP-FILES", "A231", "Every output is the long table of statistics"),
    ("AUDIT-DP-DIGEST", "A232", "Files are those of the manifest"),
    ("AUDIT-DP-SAME", "A233", "All files hold the same"),
    ("AUDIT-DP-ORDER", "A234", "Figures stand in the order of the policy"),
    ("AUDIT-DP-GROUPS", "A235", "Every declared group is there, and no other"),
    ("AUDIT-DP-SCALE", "A236", "Mechanisms, scales and costs are those of the plan"),
    ("AUDIT-DP-FIGURES", "A237", "Figures are finite and inside their intervals"),
    ("AUDIT-DP-BUDGET", "A238", "All draws together are within the budget, and claimed"),
    ("AUDIT-DP-NOISE", "A239", "The noise is secret"),
    ("AUDIT-DP-LEDGER", "A240", "The ledger was charged for every draw, and for no other"),
)

#: Id, code and title of every check of a table.
TABLE_CODES: tuple[tuple[str, str, str], ...] = (
    ("AUDIT-TABLE-FILES", "A251", "Every output is the table of the plan"),
    ("AUDIT-TABLE-DIGEST", "A252", "Files are those of the manifest"),
    ("AUDIT-TABLE-SAME", "A253", "All files hold the same"),
    ("AUDIT-TABLE-KEYS", "A254", "Every declared cell is there, and no other"),
    ("AUDIT-TABLE-BLANKS", "A255", "Suppressed cells are blank and marked, zeros are zeros"),
    ("AUDIT-TABLE-FIGURES", "A256", "Printed figures are those of the source"),
    ("AUDIT-TABLE-PERSONS", "A257", "Persons have the declared rows"),
    ("AUDIT-TABLE-PRIMARY", "A258", "No unsafe cell is printed"),
    ("AUDIT-TABLE-INTERVAL", "A259", "Unsafe cells stay uncertain"),
    ("AUDIT-TABLE-GROUP", "A260", "No unsafe group can be worked out"),
    ("AUDIT-TABLE-CLASS", "A261", "No group shares one key"),
    ("AUDIT-TABLE-IMPOSSIBLE", "A262", "Nobody is in an impossible cell"),
)

#: Id, code and title of the check of each attack that has a limit.
ATTACK_CODES: tuple[tuple[str, str, str], ...] = (
    ("AUDIT-ATTACK-SINGLING-OUT-UNIVARIATE", "A401", "Attack: singling out by one column"),
    ("AUDIT-ATTACK-SINGLING-OUT-MULTIVARIATE", "A402", "Attack: singling out by several columns"),
    ("AUDIT-ATTACK-LINKABILITY", "A403", "Attack: linking two lists"),
    ("AUDIT-ATTACK-INFERENCE", "A404", "Attack: guessing a column"),
    ("AUDIT-ATTACK-RECORD-LINKAGE", "A405", "Attack: finding a person's record"),
    ("AUDIT-ATTACK-MEMBERSHIP", "A406", "Attack: telling who was in the data"),
)
CONTROL_CHECK: tuple[str, str, str] = ("AUDIT-ATTACK-CONTROL", "A407", "Control persons are not in the data")

#: Id, code and title of every check of a release beside those that were published before it.
EARLIER_CODES: tuple[tuple[str, str, str], ...] = (
    ("AUDIT-EARLIER-INTERSECT", "A281", "Classes stay large beside earlier releases"),
    ("AUDIT-EARLIER-DIFFERENCE", "A282", "No small group between this and earlier releases"),
    ("AUDIT-EARLIER-CELLS", "A283", "Earlier tables give no cell back"),
    ("AUDIT-EARLIER-BUDGET", "A284", "The budget covers all releases together"),
    ("AUDIT-EARLIER-REPEATED", "A285", "The same question is not asked anew"),
    ("AUDIT-EARLIER-LOOKED", "A286", "Every earlier release was looked at"),
)

#: Codes of findings that no single check has, with what they mean.
FINDING_TITLES: dict[str, str] = {
    "A101": "highest risk above its limit",
    "A102": "average risk above its limit",
    "A103": "more records at risk than the limit",
    "A104": "a combination of columns has too small a class",
    "A105": "a threat has nothing to measure",
    "A107": "nothing was checked",
    "A108": "a population has fewer persons than the file",
    **{
        code: title
        for _, code, title in (*INTEGRITY_CODES, *STATISTICS_CODES, *TABLE_CODES, *ATTACK_CODES, CONTROL_CHECK, *EARLIER_CODES)
    },
    "A301": "a check of the policy does not hold",
    "A302": "a check of the policy could not be made",
    "A303": "a waiver does not count",
    "A501": "rows outside a domain were left out",
}

#: What is said of a check that compares with the manifest where there is none.
NO_MANIFEST: Final = "there is no manifest to compare with"
