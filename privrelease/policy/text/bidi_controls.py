"""Signs in the text of a policy that make it read otherwise than it is: whoever looks at its diff would approve something else.

Source: Boucher and Anderson, "Trojan Source: Invisible Vulnerabilities", USENIX Security 2023; the signs are the explicit directional
embeddings, overrides and isolates of Unicode Standard Annex 9, section 2. Marks of a direction (U+200E, U+200F) reorder nothing by
themselves and belong to texts in Arabic or Hebrew.
"""

from __future__ import annotations

import re
from typing import Final

from privrelease.findings import Finding, Location, Severity

__all__ = ["reordered"]

#: Lines that are told of one file; who sees these knows to look at the rest.
MOST_LINES: Final = 50
_SIGNS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")


def reordered(content: bytes, file: str) -> tuple[Finding, ...]:
    r"""Return a warning for the first such sign of each line, comments included; it names the sign, and never the text around it.

    >>> print(*reordered("a: 1\nb: x # \u202e3 = k\n".encode(), "p.yaml"))
    p.yaml:2:8: P613 warn: U+202E (right-to-left override): what stands here reads otherwise than it is
    hint: remove it; where a value needs it, write it as "\u202E" in double quotes
    """
    from unicodedata import name

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ()  # told where the text is read
    found: list[Finding] = []
    for number, line in enumerate(text.split("\n") if _SIGNS.search(text) else (), 1):
        sign = _SIGNS.search(line)
        if sign is not None and len(found) < MOST_LINES:
            code = f"{ord(sign[0]):04X}"
            message = f"U+{code} ({name(sign[0]).lower()}): what stands here reads otherwise than it is"
            hint = f'remove it; where a value needs it, write it as "\\u{code}" in double quotes'
            found.append(Finding("P613", message, Severity.WARN, Location(file, number, sign.start() + 1), hint))
    return tuple(found)
