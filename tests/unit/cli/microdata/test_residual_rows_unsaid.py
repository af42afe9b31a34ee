"""Recipients cannot tell whether residual rows were dropped: two sources that give one file give one of everything."""

from __future__ import annotations

import re

import pytest

from tests.unit.cli.conftest import DATA

#: The same persons without the one in the west, whose row is dropped as residual.
WITHOUT = DATA.replace("12,west,smith,900\n", "")
FORMS = ("json", "text", "markdown", "sarif", "junit", "github", "in-toto")


def masked(text):
    """Without moments and the ids of runs, which differ between any two runs."""
    text = re.sub(r"\d{8}T\d{12}-[0-9a-f]{6}", "RUN", text)
    text = re.sub(r'"(policy_)?sha256": "[0-9a-f]{64}"', "DIGEST", text) if '"_type"' in text else text
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?", "MOMENT", text)


@pytest.mark.parametrize("more", ["", "13,south,smith,1\n"])
def test_everything_that_recipients_get_is_the_same(desk, more):
    found = []
    for data in (DATA + more, WITHOUT + more):
        desk.data(data)
        said = desk.run("--state", f"state{len(found)}")
        assert said.code == 0, said.err
        (run,) = (desk.folder / f"state{len(found)}" / "runs").iterdir()
        pages = {path.name: path.read_text(encoding="utf-8") for path in (desk.folder / "out").iterdir()}
        pages |= {form: desk("report", str(run), "--edition", "recipient", "--format", form).out for form in FORMS}
        found.append({name: masked(text) for name, text in pages.items()})
        (desk.folder / "publications.jsonl").unlink()
        for path in (desk.folder / "out").iterdir():
            path.unlink()
    first, second = found
    assert first["r.csv"] == second["r.csv"]
    for name in first:
        assert first[name] == second[name], name
