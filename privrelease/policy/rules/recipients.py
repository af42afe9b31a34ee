"""Rules of who gets a release: recipients are those of the legal section, and rows and tables that one recipient has are looked at together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from privrelease.policy.language.legal import folded_name
from privrelease.policy.language.tables import TableRelease
from privrelease.policy.rules.rule_context import duplicates, leaving
from privrelease.policy.text.messages import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.legal import Recipient
    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["recipient_id_rules", "recipient_rules", "rows_and_table_rules"]

#: Ids, and kinds of access, that represent everybody: every other recipient is among them.
_EVERYBODY: Final = frozenset({"all", "anybody", "anyone", "everybody", "everyone", "open", "open_data", "public", "world"})


def _listed(reading: RuleContext) -> tuple[Recipient, ...]:
    legal = reading.policy.legal
    return () if legal is None else legal.recipients or ()


def recipient_id_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield ids of recipients that appear twice, and two ids of one name."""
    numbered = [(number, one.id) for number, one in enumerate(_listed(reading)) if one.id is not None]
    for place, name in duplicates(name for _, name in numbered):
        message = f"the id {shown(name)} appears twice"
        hint = "give every recipient an id of its own"
        yield reading.error("P552", message, "legal", "recipients", numbered[place][0], "id", hint=hint)
    named = [(number, folded_name(one.name)) for number, one in enumerate(_listed(reading)) if one.id is not None]
    for place, name in duplicates(name for _, name in named):
        number = named[place][0]
        first = next(_listed(reading)[other].id for other, same in named if same == name)
        message = f"has the name of the recipient {shown(first)}: releases to both would count as releases to two recipients"
        hint = "give it the first one's id in `recipients`; where they are two, write names that differ"
        yield reading.error("P608", message, "legal", "recipients", number, "name", hint=hint)


def recipient_rules(reading: RuleContext, releases: Sequence[tuple[int, Any]]) -> Iterator[Finding]:
    """Yield recipients of releases that the legal section does not name, and those who are everybody."""
    listed = {one.id: one for one in _listed(reading) if one.id is not None}
    for number, release in releases:
        for place, name in enumerate(release.recipients or ()):
            where = ("releases", number, "recipients", place)
            if name not in listed:
                if reading.left_out("legal"):
                    continue
                hint = did_you_mean(name, listed) or f"write `legal: {{recipients: [{{id: {name}, name: …}}]}}`"
                yield reading.error("P551", f"no recipient in `legal` has the id {shown(name)}", *where, hint=hint)
            elif {name.casefold(), (listed[name].access or "").casefold()} & _EVERYBODY:
                message = f"{shown(name)} is everybody, and so every other recipient too: nothing would be kept apart"
                yield reading.error("P553", message, *where, hint="leave `recipients` out of a release that anybody may get")


def rows_and_table_rules(reading: RuleContext, releases: Sequence[tuple[int, MicrodataRelease]]) -> Iterator[Finding]:
    """Warn at each table whose group columns, not all of them known to a threat, are all in rows of the same persons that its recipients may get."""
    threats = reading.policy.threats
    kind = next((one for one in reading.kinds if one.model is TableRelease), None)
    for number, table in () if kind is None else reading.releases(kind):
        for _, rows in releases:
            if not _same_persons(reading, rows.from_, table.from_) or _apart(rows.recipients, table.recipients):
                continue
            out = leaving(rows, reading.policy.datasets[rows.from_])
            protected = {name for one in rows.protect if one in threats for name in threats[one].knows}
            shown_all = set(table.by) <= set(out.columns) - out.changed
            # cells of columns that a threat knows are groups of its class size, or open: there the audit alone can tell
            if shown_all and not set(table.by) <= protected:
                message = f"the rows of release {rows.id} show every group column of this table: whoever has both can count its suppressed cells"
                hint = (
                    "leave a group column out of the rows, or give rows and table to different recipients and say so on both (`recipients`); "
                    "the audit says which cells the rows give back"
                )
                yield reading.warning("P550", message, "releases", number, "by", hint=hint)
                break


def _same_persons(reading: RuleContext, one: str, other: str) -> bool:
    datasets = reading.policy.datasets
    if one not in datasets or other not in datasets:
        return False
    population = datasets[one].population
    return one == other or (population is not None and population == datasets[other].population)


def _apart(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    return one is not None and other is not None and not set(one) & set(other)
