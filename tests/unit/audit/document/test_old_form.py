"""Audits whose sections stood by number (version 1 before kinds) are read as what they are; a damaged one is refused, never misread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from privrelease.audit.document.schema import audit_bytes, audit_of, read_audit
from privrelease.texts.catalogue import english

ROOT = Path(__file__).parents[4]
NUMBERS = {
    "since": "0",
    "earlier": "7",
    "sensitive": "7 sensitive",
    "attacks": "9",
    "statistics": "10",
    "table": "11",
    "utility_measures": "13",
    "waivers": "14",
    "signoff": "15",
}
KINDS = {
    "census-microdata": "microdata",
    "diabetes-microdata": "microdata",
    "diabetes-statistics": "statistics",
    "diabetes-elderly": "table",
}


def old_form(audit):
    """An audit as it was written before it said its kind."""
    document = json.loads(audit_bytes(audit))
    del document["kind"]
    for column in document["data"]["columns"]:
        del column["treated"]
    document["sections"] = {number: document.pop(name) for name, number in NUMBERS.items() if name in document}
    return document


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_an_audit_by_numbers_is_the_same_audit(name, kind):
    audit = read_audit(ROOT / "reports" / name / "audit.json")
    assert audit.kind == kind
    document = old_form(audit)
    assert document["sections"]
    assert audit_of(json.dumps(document).encode()) == audit


def test_the_edition_of_a_table_for_recipients_has_no_section_and_is_still_a_table():
    document = old_form(read_audit(ROOT / "reports" / "diabetes-elderly" / "audit.json"))
    document["sections"] = {}
    assert audit_of(json.dumps(document).encode()).kind == "table"


def test_treatments_are_read_from_the_words_that_were_written():
    audit = read_audit(ROOT / "reports" / "diabetes-microdata" / "audit.json")
    assert {column.treated for column in audit.data.columns} > {"removed", "local_suppression"}
    assert all(column.treatment == english().plain(f"treatment.{column.treated}") for column in audit.data.columns)


@pytest.mark.parametrize("sections", [{"99": {}}, {"10": {"epsilon": 1}}, {"9": "x"}, [], "x"])
def test_a_section_that_is_not_known_or_damaged_is_refused(sections):
    document = old_form(read_audit(ROOT / "reports" / "diabetes-microdata" / "audit.json"))
    document["sections"] = sections
    with pytest.raises(ValidationError):
        audit_of(json.dumps(document).encode())
