from __future__ import annotations

import re
from pathlib import Path

import privrelease.policy
from privrelease.policy.codes import CODES

SOURCES = sorted(Path(privrelease.policy.__path__[0]).rglob("*.py"))


def used() -> set[str]:
    """The codes that the policy room's source can give, of the families that the table is about."""
    return {
        code
        for source in SOURCES
        if source.name != "codes.py"
        for code in re.findall(r'"(P[1-7][0-9]{2})"', source.read_text(encoding="utf-8"))
    }


def test_every_code_has_its_line_in_the_table_and_no_line_is_left_over() -> None:
    assert used() == set(CODES)


def test_every_code_of_structure_references_and_meaning_has_a_case() -> None:
    cases = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("test_rules*.py")))
    shown = set(re.findall(r"p\.yaml:[0-9]+:[0-9]+: (P[0-9]{3}) ", cases))
    assert {code for code in CODES if code[1] in "2346"} - shown == {"P606"}
