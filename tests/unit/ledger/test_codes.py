from __future__ import annotations

import re
from pathlib import Path

import privrelease
from privrelease.ledger.refusals import CODES


def test_every_code_of_the_ledger_has_its_line_in_the_table_and_no_line_is_left_over() -> None:
    sources = [path for path in Path(privrelease.__path__[0]).rglob("*.py") if path.name != "codes.py"]
    used = {code for source in sources for code in re.findall(r'"(L[0-9]{3})"', source.read_text(encoding="utf-8"))}
    assert used == set(CODES)
