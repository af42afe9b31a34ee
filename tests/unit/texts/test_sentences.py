"""Sentences as code and values: each is in every language, is used, and counts and writes numbers as its language does."""

from __future__ import annotations

import copy
import pickle
import re
import tomllib
from pathlib import Path

import pytest

import privrelease
from privrelease.audit.all_checks import ALL_CHECKS
from privrelease.audit.attacks.control import LEAST_CONTROL
from privrelease.audit.check import Check, fault
from privrelease.audit.checks.codes import OTHER_FINDINGS
from privrelease.audit.document.sentences import coded, coded_all, said_of, title_said
from privrelease.plan.microdata.links import LESS_OF_HOUSEHOLDS, SAY_WHOM
from privrelease.texts.catalogue import LANGUAGES, catalogue_of, flat_texts, sentences
from privrelease.texts.sentences import Listed, Number, Said, every, listed, say, share_of

ROOT = Path(privrelease.__file__).parent
TEXTS = ROOT / "texts"
OTHERS = [language for language in LANGUAGES if language != "en"]
#: Notes of figures, which audits hold as texts alone: they are found by their text.
NOTES = {
    "all_lost",
    "class_without_value",
    "no_record",
    "no_record_left",
    "no_solution",
    "no_unsafe_cell",
    "no_upper_bound",
    "not_countable",
    "population_smaller",
    "sets_stand_in",
    "stands_in",
}


def in_german(sentence):
    return catalogue_of("de").said(sentence)


def test_a_sentence_is_its_english_text_with_code_and_values_and_is_frozen():
    one = say("n_rows", n=3)
    assert (one, one.code, dict(one.values)) == ("3 rows", "sentence.n_rows", {"n": 3})
    with pytest.raises(AttributeError):
        one.code = "other"
    for same in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (same, same.code, same.values) == (one, one.code, one.values)


