"""Every key of the policy's language: what a change of it reads as in `privrelease diff`, and at which line.

The verdicts are decided from what a key means for a person who is protected and for a reader who relies on a file.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from privrelease.policy import loader
from privrelease.policy.changes.diff import policy_changes
from privrelease.policy.loader import load_policy
from privrelease.policy.text.yaml import parse_yaml
from tests.unit.policy.changes.diff_keys import every_key
from tests.unit.policy.changes.diff_rows_checks import ATTACKS, CHECKS, EXPECTATIONS
from tests.unit.policy.changes.diff_rows_data import DATASETS, FORMATS, RELEASES, STEPS, THREATS
from tests.unit.policy.changes.diff_rows_figures import STATISTICS, TABLES
from tests.unit.policy.changes.diff_rows_hierarchies import FILES, HIERARCHIES
from tests.unit.policy.changes.diff_rows_synthetic import SYNTHETIC
from tests.unit.policy.changes.diff_rows_synthetic_grids import SYNTHETIC_GRIDS
from tests.unit.policy.changes.diff_rows_synthetic_marginals import SYNTHETIC_MARGINALS
from tests.unit.policy.changes.diff_rows_words import AROUND, CONTROLS, LEGAL
from tests.unit.policy.changes.parsed_sections import parse_by_sections

TABLES_OF_ROWS = (
    CHECKS,
    EXPECTATIONS,
    ATTACKS,
    AROUND,
    CONTROLS,
    LEGAL,
    STATISTICS,
    TABLES,
    SYNTHETIC,
    SYNTHETIC_GRIDS,
    DATASETS,
    FORMATS,
    THREATS,
    RELEASES,
    STEPS,
    HIERARCHIES,
    SYNTHETIC_MARGINALS,
)
ROWS = [row for table in TABLES_OF_ROWS for row in table]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("diff")
    for name, keys in (("arms", "arm\na\nb\n"), ("more", "arm\na\nb\nc\n"), ("sexes", "sex\nF\nM\n")):
        (folder / f"{name}.csv").write_text(keys, encoding="utf-8")
    for name, lines in FILES.items():
        (folder / name).write_text(lines, encoding="utf-8")

    @cache
    def load(name, text):
        (folder / name).write_text(text, encoding="utf-8")
        return load_policy(folder / name)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loader, "parse_yaml", parse_by_sections)
        yield load


def test_a_policy_parsed_by_sections_is_the_one_that_is_parsed_as_a_whole():
    whole = [side.text for table in TABLES_OF_ROWS for side in table[len(table) // 2].texts]
    for text in (*whole, f"{whole[0]}environments:\n  e:\n    title: {{a: [b]}}\n"):
        assert parse_by_sections(text.encode(), "p.yaml") == parse_yaml(text, "p.yaml")
    for text in ("a: 1\na: 2\n", "a: &x 1\nb: *x\n", "# a\na: 1\n", "a: [\n", "", "a:\n- 1\n"):
        assert parse_by_sections(text.encode(), "p.yaml") == parse_yaml(text, "p.yaml"), text


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_change_reads_as_what_it_means(loaded, row):
    old, new = row.texts
    found = policy_changes(loaded("old.yaml", old.text), loaded("new.yaml", new.text))
    assert found, "nothing is told"
    told = {one.subject: one for one in found}
    assert set(told) == {row.subject, *row.beside}
    change = told[row.subject]
    assert change.effect == row.effect
    assert found[0].effect == row.effect
    place = row.line or row.place
    side, name = (old, "old.yaml") if row.in_old or place not in new.lines else (new, "new.yaml")
    assert (Path(change.location.file).name, change.location.line) == (name, side.lines[place])


#: Keys that another key leaves one value: they are written or not, and never altered alone; and why.
OF_ONE_VALUE = {"releases.[]<SyntheticRelease>.budget.accounting": "zcdp with a delta, pure without one (P720)"}

#: What is never done to a key by itself: it comes and goes with another, whose rows say what that means; and why.
NEEDED = {
    "releases.[]<SyntheticRelease>.discover.*.delta": "texts need one, and numbers and dates take none (P723)",
    **dict.fromkeys(("apiVersion", "kind"), "there is one"),
    **dict.fromkeys(
        (
            "checks",
            "checks.[].id",
            "ledger.datasets",
            "releases",
            "threats",
            "releases.[]<MicrodataRelease>.id",
            "releases.[]<StatisticsRelease>.id",
            "releases.[]<StatisticsRelease>.queries",
            "releases.[]<StatisticsRelease>.queries.[].id",
            "releases.[]<TableRelease>.id",
            "releases.[]<SyntheticRelease>.id",
        ),
        "elements are told one by one, by their names",
    ),
    **dict.fromkeys(("datasets.*.source.table", "datasets.*.table"), "a file of a database needs it, another has none"),
    **dict.fromkeys(
        ("datasets.*.columns.*.domain.values", "datasets.*.columns.*.domain.range"), "the type of the column says which it is"
    ),
    **dict.fromkeys(("threats.*.population.size", "threats.*.population.estimator"), "instead of a table or weight"),
    **dict.fromkeys(
        (f"datasets.*.columns.*.hierarchy.{form}" for form in ("widths", "edges", "date", "prefix", "csv", "parents")),
        "the form of a hierarchy, which has one",
    ),
    **dict.fromkeys(
        (f"releases.[]<SyntheticRelease>.bins.*.{form}" for form in ("width", "edges")), "bins have one of the two"
    ),
    **dict.fromkeys(
        ("releases.[]<SyntheticRelease>.discover", "releases.[]<SyntheticRelease>.discover.*"),
        "a column without a domain needs it, and no other may have it",
    ),
    "releases.[]<StatisticsRelease>.queries.[].at": "a quantile needs it",
    "releases.[]<StatisticsRelease>.queries.[].bins": "a histogram needs it",
    "releases.[]<StatisticsRelease>.queries.[].keys.listed": "the short form of keys",
    **dict.fromkeys(
        (
            f"checks.[].{key}"
            for key in [
                "value_set",
                "value",
                "regex",
                "regex_list",
                "like_pattern",
                "like_pattern_list",
                "strftime_format",
                "type_",
                "type_list",
                "column_A",
                "column_B",
                "column_list",
                "column_set",
                "value_pairs_set",
                "sum_total",
                "threshold",
                "double_sided",
                "quantile_ranges",
                "columns",
                "c",
            ]
        ),
        "the expectation needs it",
    ),
}
#: Lists whose lengths are fixed by another: entries are altered only.
FIXED = ("checks.[].quantile_ranges.quantiles", "checks.[].quantile_ranges.value_ranges")


def test_every_key_of_the_language_has_a_verdict_for_every_way_it_can_change():
    """A key that is added to the models later has no row: here it is missed."""
    told: dict[str, set[str]] = {}
    for row in ROWS:
        told.setdefault(row.key, set()).update({row.kind, "altered"} if ">" in row.kind else {row.kind})
    keys = every_key()
    assert set(told) <= set(keys)
    never = {"added", "removed", "altered", "more", "fewer"}
    missing = {}
    for pattern, key in keys.items():
        lacks = key.demands() - told.get(pattern, set())
        lacks -= {"more", "fewer"} if pattern in FIXED else never if pattern in NEEDED and not told.get(pattern) else set()
        lacks -= {"added", "removed"} if pattern in NEEDED else set()
        lacks -= {"altered"} if pattern in OF_ONE_VALUE else set()
        if lacks:
            missing[pattern] = sorted(lacks)
    assert missing == {}


def test_a_key_without_a_row_is_missed(monkeypatch):
    """The walk sees a field that is new in a model."""
    from privrelease.policy.language.models import ReviewSpec

    monkeypatch.setitem(ReviewSpec.model_fields, "by", ReviewSpec.model_fields["next"])
    assert every_key()["review.by"].demands() == {"added", "altered", "removed"}
    with pytest.raises(AssertionError, match=r"review\.by"):
        test_every_key_of_the_language_has_a_verdict_for_every_way_it_can_change()
