"""Rules of tables: filters, lists of keys and means; what breaks each, word for word, and what is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.policy.conftest import Folder

TABLE = """\
  - id: admissions
    kind: table
    from: patients
    by: [sex]
    measures: [{count: true}, {mean: glucose}]
    protect: {min_count: 10}
    output: out/admissions.csv
    MORE
checks:"""

BROKEN = [
    ("where: glucose > (SELECT 1)", "P447 a filter compares columns with literals, and Subquery is not a literal"),
    ("where: ward = 'a'", "P447 the filter names 'ward', which is not a declared column"),
    ("impossible: age > 5", "P447 the filter names 'age', which is not a declared column"),
    ("where: sex = 'f'", "P447 f is not in the domain of sex"),
    ("where: NOT (age > 30 AND sex IN ('F', 'W'))", "P447 W is not in the domain of sex"),
    ("impossible: sex <> 'male'", "P447 male is not in the domain of sex"),
    ("keys: {age: ages.csv}", "P446 age has keys, and is not a group of the table"),
    ("keys: {ward: wards.csv}", "P302 column ward does not exist in dataset patients"),
    ("keys: {sex: none.csv}", "P441 none.csv cannot be read as a list of keys"),
    ("keys: {sex: ../sexes.csv}", "P403 ../sexes.csv is outside the policy's folder"),
    ("keys: {sex: twice.csv}", "P441 twice.csv lists a key twice"),
    ("keys: {sex: empty.csv}", "P441 empty.csv holds no keys"),
    ("keys: {sex: other.csv}", "P441 other.csv lists a key that the column's domain does not hold"),
]


@pytest.fixture
def lists(folder: Folder) -> Folder:
    for name, text in (("twice", "sex\nF\nF\n"), ("empty", "sex\n"), ("other", "sex\nX\n"), ("sexes", "sex\nM\nF\n")):
        (folder.path / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("more", "said"), BROKEN)
def test_a_table_that_breaks_a_rule_is_told(lists: Folder, change: Callable[..., str], more: str, said: str) -> None:
    found = lists.check(change(("checks:", TABLE.replace("MORE", more))))
    assert len(found) == 1
    assert said in found[0].split("\n")[0]


@pytest.mark.parametrize(
    "more", ["where: age > 30 AND glucose < 200", "where: sex IN ('F', 'M')", "impossible: sex = 'M'", "keys: {sex: sexes.csv}"]
)
def test_filters_and_lists_of_keys_are_sound(lists: Folder, change: Callable[..., str], more: str) -> None:
    assert not [found for found in lists.check(change(("checks:", TABLE.replace("MORE", more)))) if "P6" not in found]


def test_a_measure_is_one_figure(folder: Folder, change: Callable[..., str]) -> None:
    both = TABLE.replace("{mean: glucose}", "{mean: glucose, sum: glucose}").replace("MORE", "")
    (found,) = folder.check(change(("checks:", both)))
    assert "P204 item 2 of measures must be one of a count, a sum and a mean" in found


def test_where_the_rule_of_filters_stands(folder: Folder, change: Callable[..., str]) -> None:
    (found,) = folder.check(change(("checks:", TABLE.replace("MORE", "where: age >"))))
    assert found.startswith("p.yaml:35:12: P447 the filter cannot be read")


def test_tables_in_a_ring_with_too_many_cells_are_told(folder: Folder, change: Callable[..., str]) -> None:
    sides = (("sex, age", "one"), ("age, region", "two"), ("region, sex", "three"))
    ring = "".join(
        f"  - {{id: {name}, kind: table, from: patients, by: [{by}], measures: [{{count: true}}], protect: {{min_count: 10}}, output: out/{name}.csv}}\n"
        for by, name in sides
    )
    region = "      region: {role: quasi, type: category, domain: [north, south]}\n      glucose:"
    text = change(("checks:", ring + "checks:"), ("      glucose:", region))
    found = [one for one in folder.check(text) if "P612" in one]
    assert found == [
        (
            "p.yaml:31:46: P612 warn: table three is linked in a ring with the tables of patients before it: 621 cells of all columns together, "
            "more than 400; none of them could be released (D632)\nhint: group by fewer or coarser keys, or leave out a table"
        )
    ]


@pytest.mark.parametrize(
    ("protect", "found"),
    [
        (
            "{min_count: 10}",
            (
                "p.yaml:33:5: P650 warn: table admissions is grouped by sex, which is sensitive, and `class_disclosure` is not given: a group that shares one "
                "key parks the release\nhint: write `class_disclosure: true` to suppress what discloses it, or `false` where such groups are "
                "harmless"
            ),
        ),
        (
            "{min_count: 10, class_disclosure: false}",
            (
                "p.yaml:33:48: P651 warn: table admissions is grouped by sex, which is sensitive, and is not checked for groups that share one key\nhint: write "
                "`class_disclosure: true`, or state in the policy's context why such groups are harmless"
            ),
        ),
        ("{min_count: 10, class_disclosure: true}", None),
    ],
)
def test_a_sensitive_group_column_is_told_of(
    folder: Folder, change: Callable[..., str], protect: str, found: str | None
) -> None:
    text = TABLE.replace("MORE", "").replace("{min_count: 10}", protect)
    written = change(("checks:", text), ("sex: {role: quasi", "sex: {role: sensitive"))
    assert [one for one in folder.check(written) if " P65" in one] == ([] if found is None else [found])


def test_a_mean_of_two_values_is_said_to_count_persons(folder: Folder, change: Callable[..., str]) -> None:
    smokes = "      smokes: {role: sensitive, type: integer, domain: [0, 1]}\n      glucose:"
    table = TABLE.replace("MORE", "").replace("{mean: glucose}", "{mean: smokes}")
    found = [one for one in folder.check(change(("checks:", table), ("      glucose:", smokes))) if "P614" in one]
    assert found == [
        (
            "p.yaml:33:38: P614 info: smokes has two values: its mean is a count of persons, and is suppressed where fewer than the "
            "minimum count have one of them\nhint: count by that column to see which, or coarsen `by`"
        )
    ]
