"""Every field of Art. 30(1) and Art. 35(7) has its place in the report: what is stated is shown, what is not is marked."""

from __future__ import annotations

import html
import json
import re

import pytest
from pydantic import BaseModel

from privrelease.audit.checks.facts import context_facts, legal_facts
from privrelease.audit.document.model import LegalFacts
from privrelease.policy.language.legal import Legal
from privrelease.policy.language.models import Context, ReviewSpec
from privrelease.report.forms.dpv import render_dpv
from privrelease.report.pages.html import render_html
from privrelease.report.sections import impact
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Context as View
from privrelease.texts.catalogue import english


def read(model, content):
    """A part of a policy, as JSON says it."""
    return model.model_validate_json(json.dumps(content))


FILLED = read(
    Legal,
    {
        "profile": "gdpr",
        "controller": {"name": "mark-controller-name", "contact": "mark-controller-contact"},
        "joint_controllers": [{"name": "mark-joint-name", "contact": "mark-joint-contact"}],
        "representative": {"name": "mark-representative-name", "contact": "mark-representative-contact"},
        "dpo": {"name": "mark-dpo-name", "contact": "mark-dpo-contact"},
        "purposes": [{"id": "mark-purpose-id", "dpv": "mark-purpose-dpv", "text": "mark-purpose-text"}],
        "basis": {"art6": "mark-art6", "art9": "mark-art9", "national_law": "mark-national-law"},
        "data_subjects": ["mark-data-subject", "mark-data-subject-two"],
        "data_categories": ["mark-data-category", "mark-data-category-two"],
        "recipients": [{"id": "group-7", "name": "mark-recipient-name", "country": "DE", "access": "mark-recipient-access"}],
        "transfers": [{"country": "CH", "recipient": "mark-transfer-recipient", "safeguard": "mark-transfer-safeguard"}],
        "retention": {"source": "P10Y", "release": "P5Y"},
        "security_measures": ["mark-security", "mark-security-two"],
        "notice": {"ref": "mark-notice-ref", "exemption": "mark-notice-exemption"},
        "safeguards": "mark-safeguards",
        "processors": [
            {"name": "mark-processor-name", "contact": "mark-processor-contact", "country": "AT", "task": "mark-processor-task"}
        ],
        "rights": {
            right: f"mark-right-{right}"
            for right in ("access", "rectification", "erasure", "restriction", "portability", "objection")
        },
        "dpia": {
            "description": "mark-dpia-description",
            "legitimate_interest": "mark-dpia-interest",
            "necessity": "mark-dpia-necessity",
            "risks": [
                "mark-dpia-risk",
                {
                    "text": "mark-dpia-risk-two",
                    "likelihood": {"before": "significant", "after": "negligible"},
                    "severity": {"before": "maximum", "after": "limited"},
                    "measures": ["second"],
                },
            ],
            "measures": ["mark-dpia-measure", {"id": "second", "text": "mark-dpia-measure-two"}],
            "action_plan": [{"text": "mark-dpia-action", "by": "2031-01-02", "owner": "mark-dpia-owner"}],
            "dpo_advice": {"text": "mark-dpia-advice", "followed": True, "author": "mark-dpia-author", "date": "2031-02-03"},
            "views": "mark-dpia-views",
            "prior_consultation": {"authority": "mark-dpia-authority", "date": "2031-03-04", "outcome": "mark-dpia-outcome"},
        },
    },
)
CONTEXT = read(
    Context,
    {
        "release_model": "controlled",
        "population": {"size": 8500001, "source": "mark-population-source"},
        "controls": ["mark-control"],
        "motives": "mark-motives",
        "harms": "mark-harms",
    },
)
REVIEW = read(ReviewSpec, {"next": "2031-05-17", "triggers": ["mark-trigger", "mark-trigger-two"]})
#: What the vocabulary form says by a term, or has no place for.
SHORTER = {
    ".processors.name",
    ".processors.contact",
    ".processors.task",
    ".rights.access",
    ".rights.rectification",
    ".rights.erasure",
    ".rights.restriction",
    ".rights.portability",
    ".rights.objection",
    ".dpia.action_plan.text",
    ".dpia.action_plan.owner",
    ".dpia.dpo_advice.author",
    ".dpia.prior_consultation.authority",
    ".dpia.prior_consultation.outcome",
    ".purposes.id",
    ".purposes.dpv",
    ".recipients.access",
    ".transfers.recipient",
    ".notice.exemption",
    ".safeguards",
}
#: What is the controller's alone.
KEPT = ("mark-dpia-", "mark-security")


