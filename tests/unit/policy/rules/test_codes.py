from __future__ import annotations

import re
from pathlib import Path

from privrelease.texts.codes import every_code

#: Families of codes of the policy that a rule about one file gives.
OF_RULES = re.compile(r"P[2346]\d{2}")


def test_every_code_of_structure_references_and_meaning_has_a_case() -> None:
    cases = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("test_rules*.py")))
    shown = set(re.findall(r"p\.yaml:[0-9]+:[0-9]+: (P[0-9]{3}) ", cases))
    # P606 is asked for by profiles, P615 by the engine that a pipeline opens
    assert {code.name for code in every_code() if OF_RULES.fullmatch(code.name)} - shown == {"P606", "P615"}
