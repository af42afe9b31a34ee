from __future__ import annotations

import re
from pathlib import Path

import pytest

import privrelease.report
from privrelease.report.sections.registry import SECTIONS
from privrelease.report.view.page import released_words
from privrelease.texts.catalogue import english

ROOT = Path(privrelease.report.__file__).parent
FACTS = ROOT.parent / "audit" / "checks" / "facts.py"
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for pattern in ("**/*.py", "**/*.j2")
    for path in ROOT.glob(pattern)
    if not path.name.startswith("english")
}
#: The audit writes the words of what became of a column beside their code.
SOURCES[FACTS] = FACTS.read_text(encoding="utf-8")
#: Beginnings of keys that are put together from a name of the audit.
COMPOSED = re.compile(r"f\"([a-z_]+\.(?:[a-z_]+\.)?)\{|\"([a-z_]+\.)\" ~|\"([a-z]+\.[a-z]+\.)\" ~")


def composed() -> set[str]:
    return {next(filter(None, match)) for text in SOURCES.values() for match in COMPOSED.findall(text)}


def test_every_text_that_a_template_asks_for_is_in_the_catalogue():
    asked = {key for text in SOURCES.values() for key in re.findall(r"\btt?\([\"']([a-z0-9_.]+)[\"']\s*[,)]", text)}
    assert len(asked) > 60
    assert asked <= english().texts.keys()


def test_every_text_of_the_catalogue_is_used():
    everything = "\n".join(SOURCES.values()).replace("'", '"')
    beginnings = tuple(composed()) + tuple(f"{section.name}." for section in SECTIONS)
    unused = [
        key
        for key in english().texts
        if f'"{key}"' not in everything
        and not key.startswith(beginnings)
        and f'"{key.removesuffix("_after")}"' not in everything
    ]
    assert unused == []


def test_every_section_has_a_heading_and_a_basis():
    assert [section.number for section in SECTIONS] == list(range(17))
    for section in SECTIONS:
        assert english().texts[f"{section.name}.heading"]
        assert english().texts[f"{section.name}.basis"]


def test_values_are_escaped_and_isolated_in_markup():
    assert str(english().html("page.policy", id="<a>", version="{1}")) == "policy <bdi>&lt;a&gt;</bdi> version <bdi>{1}</bdi>"


@pytest.mark.parametrize(
    ("kind", "words"),
    [("microdata", "Records released"), ("statistics", "Figures released"), ("table", "Cells in the table")],
)
def test_what_is_released_is_called_what_it_is(audit, kind, words):
    assert released_words(audit.model_copy(update={"kind": kind}), english()) == words
