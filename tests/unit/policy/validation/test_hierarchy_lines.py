"""Files of hierarchies that are read by whole levels: the same trees and cells as line by line, and nothing that is at fault passes."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privrelease.policy.hierarchies.files as files
from privrelease.policy.validation.paths import Roots

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", ""])


def by_line(monkeypatch, folder, text):
    """The tree and the faults, with the short way closed and open."""
    (folder / "up.csv").write_text(text, encoding="utf-8")

    def read():
        files._made.cache_clear()
        return files.parents_tree("up.csv", Roots(folder), ";", ("parents",), heading=False)

    short = read()
    with monkeypatch.context() as closed:
        closed.setattr(files, "_sound_parents", lambda rows: None)
        return short, read()


@pytest.fixture
def read(tmp_path, monkeypatch):
    return lambda text: by_line(monkeypatch, tmp_path, text)


def test_a_sound_file_is_read_by_levels(read):
    short, long = read("a;x\nb;x\nx;top\nc;y\ny;top\n")
    assert short == long
    assert short[0].leaves == ("a", "b", "c")
    assert short[0].levels == (("x", "x", "y"), ("top", "top", "top"))


@pytest.mark.parametrize(
    "text",
    ["a;a\n", "a;b\nb;c\nc;b\n", "a;x\nb;c\nc;b\n", "a;x\nb;y\ny;x\n", "a;x\na;y\n", "a;\n", "a;x;y\n", "a;x\nx;t\nb;t\n"],
)
def test_what_is_at_fault_is_found_line_by_line(read, text):
    short, long = read(text)
    assert short == long
    assert short[0] is None
    assert short[1]


def test_any_file_has_the_tree_and_the_faults_that_it_has_line_by_line(read):
    @settings(max_examples=300, deadline=None)
    @given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=7))
    def check(pairs):
        short, long = read("".join(f"{child};{above}\n" for child, above in pairs))
        assert short == long

    check()


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from('a;, \n\r"\t\u2028\x0b\x1cé'), max_size=20), st.sampled_from([";", ",", "\t", " "]))
def test_lines_are_cut_as_the_csv_module_cuts_them(text, delimiter):
    def expected():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [(reader.line_num, line) for line in reader]

    try:
        cells = expected()
    except csv.Error:
        with pytest.raises(csv.Error):
            files._split(text, delimiter)
        return
    assert [one for one in files._split(text, delimiter) if one[1]] == [one for one in cells if one[1]]


@pytest.fixture
def narrow():
    """A limit of 1,000 characters, whatever another library has set in this process."""
    before = csv.field_size_limit(1_000)
    yield 1_000
    csv.field_size_limit(before)


def test_a_cell_longer_than_the_csv_module_takes_is_refused_by_both_ways(narrow):
    for text in ("a;" + "b" * (narrow + 1), '"a";' + "b" * (narrow + 1)):
        with pytest.raises(csv.Error):
            files._split(text, ";")


def test_a_file_is_looked_at_once_for_each_content_it_has(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(files, "_sound", lambda rows, depth, of=files._sound: looked.append(len(rows)) or of(rows, depth))
    roots = Roots(tmp_path)
    files._made.cache_clear()

    def read(text):
        (tmp_path / "up.csv").write_text(text, encoding="utf-8")
        return files.listed_tree("up.csv", roots, ";", heading=False)

    first, again, other = read("a;x\nb;x\n"), read("a;x\nb;x\n"), read("a;x\nb;y\nc;y\n")
    assert looked == [2, 3]
    assert first == again
    assert (first[0].levels, other[0].levels) == ((("x", "x"),), (("x", "y", "y"),))
    first[1].append("what a caller adds stays with it")
    assert read("a;x\nb;x\n")[1] == []
