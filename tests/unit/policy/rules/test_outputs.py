from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.policy.conftest import Folder

OUT = "out/patients.parquet"


def test_a_file_where_an_outputs_folder_must_be_is_told_before_a_run(folder: Folder, sound: str) -> None:
    (folder.path / "out").write_text("notes", encoding="utf-8")
    assert folder.check(sound) == [
        "p.yaml:27:13: P404 out/patients.parquet would lie inside out, which is a file\nhint: publish somewhere else"
    ]
    (folder.path / "out").unlink()
    assert folder.check(sound) == []


def test_a_manifest_does_not_overwrite_a_source(folder: Folder, change: Callable[..., str]) -> None:
    broken = change(("source: data/patients.csv", "source: {csv: out/patients.manifest.json}"))
    assert folder.check(broken) == [
        "p.yaml:27:13: P422 the manifest of release microdata would overwrite patients.manifest.json\nhint: publish somewhere else"
    ]
    assert folder.check(change(("source: data/patients.csv", "source: {csv: out/other.manifest.json}"))) == []


def test_a_policy_below_a_hidden_folder_publishes_beside_itself(folder: Folder, sound: str) -> None:
    hidden = type(folder)(folder.path / ".work")
    hidden.path.mkdir()
    assert hidden.check(sound.replace(OUT, f"{hidden.path}/{OUT}")) == []
