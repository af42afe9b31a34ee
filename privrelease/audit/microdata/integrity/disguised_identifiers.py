"""The check for a direct identifier under another name: row by row, or, where no row leads to its source, by what chance does not give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, failed, passed, warned
from privrelease.audit.microdata.disguised_identifiers import beyond_chance, no_half
from privrelease.audit.microdata.integrity.cells import untraced
from privrelease.relational.schema import ColumnType
from privrelease.texts.sentences import listed, say

if TYPE_CHECKING:
    from privrelease.audit.microdata.disguised_identifiers import Hidden
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.identifiers import IdentifierMatches, OwnMatches
    from privrelease.texts.sentences import Listed

__all__ = ["no_hidden_identifier"]

_FORMS = {
    "folded": "form_folded",
    "digits": "form_digits",
    "part": "form_part",
    "reversed": "form_reversed",
    "hashed": "form_hashed",
}


def _named(pairs: dict[tuple[str, str], str], words: str) -> Listed:
    """Name pairs of a released column and a direct identifier, each with the form in which the one holds the other."""
    found = ((say(words, released=released, direct=direct), form) for (released, direct), form in pairs.items())
    return listed(said if form == "plain" else say(_FORMS[form], what=said) for said, form in found)


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
            sure[pair.released, pair.source] = "plain"
        elif pair.same and texts:
            perhaps[pair.released, pair.source] = "plain"
    for one in evidence.hidden or ():  # the plainest form of a pair comes first
        if one.own is not None and _own_row(one.own, one.form):
            sure.setdefault((one.released, one.direct), one.form)
        elif one.own is not None and one.own.strong:
            perhaps.setdefault((one.released, one.direct), one.form)
    if sure:
        return failed(say("hidden_released", where=_named(sure, "holds_direct")))
    if perhaps:
        return warned(say("hidden_few", where=_named(perhaps, "both")))
    return passed(say("hidden"))


def _without_rows(evidence: Evidence) -> CheckOutcome:
    if evidence.hidden is None or evidence.main is None:
        return untraced(evidence)
    told: dict[str, dict[tuple[str, str], str]] = {"sure": {}, "some": {}, "perhaps": {}}
    for one in evidence.hidden:  # the plainest form of a pair comes first
        if verdict := _verdict(one):
            told[verdict].setdefault((one.released, one.direct), one.form)
    if told["sure"]:
        return failed(say("hidden_released", where=_named(told["sure"], "holds_values_of")))
    if told["some"]:
        return warned(say("hidden_some", where=_named(dict.fromkeys(told["some"], "plain"), "both")))
    if told["perhaps"]:
        return warned(say("hidden_short", where=_named(dict.fromkeys(told["perhaps"], "plain"), "both")))
    return passed(say("hidden_values"))


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
