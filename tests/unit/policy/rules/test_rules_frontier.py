"""Rules of the key `frontier`, word for word, and what is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.policy.conftest import Folder

OUTPUT = "    output: out/patients.parquet\n"
STEP = "    transform:\n      - {suppress: cells, limit: 0.05, weights: {age: 2}}\n"
NOTHING = (
    "p.yaml:28:5: P423 release microdata has nothing that its frontier could sweep\n"
    "hint: it needs a `suppress` step and a protected prosecutor's threat with `highest_risk`; or remove `frontier`"
)


def asked(sizes: str) -> tuple[str, str]:
    return OUTPUT, f"{OUTPUT}    frontier: {sizes}\n"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((asked("[2, 5, 2]"),), "p.yaml:28:22: P408 2 appears twice in frontier\nhint: remove one"),
        ((asked("[2, 5]"), ("highest_risk: 0.2", "average_risk: 0.2")), NOTHING),
    ],
)
def test_a_frontier_that_breaks_a_rule_is_told(folder: Folder, change: Callable[..., str], changes: object, said: str) -> None:
    assert [found for found in folder.check(change(*changes)) if " P6" not in found] == [said]


@pytest.mark.parametrize("sizes", ["[1]", "[0]", "[2.5]", "five", str(list(range(2, 23)))])
def test_what_is_no_list_of_class_sizes_is_refused(folder: Folder, change: Callable[..., str], sizes: str) -> None:
    assert any("frontier" in found for found in folder.check(change(asked(sizes))))


def test_without_a_step_that_suppresses_there_is_no_frontier(folder: Folder, change: Callable[..., str]) -> None:
    found = folder.check(change(asked("[2, 5]"), (STEP, "")))
    assert [one for one in found if "P423" in one]


def test_a_list_of_class_sizes_is_sound(folder: Folder, change: Callable[..., str]) -> None:
    assert folder.check(change(asked("[2, 5, 10]"))) == []