def leaves(value, path=""):
    """(dotted name, value) of every field of a model; one that is empty is a hole in the test."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from leaves(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, tuple):
        assert value, path
        for item in value:
            yield from leaves(item, path)
    else:
        assert value is not None, path
        yield path, value


def shown(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", page[page.index("<main>") :]))


@pytest.fixture(scope="module")
def complete(audit):
    return audit.model_copy(update={"legal": legal_facts(FILLED, ()), "context": context_facts(CONTEXT, REVIEW)})


def test_every_legal_field_that_is_filled_appears_in_the_internal_edition(complete):
    text = shown(render_html(complete, Edition.INTERNAL))
    filled = [*leaves(FILLED), *leaves(CONTEXT), *leaves(REVIEW)]
    assert len(filled) > 40
    for path, value in filled:
        if path != ".profile":
            assert ("yes" if value is True else str(value)) in text, path
    assert "not stated in the policy" not in text


def test_every_legal_text_that_is_filled_stands_in_the_vocabulary_form(complete):
    text = render_dpv(complete, Edition.INTERNAL)
    for path, value in leaves(FILLED):
        if isinstance(value, str) and value.startswith("mark-") and path not in SHORTER:
            assert value in text, path


def test_recipients_get_the_record_but_neither_impact_assessment_nor_security_measures(complete):
    text = shown(render_html(complete, Edition.RECIPIENT))
    for path, value in leaves(FILLED):
        if isinstance(value, str) and value.startswith("mark-"):
            assert (value in text) is not value.startswith(KEPT), path


def test_every_place_that_is_not_filled_is_marked_and_what_is_said_to_be_none_is_not(audit):
    nothing = audit.model_copy(update={"legal": LegalFacts(profile="gdpr", stated={}, missing=("purposes",)), "context": {}})
    page = render_html(nothing, Edition.INTERNAL)
    sections = {
        name: page.split(f'<section id="{name}"')[1].split("</section>")[0] for name in ("record", "lawfulness", "dpia")
    }
    assert {name: text.count("not stated in the policy") for name, text in sections.items()} == {
        "record": 12,
        "lawfulness": 5,
        "dpia": 9,
    }
    assert "these are missing: <bdi>purposes</bdi>" in page
    none = read(Legal, {"joint_controllers": [], "representative": None, "dpo": None, "transfers": [], "recipients": []})
    page = render_html(audit.model_copy(update={"legal": legal_facts(none, ())}), Edition.INTERNAL)
    record = page.split('<section id="record"')[1].split("</section>")[0]
    assert record.count("<bdi>none</bdi>") == 5
    assert record.count("not stated in the policy") == 7


def section(audit, legal, name, **other):
    stated = legal_facts(read(Legal, legal), ())
    page = render_html(audit.model_copy(update={"legal": stated, **other}), Edition.INTERNAL)
    return shown("<main>" + page.split(f'<section id="{name}"')[1].split("</section>")[0])


def test_letters_durations_and_terms_are_words_with_the_term_in_small_print(audit):
    law = section(audit, {"basis": {"art6": "A6-1-e", "art9": "A9-2-j"}, "notice": {"exemption": "art14-5-b"}}, "lawfulness")
    assert "Art. 6(1)(e): task carried out in the public interest" in law
    assert "A9-2-j" in law
    assert "a disproportionate effort" in law
    record = section(
        audit,
        {
            "retention": {"source": "P10Y", "release": "P1Y6M"},
            "purposes": [{"id": "study", "dpv": "dpv:ScientificResearch"}],
            "data_subjects": ["dpv:Patient", "dpv:NonCitizen"],
        },
        "record",
    )
    for said in ("10 years", "1 year 6 months", "Scientific research", "dpv:ScientificResearch", "Patients", "Non citizen"):
        assert said in record, said


def test_fields_that_do_not_apply_under_the_basis_are_left_out(audit):
    consent = {"basis": {"art6": "A6-1-a"}}
    assert "National law" not in section(audit, consent, "lawfulness")
    assert "Interests pursued" not in section(audit, consent, "dpia")
    assert "Interests pursued" in section(audit, {"basis": {"art6": "A6-1-f"}}, "dpia")
    ordinary = tuple(column.model_copy(update={"category": None}) for column in audit.data.columns)
    data = audit.data.model_copy(update={"columns": ordinary})
    assert "Exception, Art. 9(2)" not in section(audit, consent, "lawfulness", data=data)
    special = (ordinary[0].model_copy(update={"category": "special"}), *ordinary[1:])
    data = audit.data.model_copy(update={"columns": special})
    assert "Exception, Art. 9(2)" in section(audit, consent, "lawfulness", data=data)


def test_the_map_puts_each_risk_by_hand_where_its_levels_are(audit):
    risks = [
        {
            "text": "a",
            "likelihood": {"before": "maximum", "after": "negligible"},
            "severity": {"before": "limited", "after": "limited"},
        },
        {
            "text": "b",
            "likelihood": {"before": "maximum", "after": "negligible"},
            "severity": {"before": "maximum", "after": "limited"},
        },
        "in words alone",
    ]
    legal = legal_facts(read(Legal, {"dpia": {"risks": risks}}), ())
    body = impact.build(View(audit.model_copy(update={"legal": legal}), Edition.INTERNAL, english()))
    assert [row.severity for row in body.map] == ["maximum", "significant", "limited", "negligible"]
    empty = ("", "")
    assert body.map[0].cells == (empty, empty, empty, ("", "2"))
    assert body.map[2].cells == (("1, 2", ""), empty, empty, ("", "1"))
    assert body.map[1].cells == body.map[3].cells == (empty,) * 4
    assert [row.text for row in body.risks] == ["a", "b", "in words alone"]


def test_risks_in_words_alone_have_no_map_and_no_column_of_levels(audit):
    legal = legal_facts(read(Legal, {"dpia": {"risks": ["a", "b"], "measures": ["m"]}}), ())
    body = impact.build(View(audit.model_copy(update={"legal": legal}), Edition.INTERNAL, english()))
    assert ([row.text for row in body.risks], body.map, body.assessed, body.met) == (["a", "b"], (), False, False)
