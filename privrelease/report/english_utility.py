"""The English texts of the measures in section 13, utility."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_UTILITY"]

ENGLISH_UTILITY: Final[dict[str, str]] = {
    "utility.damaged": "The measures of utility cannot be read.",
    "utility.counts_only": "Released rows could not be led back to their source: only counts by value were compared, as if cells were only lost.",
    "utility.rounded": "Figures about the source are rounded, and withheld where fewer than {n} cells changed or few were left as they were.",
    "utility.rows_lost": "Rows that did not leave",
    "utility.kept_caption": "Information kept. 100 %: nothing was lost. Entropy weighs a rare value more than a frequent one.",
    "utility.what": "What it counts",
    "utility.entropy_whole_file": "Entropy, whole file",
    "utility.entropy_whole_file_means": "Bits that suppressed cells held, by how frequent each value is in the whole column.",
    "utility.entropy_suppressed": "Entropy, suppressed cells",
    "utility.entropy_suppressed_means": "The same by how frequent each value is among the suppressed cells: what ARX prints.",
    "utility.granularity": "Granularity",
    "utility.granularity_means": "How few of its column's values a cell may stand for (Iyengar): a suppressed one stands for any.",
    "utility.lost_caption": "Cells lost per column, in released rows and in those that did not leave, and the entropy that was kept (whole file).",
    "utility.lost": "Cells lost",
    "utility.kept": "Entropy kept",
    "utility.numbers": "Shift of numbers",
    "utility.numbers_caption": "Shift of mean and quantiles in standard deviations of the source. IL1s: sum of |x - x'| / (√2 sd) over cells with a value on both sides.",
    "utility.mean": "Mean",
    "utility.at": "{p} quantile",
    "utility.il1s": "IL1s",
    "utility.il1s_mean": "Mean IL1s of a cell of these columns: {value}.",
    "utility.untouched": "Every value of these numeric columns left as it was: {columns}.",
    "utility.not_measured": "Not measured, beyond the first columns that changed: {columns}.",
    "utility.queries": "Count queries",
    "utility.queries_caption": "Median relative error of counts asked of the release instead of the source, over random queries of one to three columns; "
    "a true count below 0.1 % of the records is taken as that.",
    "utility.query_kind": "Queries",
    "utility.query.point": "points (one value per column)",
    "utility.query.range": "ranges (an interval of at least one ordered column)",
    "utility.asked": "Asked",
    "utility.median_error": "Median error",
    "chart.shifts": "Shift of numeric columns",
    "chart.shifts_desc": "Shift of the mean and of the quantiles from 5 % to 95 %, in standard deviations of the source. {columns}.",
    "chart.shift_of": "{column}: mean {mean}, quantiles {low} to {high}",
    "chart.shifts_caption": "Point: shift of the mean. Line: from the smallest to the largest shift of five quantiles. 0: nothing moved.",
    "chart.shifts_rest": "The chart shows the {shown} columns that moved most; the table shows all.",
}
