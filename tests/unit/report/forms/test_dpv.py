"""The form of the Data Privacy Vocabulary: every IRI is one of the published vocabulary."""

from __future__ import annotations

import csv
import json

import pytest

from privrelease.report.forms.dpv import DATA_SUBJECTS, PURPOSES, render_dpv
from privrelease.report.view.edition import Edition


@pytest.fixture(scope="module")
def dpv_terms(shared):
    with (shared / "reference" / "schemas" / "dpv-terms.tsv").open(encoding="utf-8") as file:
        return {row["iri"] for row in csv.DictReader(file, delimiter="\t")}


def iris(value, context):
    """Every IRI of a JSON-LD document, expanded."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "@context":
                continue
            names = [key] if not key.startswith("@") else [item] if isinstance(item, str) else item
            for name in names:
                prefix, _, term = name.partition(":")
                yield context[prefix] + term
            yield from () if key.startswith("@") else iris(item, context)
    elif isinstance(value, list):
        for item in value:
            yield from iris(item, context)


@pytest.mark.parametrize("edition", Edition)
def test_every_iri_of_the_dpv_form_is_in_the_published_vocabulary(audit, dpv_terms, edition):
    pseudonym = audit.data.columns[0].model_copy(update={"leaves": True, "treatment": "pseudonymised (keyed hash)"})
    special = audit.data.columns[-1].model_copy(update={"leaves": True, "category": "special"})
    data = audit.data.model_copy(update={"columns": (pseudonym, special, *audit.data.columns)})
    more = {"transfers.1.safeguard": "clauses", "dpia.views": "asked", "dpia.legitimate_interest": "one"}
    transfers = more | {
        "transfers.1.country": "CH",
        "data_categories": ("health",),
        "representative.name": "Somebody",
        "purposes.2.dpv": "dpv:NoSuchTerm",
    }
    stated = {**audit.legal.stated, **transfers, "data_subjects": ("dpv:Patient", "dpv:NoSuchTerm", "<b>")}
    changed = audit.model_copy(update={"data": data, "legal": audit.legal.model_copy(update={"stated": stated})})
    document = json.loads(render_dpv(changed, edition))
    used = set(iris(document, document["@context"]))
    assert len(used) > 20
    assert used <= dpv_terms


def test_every_term_that_a_policy_may_state_is_in_the_published_vocabulary(dpv_terms):
    assert {f"https://w3id.org/dpv#{term}" for term in PURPOSES | DATA_SUBJECTS} <= dpv_terms


def test_recipients_get_no_impact_assessment_in_the_dpv_form(audit):
    assert "dpv:DPIA" in render_dpv(audit, Edition.INTERNAL)
    assert "dpv:DPIA" not in render_dpv(audit, Edition.RECIPIENT)
