"""Sections 0, 6 and 15: open waivers, columns that changed, declared values, the officer's advice."""

from __future__ import annotations

import html
import json
import re
from fractions import Fraction

from privrelease.audit.checks.facts import legal_facts
from privrelease.audit.comparison.audits import differences
from privrelease.audit.document.model import Figure, Outcome, Visibility
from privrelease.audit.document.sensitive import SensitiveFacts, SensitiveRow
from privrelease.report.forms.json_report import render_json
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition


def section(audit, name, edition=Edition.INTERNAL) -> str:
    """The words of one section."""
    page = render_html(audit, edition)
    part = page.split(f'<section id="{name}"')[1].split("<section id=")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", part)).split())


def test_recipients_are_never_told_that_there_is_no_waiver(audit):
    """A waived check may be an internal one: its waiver cannot be seen in their edition, and was denied there."""
    check = audit.checks[0].model_copy(
        update={"id": "UTIL-007", "outcome": Outcome.FAIL, "waived": True, "visibility": Visibility.INTERNAL}
    )
    waived = audit.model_copy(update={"checks": (check, *audit.checks[1:])})
    for one in (waived, audit):
        said = section(one, "waivers", Edition.RECIPIENT)
        assert "No waiver" not in said
        assert "on record with the controller" in said
    assert "No waiver is recorded" in section(audit, "waivers", Edition.INTERNAL)


def test_the_decision_names_what_is_waived_in_both_editions(audit):
    check = audit.checks[0].model_copy(update={"id": "UTIL-007", "outcome": Outcome.FAIL, "waived": True})
    waived = audit.model_copy(update={"checks": (check, *audit.checks[1:])})
    for edition in Edition:
        assert "Fails and is waived, see Waivers: \u2068UTIL-007\u2069." in section(waived, "decision", edition)
        assert "is waived" not in section(audit, "decision", edition)


def test_a_table_claims_no_differential_privacy_and_figures_have_no_rows_to_attack_or_lose(audit):
    data = audit.data.model_copy(update={"order": "policy"})
    bare = audit.model_copy(update={"data": data, "utility_measures": None, "utility": None})
    table, noisy = (bare.model_copy(update={"kind": kind}) for kind in ("table", "statistics"))
    for edition in Edition:
        assert "No claim." in section(table, "dp", edition)
        assert "claims differential privacy" in section(noisy, "dp", edition)
        assert "figures are published" in section(table, "attacks", edition)
        assert "figures are published" in section(table, "utility", edition)


def test_declared_values_and_special_categories_of_columns_are_shown_the_values_to_those_inside(audit):
    column = audit.data.columns[0].model_copy(update={"domain": "18 to 85", "category": "special"})
    data = audit.data.model_copy(update={"columns": (column, *audit.data.columns[1:])})
    changed = audit.model_copy(update={"data": data})
    assert "18 to 85" in section(changed, "data")
    assert "18 to 85" not in render_html(changed, Edition.RECIPIENT)
    for edition in Edition:
        assert "special category, Art. 9 GDPR" in section(changed, "data", edition)


def test_the_advice_of_the_officer_stands_with_the_signatures_even_where_none_is_required(audit):
    advised = audit.model_copy(
        update={"legal": legal_facts({"dpia": {"dpo_advice": {"text": "proceed with care", "followed": False}}}, ())}
    )
    text = section(advised, "signoff")
    assert "The policy requires no approval" in text
    assert "Advice proceed with care Followed no" in text
    assert "proceed with care" not in render_html(advised, Edition.RECIPIENT)


def test_a_column_that_leaves_anew_is_worse_and_one_that_stays_away_is_better(audit):
    first = next(column for column in audit.data.columns if column.leaves)
    others = tuple(column for column in audit.data.columns if column is not first)
    less = audit.model_copy(update={"data": audit.data.model_copy(update={"columns": others})})
    (more,) = (one for one in differences(less, audit) if one.what == "column")
    assert (more.about, more.before, more.after, more.effect) == (first.name, None, first.treatment, "worse")
    (fewer,) = (one for one in differences(audit, less) if one.what == "column")
    assert fewer.effect == "better"


def test_how_varied_sensitive_values_are_is_told_to_those_inside(audit):
    row = SensitiveRow(
        threat="external",
        column="diagnosis",
        distinct_l=Figure.of(1),
        entropy_l=Figure.of(1.0),
        t=Figure.of(Fraction(13, 20), "share"),
        distance="equal",
        shared=Figure.of(Fraction(13, 125), "share"),
    )
    facts = SensitiveFacts(rows=(row,), left_out=2)
    shown = audit.model_copy(update={"sensitive": facts})
    text = section(shown, "risk")
    assert "diagnosis external 1 1 0.65 equal distance 10.4 %" in text
    assert "were not looked at: 2" in text
    assert "Sensitive values within classes" not in render_html(shown, Edition.RECIPIENT)
    assert "sensitive" not in json.loads(render_json(shown, Edition.RECIPIENT))


def test_a_sensitive_value_that_a_class_shares_is_evidence_of_inference(audit):
    row = SensitiveRow(
        threat="external",
        column="diagnosis",
        distinct_l=Figure.of(1),
        entropy_l=Figure.of(1.0),
        t=Figure.of(Fraction(13, 20), "share"),
        distance="equal",
        shared=Figure.of(Fraction(13, 125), "share"),
    )
    facts = SensitiveFacts(rows=(row,), left_out=0)
    shown = audit.model_copy(update={"sensitive": facts})
    said = section(shown, "evidence")
    assert "10.4 % are in classes that share one value of diagnosis" in said
    assert "Not measured" not in said
    outside = render_html(shown, Edition.RECIPIENT)
    assert "share one value of" not in outside
    assert "Not measured: where all members" not in outside
    assert "Not measured: where all members" in section(audit, "evidence")
