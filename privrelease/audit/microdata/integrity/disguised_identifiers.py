"""The check for a direct identifier under another name: row by row, or, where no row leads to its source, by what chance does not give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, failed, passed, warned
from privrelease.audit.microdata.disguised_identifiers import beyond_chance, no_half
from privrelease.audit.microdata.integrity.cells import untraced
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from privrelease.audit.microdata.disguised_identifiers import Hidden
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.identifiers import IdentifierMatches, OwnMatches

__all__ = ["no_hidden_identifier"]

_FORMS = {
    "plain": "",
    "folded": " in another spelling",
    "digits": " by its digits",
    "part": " within other text or in another order",
    "reversed": " backwards",
    "hashed": " as a plain hash",
}


def no_hidden_identifier(evidence: Evidence) -> CheckOutcome:
    """No column of the file holds the direct identifier of its own row, more often than chance gives, or in half of the rows.

    That is asked of the plain form in the file, and of the others in the source, whose cells the file has (:mod:`privrelease.audit.microdata.disguised_identifiers`). If cells fell anywhere, so many rows are expected to agree as the frequencies of shared values give, which is at most as many as source rows share
    the identifier's most frequent value; numbers, which agree by chance and grow together, are checked against the latter.
    Fewer agreements than chance excludes are a warning where both are texts. Where no row leads to its source, see
    :mod:`privrelease.audit.microdata.disguised_identifiers`.
    """
    if evidence.same is None or evidence.main is None:
        return _without_rows(evidence)
    kinds = dict(evidence.main.columns)
    sure: dict[tuple[str, str], str] = {}
    perhaps: dict[tuple[str, str], str] = {}
    for pair in evidence.same:
        texts = ColumnType.INTEGER not in {kinds.get(pair.released), evidence.plan.source.column(pair.source).type}
        chance = pair.expected if texts and pair.expected is not None else float(pair.most or pair.same)
        if pair.same and (2 * pair.same >= pair.compared or beyond_chance(pair.same, chance)):
            sure[pair.released, pair.source] = ""
        elif pair.same and texts:
            perhaps[pair.released, pair.source] = ""
    for one in evidence.hidden or ():  # the plainest form of a pair comes first
        if one.own is not None and _own_row(one.own, one.form):
            sure.setdefault((one.released, one.direct), _FORMS[one.form])
        elif one.own is not None and one.own.strong:
            perhaps.setdefault((one.released, one.direct), _FORMS[one.form])
    if sure:
        named = ", ".join(f"{released} holds {direct}{form}" for (released, direct), form in sure.items())
        return failed(f"a direct identifier is released under another name: {named}")
    if perhaps:
        named = ", ".join(f"{released} and {direct}{form}" for (released, direct), form in perhaps.items())
        return warned(f"some rows hold the text of their own direct identifier, too few to distinguish from chance: {named}")
    return passed("no released column repeats a direct identifier")


def _without_rows(evidence: Evidence) -> CheckOutcome:
    if evidence.hidden is None or evidence.main is None:
        return untraced(evidence)
    told: dict[str, dict[tuple[str, str], str]] = {"sure": {}, "some": {}, "perhaps": {}}
    for one in evidence.hidden:  # the plainest form of a pair comes first
        if verdict := _verdict(one):
            told[verdict].setdefault((one.released, one.direct), _FORMS[one.form])
    if told["sure"]:
        named = ", ".join(f"{released} holds values of {direct}{form}" for (released, direct), form in told["sure"].items())
        return failed(f"a direct identifier is released under another name: {named}")
    pairs = {key: ", ".join(f"{one} and {other}" for one, other in told[key]) for key in ("some", "perhaps")}
    if pairs["some"]:
        return warned(f"some texts are values of a direct identifier: {pairs['some']}")
    if pairs["perhaps"]:
        return warned(f"numbers or short texts that occur once each are the same in: {pairs['perhaps']}")
    return passed("no released column has the values of a direct identifier")


def _verdict(one: Hidden) -> str:
    """``sure``: released; ``some``: some texts are the same; ``perhaps``: chance was not excluded, nor shown; empty: chance."""
    if one.own is not None and _own_row(one.own, one.form):
        return "sure"
    found = one.values
    if found is None or not found.both:
        return ""
    half = 2 * found.both >= min(found.first, found.second)
    strong = 2 * found.weak < found.both or one.form == "hashed"
    if not half:
        return "some" if strong and one.texts and one.form == "plain" else ""
    if strong:
        return "sure"
    # small numbers or short texts: of a source column that is another one, or more frequent than identifiers are
    chance = one.own is not None or 2 * found.own < found.matched
    return "" if chance else _whose_rows(one, found)


def _own_row(own: OwnMatches, form: str) -> bool:
    """Return True if a column of the source holds its row's identifier; in any form but the plain one chance must be
    excluded.
    """
    if not own.same:
        return False
    if beyond_chance(own.same, own.by_chance):
        return True
    half = 2 * own.same >= own.compared
    if form == "plain":
        return half
    return half and (2 * own.strong >= own.same or beyond_chance(own.same, own.by_chance, 1e-3))


def _whose_rows(one: Hidden, found: IdentifierMatches) -> str:
    """Say whether small numbers, or short texts, that are no more frequent than identifiers are, lead to their own rows."""
    unlikely = found.expected is not None and found.weak == found.both and beyond_chance(found.both, found.expected)
    if one.whose is not None:
        if beyond_chance(one.whose.agree, one.whose.by_chance):
            return "sure"
        if no_half(one.whose) and not unlikely:
            return "perhaps" if one.form == "plain" and 2 * found.second > one.rows else ""
    if one.form != "plain":
        return "perhaps"
    if one.texts or unlikely:
        return "sure"
    return "perhaps" if 2 * found.second > one.rows else ""
