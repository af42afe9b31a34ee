"""Models that are stored: made ready when used, described from their source."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from privrelease.documents import Document, attribute_docstrings


class Wide(Document):
    rows: int
    """How many rows."""
    note: str = ""


class Narrow(Wide):
    share: float = 0.0
    """A share,
    of all.
    """


def test_attributes_are_described_by_the_text_below_them_also_those_that_are_inherited():
    assert attribute_docstrings(Narrow) == {"rows": "How many rows.", "share": "A share,\nof all."}
    properties = Narrow.model_json_schema()["properties"]
    assert properties["rows"]["description"] == "How many rows."
    assert "description" not in properties["note"]


def test_a_stored_value_is_strict_about_keys_and_never_changes():
    made = Wide.model_validate_json('{"rows": 3}')
    with pytest.raises(ValidationError):
        Wide.model_validate({"rows": 3, "more": 1})
    with pytest.raises(ValidationError):
        made.rows = 4


def test_no_model_is_made_ready_before_it_is_used():
    code = (
        "import privrelease.audit.document.model as m; from privrelease.audit.document.schema import audit_bytes;"
        "print(m.AuditResult.__pydantic_complete__, m.Figure.__pydantic_complete__)"
    )
    said = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False"]
