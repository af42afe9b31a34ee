"""Names of a release's files in its run's folder: outputs of one name in several folders, whatever they are called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from privrelease.release.outputs import links_for


@dataclass(frozen=True)
class Place:
    path: Path

    @property
    def label(self) -> str:
        return str(self.path)


@pytest.mark.parametrize(
    ("outputs", "names"),
    [
        (["a/x.csv", "b/x.csv"], ["x.csv", "2-x.csv"]),
        (["a/x.csv", "b/x.csv", "c/2-x.csv"], ["x.csv", "3-x.csv", "2-x.csv"]),
        (["c/2-x.csv", "a/x.csv", "b/x.csv"], ["2-x.csv", "x.csv", "3-x.csv"]),
        (["a/x.csv", "b/x.csv", "c/x.csv"], ["x.csv", "2-x.csv", "3-x.csv"]),
    ],
)
def test_files_of_one_name_get_numbers_that_are_free(tmp_path, outputs, names):
    links = links_for(tmp_path / ".privrelease", [Place(tmp_path / output) for output in outputs])
    assert [link.file for link in links if not link.companion] == names
    assert len({link.file for link in links}) == len(links)
