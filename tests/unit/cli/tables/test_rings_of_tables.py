"""Tables in a ring: what `validate` says beforehand is what a run does, for rings that are too large, that just fit, and for none."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

HEAD = (
    POLICY_HEAD
    + """\
    columns:
      a: {role: quasi, type: category, domain: [A]}
      b: {role: quasi, type: category, domain: [B]}
      c: {role: quasi, type: category, domain: [C]}
      old: {role: quasi, type: boolean}
tables: {min_count: 3}
releases:
"""
)


def release(name, by, more=""):
    return f"""  - id: {name}
    kind: table
    from: d
    by: [{by}]
    measures: [{{count: true}}]
    margins: true
    output: out/{name}.csv
{more}"""


def policy(desk, sizes, *releases):
    text = HEAD
    for name, size in zip("ABC", sizes, strict=True):
        text = text.replace(f"[{name}]", f"[{', '.join(f'{name}{n}' for n in range(size))}]")
    desk.policy(text + "".join(releases))
    # No column determines another: such tables nest, and are in no ring.
    keys = [(n % sizes[0], n // 3 % sizes[1], n // 7 % sizes[2]) for n in range(4 * 60)]
    rows = [f"A{a},B{b},C{c},{'true' if n % 11 else 'false'}\n" for n, (a, b, c) in enumerate(keys)]
    desk.data("a,b,c,old\n" + "".join(rows))


RING = (release("one", "a, b"), release("two", "b, c"), release("three", "c, a"))


def test_a_ring_that_is_too_large_is_told_at_the_table_that_makes_it_so(desk) -> None:
    policy(desk, (7, 7, 6), *RING)
    said = desk("validate", "policy.yaml")
    assert said.code == 0
    assert said.out.count("P612") == 1
    assert (
        "policy.yaml:33:5: P612 warn: table three is linked in a ring with the tables of d before it: 448 cells of all columns together, more than 400; "
        "none of them could be released (D632)"
    ) in said.out
    planned = desk("plan", "policy.yaml")
    assert "P612" in planned.err + planned.out
    run = desk("run", "policy.yaml")
    assert run.code == 3
    assert "D632" in run.err
    assert "448 cells" in run.err
    assert not list((desk.folder / "out").glob("*.csv"))


@pytest.mark.parametrize(
    ("sizes", "releases"),
    [((4, 4, 4), RING), ((7, 7, 6), RING[:2]), ((9, 9, 9), (RING[0], release("less", "a")))],
)
def test_a_ring_that_fits_and_tables_in_no_ring_are_not_told(desk, sizes, releases) -> None:
    policy(desk, sizes, *releases)
    assert "P612" not in desk("validate", "policy.yaml").out
    run = desk("run", "policy.yaml")
    assert "D632" not in run.err


def test_filters_double_the_cells_of_a_ring(desk) -> None:
    filtered = (RING[0], RING[1], release("three", "c, a", "    where: old = true\n"))
    policy(desk, (6, 5, 5), *filtered)
    said = desk("validate", "policy.yaml")
    assert "504 cells" in said.out
    run = desk("run", "policy.yaml")
    assert (run.code, "504 cells" in run.err) == (3, True)
