"""Faults of rows: lost, twice, in an order that tells something, or led by the row map to a row that is not theirs."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.planted_faults.parked_release import K, whole_class


def test_a_lost_row(release):
    rows = release.rows()
    rows.remove(whole_class(rows, K + 1)[0])
    release.put(rows, cover=False)
    assert release.failing() == {"AUDIT-ROWS", "AUDIT-CLAIMS"}


def test_a_row_twice(release):
    rows = release.rows()
    rows.append(dict(whole_class(rows, K)[0]))
    release.put(rows, cover=False)
    assert {"AUDIT-ROWMAP", "AUDIT-ROWS"} <= release.failing()


def test_a_row_twice_that_the_row_map_hides(release):
    """The copy takes the place of another row, so that the number of rows is right and the row map is sound."""
    rows = release.rows()
    first, second = whole_class(rows, 2)[:2]
    second |= {name: value for name, value in first.items() if name != "_source"}
    release.put(rows)
    assert {"AUDIT-PSEUDONYM", "AUDIT-CHANGED"} & release.failing()


def test_an_order_that_is_not_that_of_the_values(release):
    rows = release.rows()
    rows[4], rows[5] = rows[5], rows[4]
    release.put(rows, ordered=False)
    assert release.failing() == {"AUDIT-ORDER"}


def test_counts_claimed_that_are_not_so(release):
    release.agree(suppressed={"age": 1})
    assert release.failing() == {"AUDIT-CLAIMS"}


def test_a_row_map_off_by_one(release):
    pairs = release.row_map()
    release.put_row_map([(pairs[(place + 1) % len(pairs)][0], output) for place, (_, output) in enumerate(pairs)])
    assert "AUDIT-CHANGED" in release.failing()


def test_a_row_map_beyond_the_source_or_twice_to_one_row(release):
    pairs = release.row_map()
    release.put_row_map([(source + 1, output) for source, output in pairs])
    assert "AUDIT-ROWMAP" in release.failing()
    release.put_row_map([(pairs[0][0], output) for _, output in pairs])
    assert "AUDIT-ROWMAP" in release.failing()
    release.put_row_map(pairs[:-1])
    assert "AUDIT-ROWMAP" in release.failing()


def test_a_row_map_that_is_none(release):
    release.target.row_map.write_bytes(b"no Parquet")
    release.agree()
    assert "AUDIT-ROWMAP" in release.failing()


def test_a_row_map_altered_after_its_digest(release):
    digest = release.target.internal.row_map.sha256
    release.put_row_map(release.row_map()[::-1])
    row_map = release.target.internal.row_map.model_copy(update={"sha256": digest})
    release.target = replace(release.target, internal=release.target.internal.model_copy(update={"row_map": row_map}))
    assert release.failing() == {"AUDIT-DIGEST"}
