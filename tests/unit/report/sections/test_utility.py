"""Section 13: exact figures inside, rounded ones for recipients, nothing where few cells changed."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.utility import UtilityMeasures
from privrelease.report.forms.json_report import read_audit, render_json
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition, for_edition


def section(html: str) -> str:
    start = html.index('id="utility-h"')
    return html[start : html.index("</section>", start)]


def measures_with(audit, **changes):
    facts = audit.utility_measures.model_copy(update=changes)
    return audit.model_copy(update={"utility_measures": facts})


def planted(value, marks):
    """The section with a number of its own in every exact figure."""
    if isinstance(value, dict) and "visibility" in value:
        if value["visibility"] == "internal":
            marks.append(7310000 + len(marks))
            return {**value, "value": marks[-1], "exact": str(marks[-1]), "unit": "count", "note": None}
        return value
    if isinstance(value, dict):
        return {name: planted(item, marks) for name, item in value.items()}
    return [planted(item, marks) for item in value] if isinstance(value, list) else value


def test_exact_figures_of_utility_are_in_no_recipient_form(audit):
    marks: list[int] = []
    spoilt = audit.model_copy(
        update={
            "utility_measures": UtilityMeasures.model_validate_json(
                json.dumps(planted(audit.utility_measures.model_dump(mode="json"), marks))
            )
        }
    )
    assert len(marks) > 25
    for form in (render_html(spoilt, Edition.RECIPIENT), render_json(spoilt, Edition.RECIPIENT).decode()):
        assert [mark for mark in marks if str(mark) in form or f"{mark:,}" in form] == []
    inside = render_html(spoilt, Edition.INTERNAL)
    assert sum(f"{mark:,}" in inside for mark in marks) > 15


def test_recipients_see_rounded_shares_and_that_the_rest_is_withheld(audit):
    shown = section(render_html(audit, Edition.RECIPIENT))
    assert "0.5 %" in shown  # 236 of 50,000 cells
    assert "59/12500" not in shown
    sex = re.search(r"<bdi>sex</bdi></th>(.*?)</tr>", shown).group(1)
    assert sex.count("not shown in this edition") == 2  # four cells of sex changed


def test_recipients_are_not_told_which_columns_kept_every_value(audit):
    assert "glucose" in section(render_html(audit, Edition.INTERNAL))
    assert "glucose" not in section(render_html(audit, Edition.RECIPIENT))
    assert for_edition(audit, Edition.RECIPIENT).utility_measures.numbers.untouched == ()


def test_the_recipient_json_holds_a_valid_section_of_withheld_and_rounded_figures(audit):
    facts = UtilityMeasures.model_validate(json.loads(render_json(audit, Edition.RECIPIENT))["utility_measures"])
    assert facts.cells_lost.exact.value is None
    assert facts.cells_lost.rounded.exact == "1/200"
    assert facts.rows_lost.rounded is None


def test_the_chart_of_shifts_tells_in_words_what_it_draws(audit):
    shown = section(render_html(audit, Edition.INTERNAL))
    described = re.search(r'<desc id="shifts-d">(.*?)</desc>', shown).group(1).translate({0x2068: None, 0x2069: None})
    assert "age: mean -0.0213, quantiles -0.1249 to 0" in described
    assert shown.index("shifts-d") < shown.index("Shift of mean and quantiles")


def test_a_column_of_which_nothing_may_be_shown_is_in_no_chart(audit):
    facts = audit.utility_measures
    hidden = tuple(
        one.model_copy(
            update={
                "mean": one.mean.model_copy(update={"rounded": None}),
                "quantiles": tuple(
                    quantile.model_copy(update={"shift": quantile.shift.model_copy(update={"rounded": None})})
                    for quantile in one.quantiles
                ),
            }
        )
        for one in facts.numbers.columns
    )
    spoilt = measures_with(audit, numbers=facts.numbers.model_copy(update={"columns": hidden}))
    assert "shifts-d" not in render_html(spoilt, Edition.RECIPIENT)
    assert "shifts-d" in render_html(spoilt, Edition.INTERNAL)


def test_a_file_whose_rows_cannot_be_led_back_shows_what_counts_tell(audit):
    foreign = measures_with(audit, basis="counts").model_copy(update={"utility": None})
    shown = section(render_html(foreign, Edition.INTERNAL))
    assert "only counts by value were compared" in shown
    assert "Cells lost" in shown
    assert "59/12500" in shown


@pytest.mark.parametrize("count", [0, 1, 60])
def test_any_number_of_numeric_columns_is_shown(audit, count):
    facts = audit.utility_measures
    columns = tuple(facts.numbers.columns[0].model_copy(update={"column": f"column {place}"}) for place in range(count))
    shown = section(
        render_html(measures_with(audit, numbers=facts.numbers.model_copy(update={"columns": columns})), Edition.INTERNAL)
    )
    assert shown.count("<bdi>column ") == count
    assert ("the 20 columns that moved most" in re.sub("</?bdi>", "", shown)) is (count > 20)


def test_no_figure_of_the_section_is_shown_by_its_rounded_form_where_visibility_forbids_it(audit):
    facts = audit.utility_measures
    secret = Figure(value=0.123, exact="123/1000", unit="share", visibility=Visibility.INTERNAL)
    spoilt = measures_with(audit, cells_lost=facts.cells_lost.model_copy(update={"rounded": secret}))
    assert "12.3 %" not in render_html(spoilt, Edition.RECIPIENT)


EXAMPLES = sorted((Path(__file__).parents[4] / "reports").glob("*/audit.json"))


def told(value):
    """Every (exact, rounded) pair of a section."""
    if isinstance(value, dict) and "exact" in value and "rounded" in value:
        yield value["exact"], value["rounded"]
    elif isinstance(value, dict):
        for item in value.values():
            yield from told(item)
    elif isinstance(value, list):
        for item in value:
            yield from told(item)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_examples_tell_recipients_rounded_figures_and_nothing_under_differential_privacy(path):
    audit = read_audit(path)
    found = json.loads(render_json(audit, Edition.RECIPIENT)).get("utility_measures")
    if audit.data.order == "policy" or audit.kind == "synthetic":  # figures, or rows of nobody
        assert found is None
        assert audit.utility is None
        return
    pairs = list(told(found))
    assert len(pairs) > 5
    for exact, rounded in pairs:
        assert exact["value"] is None
        assert rounded is None or 1000 % Fraction(rounded["exact"]).denominator == 0
