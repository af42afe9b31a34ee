"""``privrelease explain``: the meaning, cause and remedy of codes, and the page of the documentation that lists all of them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from privrelease.cli.console import ExplainFormat
from privrelease.cli.exit import Ending
from privrelease.errors import UsageError
from privrelease.texts.codes import FAMILIES, code_of, every_code, nearest_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.cli.console import Console
    from privrelease.texts.codes import Code

__all__ = ["codes_page", "explain"]

_LONGEST_NAME = 60


def explain(names: Sequence[str], form: ExplainFormat, console: Console) -> Ending:
    """Print what codes mean; without a code all of them, as text each with its meaning alone. Prints nothing if one is unknown."""
    unknown = [name for name in dict.fromkeys(names) if not _known(name)]
    if unknown:
        raise _unknown(unknown)
    codes = tuple(dict.fromkeys(map(code_of, names))) or tuple(every_code())
    if form is ExplainFormat.JSON:
        console.document([_value(code) for code in codes])
    elif form is ExplainFormat.MARKDOWN:
        console.data(codes_page(codes))
    elif names:
        console.data("\n\n".join(map(_paragraph, codes)))
    else:
        console.data("\n".join(f"{code.name:<6}{code.meaning}" for code in codes))
    return Ending(0, "1 code is explained" if len(codes) == 1 else f"{len(codes)} codes are explained")


def _known(name: str) -> bool:
    try:
        code_of(name)
    except KeyError:
        return False
    return True


def _unknown(names: Sequence[str]) -> UsageError:
    near = list(dict.fromkeys(other for name in names for other in nearest_codes(name)))
    listed = ", ".join(name[:_LONGEST_NAME] for name in names)
    return UsageError(
        code="C160",
        message=f"there is no code {listed}",
        hint=f"nearest: {', '.join(near)}" if near else "`privrelease explain` without a code lists all of them",
    )


def _paragraph(code: Code) -> str:
    """Write a code for a terminal.

    >>> print(_paragraph(code_of("A215")))
    A215 (AUDIT-ORDER): the order of the rows reveals the source's order
      cause   Rows are not sorted by their released values, so positions can be linked with the source.
      remedy  Write `order: values`.
    """
    check = f" ({code.check})" if code.check else ""
    return f"{code.name}{check}: {code.meaning}\n  cause   {code.cause}\n  remedy  {code.remedy}"


def _value(code: Code) -> dict[str, str | None]:
    return {
        "code": code.name,
        "family": FAMILIES[code.family],
        "check": code.check or None,
        "meaning": code.meaning,
        "cause": code.cause,
        "remedy": code.remedy,
    }


def codes_page(codes: Iterable[Code]) -> str:
    """Return the page of the documentation about codes, in Markdown; each code is a heading, which a link can name (``#p403``)."""
    lines = [
        "# Codes",
        "",
        "Every finding and error has a code. The same texts are printed by `privrelease explain P403`. This page is generated:",
        "`privrelease explain --format markdown > docs/codes.md`.",
    ]
    for letters, family in groupby(codes, key=lambda code: code.family):
        lines += ["", f"## {FAMILIES[letters]}: {letters}"]
        for code in family:
            check = f" Check `{code.check}`." if code.check else ""
            lines += ["", f"### {code.name}", "", f"**{code.meaning[0].upper()}{code.meaning[1:]}.**{check}"]
            lines += ["", f"- Cause: {code.cause}", f"- Remedy: {code.remedy}"]
    return "\n".join(lines) + "\n"
