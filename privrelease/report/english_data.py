"""The English texts of section 6, data."""

from __future__ import annotations

from typing import Final

__all__ = ["ENGLISH_DATA"]

ENGLISH_DATA: Final[dict[str, str]] = {
    "data.heading": "Data",
    "data.basis": "ISO/IEC 27559, ISO/IEC 20889",
    "data.caption": "What the release is made of.",
    "data.dataset": "Dataset",
    "data.snapshot": "Snapshot",
    "data.population": "Population",
    "data.unit": "Person",
    "data.unit_rows": "every row is a person of its own",
    "data.source_rows": "Rows of the source",
    "data.source_persons": "Persons in the source",
    "data.rows_per_person": "Rows per person, mean",
    "data.released_rows": "Rows released",
    "data.order": "Order of the rows",
    "data.order.values": "by the released values, so that the order tells nothing",
    "data.order.policy": "as the policy lists queries and keys, so that the order tells nothing",
    "data.order.source": "as in the source: the order may tell who is who",
    "data.columns": "Columns",
    "data.columns_caption": "Declared columns of the dataset, and what became of them.",
    "data.role": "Role",
    "data.type": "Type",
    "data.domain": "Declared values",
    "data.category.special": "special category, Art. 9 GDPR",
    "data.category.criminal": "criminal convictions, Art. 10 GDPR",
    "data.leaves": "Leaves",
    "data.treatment": "Treatment",
    "data.role.direct": "identifies directly",
    "data.role.quasi": "identifies with others",
    "data.role.sensitive": "sensitive",
    "data.role.insensitive": "neither",
}