def test_one_and_many_have_their_own_words_and_none_is_one_in_french():
    assert [say("n_rows", n=n) for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [in_german(say("n_rows", n=n)) for n in (0, 1, 2)] == ["0 Zeilen", "1 Zeile", "2 Zeilen"]
    assert [catalogue_of("fr").said(say("n_rows", n=n)) for n in (0, 1, 2)] == ["0 ligne", "1 ligne", "2 lignes"]


def test_numbers_have_the_marks_of_their_language_and_names_keep_theirs():
    said = say("share_persons", share=Number("1,234.5"), above=Number("0.2"))
    assert in_german(said) == "höchstens 1.234,5 der Personen haben ein Risiko über 0,2"
    assert "1\u202f234,5" in catalogue_of("fr").said(said)
    assert in_german(say("names", names="a.b,c 5 %")) == "a.b,c 5 %"
    assert in_german(share_of("12.5 %")) if isinstance(share_of("12.5 %"), Said) else share_of("12.5 %") == Number("12.5 %")
    assert in_german(share_of("less than 0.0001 %")) == "weniger als 0,0001\N{NO-BREAK SPACE}%"


def test_sentences_and_lists_within_a_sentence_are_in_its_language():
    where = listed(say("amount_in", n=n, column=name) for n, name in ((2, "age"), (1, "sex")))
    said = say("made_up", where=where)
    assert said == "cells hold a value where the source has none: 2 in age, 1 in sex"
    assert catalogue_of("fr").said(said).endswith("2 dans age, 1 dans sex")
    both = every([said, say("no_file")])
    assert both == f"{said}; no file can be read"
    assert (every([]), every([said])) == (None, said)


def test_a_sentence_of_another_version_stays_english_and_is_marked_so():
    for said in (Said("of no catalogue", "sentence.of_no_catalogue", {}), Said("3 rows", "sentence.rows_differ", {})):
        assert in_german(said) == str(said)
        assert catalogue_of("de").is_foreign(said)
    assert not catalogue_of("de").is_foreign(say("no_file"))
    assert not catalogue_of("en").is_foreign("of no catalogue")


def test_code_and_values_are_read_as_they_were_written():
    said = say("with_threat", name="r", threat="t", fault=say("records_in_small", n=2, k=5, smallest=1))
    document = coded(said).model_dump(mode="json")
    assert document["values"]["fault"] == {"code": "sentence.records_in_small", "values": {"n": 2, "k": 5, "smallest": 1}}
    values = say("asks", what="k", figure=Number("1.5"), bounds=listed([say("no_file"), "x", 3], "and"))
    for one in (said, values):
        read = said_of(str(one), type(coded(one)).model_validate_json(coded(one).model_dump_json()))
        assert [catalogue_of(language).said(read) for language in LANGUAGES] == [
            catalogue_of(language).said(one) for language in LANGUAGES
        ]
    assert (coded("words"), coded_all(["words"]), said_of("words", None)) == (None, None, "words")


def test_the_title_of_a_check_is_found_by_its_id_alone():
    assert in_german(title_said("AUDIT-ATTACK-INFERENCE-2", "Attack: guessing a column: job")).endswith(": job")
    assert not isinstance(title_said("AUDIT-ORDER", "No value changed"), Said)


# --------------------------------------------------------------------------------------------------------------- the catalogue


def test_the_reader_of_the_catalogue_reads_what_any_reader_of_toml_does():
    for path in sorted(TEXTS.glob("*/*.toml")):
        content = path.read_text(encoding="utf-8")
        tables = tomllib.loads(content)
        assert flat_texts(content) == {
            f"{table}.{key}": text for table, entries in tables.items() for key, text in entries.items()
        }
    hard = '[a]\nb = """two\nlines"""\n[b]\nc.d = "e"\n'
    assert flat_texts('[a]\nb = "q\\"uote"\n') == {"a.b": 'q"uote'}
    assert flat_texts(hard)["a.b"] == "two\nlines"


def own(table, language="en"):
    """The texts of a table of a language, without the table."""
    texts = sentences() if language == "en" else catalogue_of(language).texts
    return {key.removeprefix(f"{table}."): text for key, text in texts.items() if key.startswith(f"{table}.")}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("table", ["sentence", "hint", "title", "join", "holds"])
def test_every_sentence_is_in_every_language_with_the_same_values(table, language):
    english, other = own(table), own(table, language)
    assert english.keys() == other.keys()
    for key, text in english.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", other[key])), key


def test_every_form_of_a_count_has_its_other():
    forms = [key for key in own("sentence") if key.endswith((".one", ".other"))]
    assert {key.removesuffix(".one") for key in forms if key.endswith(".one")} == {
        key.removesuffix(".other") for key in forms if key.endswith(".other")
    }
    assert not [key for key in forms if key.rpartition(".")[0] in own("sentence")]


def test_every_sentence_is_said_somewhere_and_no_other_is_asked_for():
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py")))
    known = {re.sub(r"\.(one|other)$", "", key) for key in own("sentence")}
    asked = set(re.findall(r'\bsay\(\s*"([^"]+)"', source))
    assert asked <= known
    composed = [
        re.compile(re.sub(r"\\\{[^}]*\\\}", "[a-z_]*", re.escape(key))) for key in re.findall(r'\bsay\(\s*f"([^"]+)"', source)
    ]
    left = {
        key
        for key in known - NOTES
        if f'"{key.removesuffix("_must")}"' not in source and not any(one.fullmatch(key) for one in composed)
    }
    assert left == set()


def test_titles_and_hints_of_every_check_are_in_the_catalogue_by_its_id():
    assert {check.id: check.title for check in ALL_CHECKS} == own("title")
    hints = own("hint")
    assert {check.hint for check in ALL_CHECKS} | {kind.hint for kind in OTHER_FINDINGS} <= set(hints.values())
    assert {check.id for check in ALL_CHECKS} <= hints.keys()


@pytest.mark.parametrize("language", ["en", *OTHERS])
def test_figures_and_remedies_within_hints_are_those_of_the_code(language):
    hints = own("hint", language)
    assert f" {LEAST_CONTROL} " in hints["AUDIT-ATTACK-CONTROL-SIZE"]
    if language == "en":
        assert (hints["AUDIT-HOUSEHOLDS"], hints["AUDIT-LINKS"]) == (LESS_OF_HOUSEHOLDS, SAY_WHOM)


def test_a_check_that_the_catalogue_does_not_know_brings_its_words():
    judge = fault(lambda _: None)
    assert (Check("A1", "AUDIT-ODD", judge, words=("Odd", "halve it")).title, Check("A202", "AUDIT-DIGEST", judge).hint) == (
        "Odd",
        own("hint")["AUDIT-DIGEST"],
    )
    with pytest.raises(KeyError):
        _ = Check("A1", "AUDIT-ODD", judge).hint


def test_lists_have_a_sign_for_every_join():
    assert {"comma", "semicolon", "and", "with", "slash"} == own("join").keys()
    assert catalogue_of("fr").said(say("every", parts=Listed(("a", "b"), "semicolon"))) == "a\N{NO-BREAK SPACE}; b"
