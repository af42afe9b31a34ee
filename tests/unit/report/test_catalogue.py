from __future__ import annotations

import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

import privrelease.report
from privrelease.audit.checks import decision
from privrelease.audit.statistics import audit as statistics
from privrelease.audit.synthetic import audit as synthetic
from privrelease.audit.tables import audit as tables
from privrelease.report.pages.html import render_html
from privrelease.report.sections.registry import SECTIONS
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import released_words
from privrelease.texts.catalogue import LANGUAGES, catalogue_of, english, sentences

ROOT = Path(privrelease.report.__file__).parent
FACTS = ROOT.parent / "audit" / "checks" / "facts.py"
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for pattern in ("**/*.py", "**/*.j2")
    for path in ROOT.glob(pattern)
    if not path.name.startswith("english")
}
CHECK = ROOT.parent / "audit" / "check.py"
#: The audit writes the words of what became of a column beside their code.
SOURCES |= {path: path.read_text(encoding="utf-8") for path in (FACTS, CHECK)}
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
        and not key.startswith(
            ("remaining.", "title.", "sentence.", "fragment.", "domain.", "numbers.")
        )  # found by their text, and read together
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


# ------------------------------------------------------------------------------------------------------------------- languages

TEXTS = Path(privrelease.report.__file__).parents[1] / "texts"
OTHERS = [language for language in LANGUAGES if language != "en"]
#: Topics that are no part of a report's page.
ENGLISH_ONLY = {"console.toml", "simulation.toml"}


def keys_of(language: str) -> dict[str, tuple[str, str]]:
    """Key -> (file, text) of one language."""
    return {
        f"{table}.{key}": (file.name, text)
        for file in sorted((TEXTS / language).glob("*.toml"))
        for table, entries in tomllib.loads(file.read_text(encoding="utf-8")).items()
        for key, text in entries.items()
    }


def test_every_folder_of_texts_is_a_language_and_the_other_way_round():
    assert {path.name for path in TEXTS.iterdir() if path.is_dir() and not path.name.startswith("_")} == set(LANGUAGES)


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_text_of_a_page_and_no_other(language):
    own, plain = keys_of(language), keys_of("en")
    wanted = {key for key, (file, _) in plain.items() if file not in ENGLISH_ONLY}
    assert own.keys() >= wanted
    assert own.keys() - wanted <= {"case.waived"}


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_puts_in_the_same_values(language):
    plain = sentences()
    for key, (_, text) in keys_of(language).items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", plain[key])), key


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_is_hardly_ever_the_english_text(language):
    plain = sentences()
    own = [(key, text) for key, (_, text) in keys_of(language).items() if not key.endswith(".basis")]
    same = [key for key, text in own if text == plain[key] and re.search(r"[a-z]{4} [a-z]", text)]
    assert same == []


def test_a_language_without_a_catalogue_is_an_error():
    with pytest.raises(KeyError, match="tlh"):
        catalogue_of("tlh")


def test_what_is_left_to_a_person_is_found_in_the_catalogue():
    known = english().texts.keys()
    assert {
        *decision.REMAINING,
        decision.UNION_REMAINING,
        *tables.REMAINING,
        *statistics.REMAINING,
        *synthetic.REMAINING,
    } <= known


@pytest.mark.parametrize("language", OTHERS)
def test_a_page_is_in_its_language_and_marks_what_is_not(audit, language):
    page = render_html(audit.model_copy(update={"language": language}), Edition.INTERNAL)
    assert f'<html lang="{language}">' in page
    assert catalogue_of(language).text("decision.remaining") in page
    assert "What remains for a person to assess" not in page
    unknown = audit.model_copy(
        update={
            "checks": tuple(one.model_copy(update={"message": "of no catalogue"}) for one in audit.checks),
            "language": language,
        }
    )
    assert '<bdi lang="en">of no catalogue</bdi>' in render_html(unknown, Edition.INTERNAL)
    assert 'lang="en"' not in render_html(audit, Edition.INTERNAL)[200:]


@pytest.mark.parametrize("language", OTHERS)
def test_numbers_have_the_marks_of_the_language_and_only_while_a_page_is_made(language):
    with numbers.written_in(catalogue_of(language)):
        written = [numbers.number(Fraction("12345.678")), numbers.percent(Fraction(1, 8)), numbers.risk(Fraction(1, 7))]
        beside = numbers.beside(Fraction("0.2004"), Fraction("0.2"))
    marks = catalogue_of(language).texts
    assert written[0] == f"12{marks['numbers.thousands']}345{marks['numbers.decimal']}678"
    assert written[1] == "12,5 %"
    assert written[2].startswith("14,3 % (1 ")
    assert beside == ("20,04 %", "20 %")
    assert numbers.number(Fraction("12345.678")) == "12,345.678"
