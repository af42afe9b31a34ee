from __future__ import annotations

import re
from itertools import product

import pytest

from privrelease.relational.patterns import PatternFault, parse_pattern


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("P[AB]", ["PA", "PB"]),
        ("[b-da]x{2}", ["axx", "bxx", "cxx", "dxx"]),
        ("[aa-b]", ["a", "b"]),
        ("[x-]", ["-", "x"]),
        (r"\[\d{1}\.", [f"[{n}." for n in range(10)]),
        ("[01]{3}", ["".join(bits) for bits in product("01", repeat=3)]),
    ],
)
def test_texts_are_numbered_in_order_each_once(pattern, texts):
    found = parse_pattern(pattern)
    assert found.capacity == len(texts)
    assert [found.texts(number) for number in range(found.capacity)] == texts


@pytest.mark.parametrize("pattern", ["[A-C]{2}-[0-2]", "x[a.]", r"\d[ab]"])
def test_a_pattern_describes_what_the_regular_expression_does(pattern):
    found = parse_pattern(pattern)
    every = {found.texts(number) for number in range(found.capacity)}
    alphabet = sorted({*"".join(every), "z", "9", "-", "."})
    for letters in product(alphabet, repeat=len(found.places)):
        text = "".join(letters)
        described = re.fullmatch(pattern, text) is not None
        assert found.matches(text) == described
        assert (text in every) == described


def test_a_text_of_another_length_is_not_described():
    found = parse_pattern("[0-9]{3}")
    assert [found.matches(text) for text in ("12", "123", "1234", "")] == [False, True, False, False]


def test_sixty_four_places_are_the_most():
    assert parse_pattern("[0-9]{64}").capacity == 10**64
    with pytest.raises(PatternFault, match="longer than 64"):
        parse_pattern("[0-9]{60}abcde")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("", "no character"),
        ("a{0}", "no character"),
        ("a*", "fixed length"),
        ("a|b", "fixed length"),
        ("(a)", "fixed length"),
        ("a{2,3}", "fixed length"),
        (r"\w", "backslash"),
        ("\\", "backslash"),
        ("[]", "an empty one"),
        ("[ab", "without an end"),
        ("[^a]", "list of characters"),
        ("[b-a]", "list of characters"),
        (r"[\d]", "list of characters"),
        ("a\tb", "control character"),
        ("[\x00-\x05]", "control character"),
    ],
)
def test_what_is_no_pattern_of_fixed_length_is_refused(pattern, why):
    with pytest.raises(PatternFault, match=why):
        parse_pattern(pattern)
