"""What to do about each finding of the auditor, by its code: a finding without a way to act on it is half a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.document.model import Outcome

if TYPE_CHECKING:
    from privrelease.audit.document.model import CheckResult

__all__ = ["HINTS", "NOT_MADE_HINT", "hint_of"]

_AGAIN: Final = "run the release again and publish what that run makes"
_EDITED: Final = f"do not publish this file: it is not what the run made; {_AGAIN}"
_FAULT: Final = f"the file was altered after the run, or this is a fault of ours: {_AGAIN}; report it if it stays"
_NOT_HELD: Final = (
    "where nobody who gets this release can hold the earlier one (it was withdrawn before anybody fetched it, or went to others), "
    "say so: `recipients_hold_previous: false`"
)
_ATTACK: Final = "protect more of the columns that the attack goes by, or say with the limit why more can be answered for"
_NARROW: Final = (
    "suppress more cells of its rows and columns, or leave totals out (`margins: false`); where all with somebody in them are suppressed, raise "
    "`min_count`, suppress zeros too (`zeros: suppress`), or group by fewer or coarser keys"
)

#: Of a check of the policy, or of the limit of an attack, that could not be made.
NOT_MADE_HINT: Final = "hand over what it lacks, or have a person decide without it"

HINTS: Final[dict[str, str]] = {
    "A101": "suppress cells over the columns that the threat knows (`protect`), or leave a column out that tells persons apart",
    "A102": "suppress cells over the columns that the threat knows (`protect`), or leave a column out that tells persons apart",
    "A103": "protect the threat (`protect`), so that fewer records are in small classes, or leave a column out that tells persons apart",
    "A104": "protect the threat with its `subsets`, or leave a column of the combination out",
    "A105": "k is undefined without records in classes, which is no pass",
    "A107": "name the threats that the release must stand (`protect`), or write a check",
    "A108": "name the population from which the data was drawn, of the same day",
    "A201": "write every output of the policy; of a file of others the code in brackets says what is wrong, often a column that was recoded "
    "(ranges, masked digits) and no longer has its declared type",
    "A202": _EDITED,
    "A203": "release the columns of the policy, no more and no fewer, or change what the policy releases",
    "A204": "write the types of the policy; a column that was recoded (ranges, masked digits) has another type, which a policy that only suppresses does not allow",
    "A205": f"all outputs of a release hold the same rows: {_AGAIN}",
    "A206": _FAULT,
    "A207": "rows may be dropped only as a residual group: add none, and release the others",
    "A208": "keep the rows, with cells suppressed, or let a threat's residual group explain them",
    "A209": "suppress a cell, never change it: a changed value hides the person from k and is no protection that the policy knows",
    "A210": "leave a missing value missing: a value that was filled in is none of the source's",
    "A211": "name the column in a threat that the release protects, or leave its cells as they are",
    "A212": "allow more (`limit`), know less in the threats, or release fewer columns",
    "A213": _FAULT,
    "A214": "drop the residual records (`residual: drop`), or suppress more records to the last cell until they are k",
    "A215": "sort the file by its own values (`order: values`)",
    "A216": "remove the column, or let it leave as a pseudonym (`pseudonymise`)",
    "A217": "remove the column, or declare it `direct`; where values agree by chance, say why in the policy's context",
    "A218": "make pseudonyms with a secret key (`pseudonymise`): a plain hash is undone by trying every value",
    "A219": "an empty release shows nothing: look at the filters of the policy",
    "A220": "declare the person (`unit: {column: …, max_rows: …}`) as the data has them",
    "A221": "write the rows alone: no metadata, other table or dictionary value that no row has",
    "A222": "drop rows and suppress cells of the source, and change none; where a column was recoded on purpose, make the policy's source of the recoded data",
    "A231": _FAULT,
    "A232": _EDITED,
    "A233": f"all outputs of a release hold the same figures: {_AGAIN}",
    "A234": _FAULT,
    "A235": "write a line for every declared group, also those with nobody in them: a missing line tells that",
    "A236": "the noise is not what was paid for: do not publish, and run the release again",
    "A237": _FAULT,
    "A238": "spend less on the queries, or allow more (`budget`)",
    "A239": "run without `--test-noise`: noise from a seed can be taken off again",
    "A240": "find the ledger that was charged; without it nobody knows what these persons' data has cost",
    "A251": _FAULT,
    "A252": _EDITED,
    "A253": f"all outputs of a release hold the same cells: {_AGAIN}",
    "A254": "write every declared cell, also those with nobody in them: a missing cell tells that",
    "A255": "leave a suppressed cell blank and mark it, and print a zero as a zero",
    "A256": "print the figures of the source, or none: a changed figure is no protection that the policy knows",
    "A257": "declare the person (`unit: {column: …, max_rows: …}`) as the data has them",
    "A258": "suppress the cell: print no figure of so few, or of one who dominates it",
    "A259": _NARROW,
    "A260": _NARROW,
    "A261": "suppress the cells of that group, or group by fewer columns",
    "A262": "correct the source or the rule: somebody is in a cell that the policy calls impossible",
    "A281": f"keep the rules of the earlier release, or suppress in this one what that one suppresses; {_NOT_HELD}",
    "A282": f"wait until enough persons joined, left or changed, or leave those few out; {_NOT_HELD}",
    "A283": f"suppress what the earlier table suppresses, or release both as one policy's tables; {_NOT_HELD}",
    "A284": "spend less on this release, or raise the cap of the ledger if that can be answered for",
    "A285": "serve the stored answer again: leave `fresh` out and keep `snapshot`, policy and queries as they were",
    "A286": "restore what is missing, or name with `privrelease audit --against` a copy that has columns of this release",
    "A301": "change what leaves until it holds; where it can be answered for, a waiver lets one check of one release pass until a day",
    "A302": NOT_MADE_HINT,
    "A303": "remove it, or have it approved anew by somebody else than its owner",
    "A401": _ATTACK,
    "A402": _ATTACK,
    "A403": _ATTACK,
    "A404": _ATTACK,
    "A405": _ATTACK,
    "A406": _ATTACK,
    "A407": "name a file of persons who are not in the data under `control`",
    "A501": "widen the domain if those rows belong to the release",
}


def hint_of(code: str, check: CheckResult) -> str | None:
    """Say what to do about a check that does not pass. Of the auditor's own checks that could not be made there is nothing to do here: what
    they compare with was not handed over, or another check says what is wrong.
    """
    if check.outcome is not Outcome.NOT_EVALUATED:
        return HINTS[code]
    return NOT_MADE_HINT if code == "A302" or check.vacuous else None
