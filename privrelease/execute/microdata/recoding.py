"""Columns whose released values are made: those that transform steps replace, before classes are formed and cells suppressed, and pseudonyms.

Pseudonym keys: no key, no release.

A pseudonym is an HMAC of the value. Without a secret, whoever can list the possible values computes all pseudonyms in seconds (a
telephone number of 7 digits has 10^7 values), so a missing or short key is an error before anything is read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from privrelease.engine.protocol.base import Recode
from privrelease.errors import InputError, InternalError
from privrelease.findings import Finding, Location, pluralise
from privrelease.relational.treatments import CellRelation, Pseudonym, declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn
    from privrelease.relational.recoding import Recoding
    from privrelease.relational.schema import Column

__all__ = ["MAKERS", "SHORTEST_KEY", "Makers", "pseudonym_keys", "recoded"]

#: What makes released values: by the class of a map, from the map and an Arrow array of values of the source; and how the map draws values together.
Makers: TypeAlias = "tuple[tuple[type[Any], Callable[[Any, Any], Any], Callable[[Any], Recoding] | None], ...]"

#: The makers of the steps of this package: none of them changes values but by keyed pseudonyms, which the engine makes itself.
MAKERS: Makers = ()


def recoded(plan: MicrodataPlan, staged: Staged, engine: Engine, makers: Makers = MAKERS) -> Staged:
    """Return the source with the values of recoded columns replaced; the source itself where no step replaces any.

    Raises InputError (D256), with a finding for each column of which values have nothing that represents them, (D257) where values of the source are
    texts that others would be written as; never a cell.
    """
    columns = [column for column in plan.columns if column.treatment.relation is CellRelation.MAPPED]
    if not columns:
        return staged
    recodes = [_recode(plan, column, makers) for column in columns]
    try:
        return engine.recode(staged, recodes)
    except InputError as error:
        place = Location(plan.source.label)
        declared = {column.name: declaration_of(column.treatment) for column in columns}
        findings = tuple(
            replace(one, location=place, hint=_hint(declared.get(one.subject), one.hint) if one.code == "D256" else one.hint)
            for one in error.findings
        )
        raise InputError(error.code, error.message, hint=findings[0].hint, location=place, findings=findings) from None


def _hint(declared: object, otherwise: str | None) -> str | None:
    """Return what can be done about values that have no label, by the form of the hierarchy."""
    from privrelease.relational.hierarchies import Dates, Generalised, Intervals, Prefixes

    read = "say how the cells are to be read (`missing`, `aliases`)"
    match declared:
        case Generalised(form=Intervals()):
            return f"write edges that hold every value, or `bottom` and `top` for those outside (beyond 18 digits nothing else holds a number), or {read}"
        case Generalised(form=Dates()):
            return f"dates have labels from the year 1 (decades: 10) to 9999: correct others in the source, or {read}"
        case Generalised(form=Prefixes(lengths=lengths, small=small, then=then)):
            more = "" if small is None and then is None else ", add what the file lacks"
            return f"a value shorter than {lengths[0]} characters has no prefix: write a shorter first one, or list labels in a file (`csv`){more}, or {read}"
        case _:
            return otherwise


def _recode(plan: MicrodataPlan, column: ReleasedColumn, makers: Makers) -> Recode:
    declared = declaration_of(column.treatment)
    found = next((one for one in makers if type(declared) is one[0]), None)
    if found is None:
        raise InternalError(code="R196", message=f"no transform step makes the released values of {column.name}")
    _, make, recoding = found
    # the domain is that of the source: what is released has values of its own
    released = replace(plan.source.column(column.name), type=column.type, domain=None)
    drawn = None if recoding is None else recoding(declared)
    return Recode(released, partial(_values, make, declared, released), drawn)


def _values(make: Callable[[Any, Any], Any], declared: object, column: Column, values: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return what is released for values. Raises InputError D257 where one of them is a text that other values would be written as, or would be
    written as a mark of missing or suppressed values.
    """
    name = column.name
    from privrelease.relational.hierarchies import Generalised, Prefixes

    if isinstance(declared, Generalised) and isinstance(declared.form, Prefixes) and declared.form.then is not None:
        from privrelease.disclosure.hierarchies.names import read_as_others

        wrong = read_as_others(declared.form, values).true_count
        if wrong:
            message = f"column {name}: {pluralise(wrong, 'value is, or begins with,', 'values are, or begin with,')} a label that represents other values"
            hint = "give the labels of `then` names that no value or prefix has"
            finding = Finding("D257", message, hint=hint, subject=name)
            raise InputError(finding.code, message, hint=hint, findings=(finding,))
    made = make(declared, values)
    _no_mark(column, made)
    return made


def _no_mark(column: Column, made: Any) -> None:  # noqa: ANN401  Arrow has no types
    """Refuse (D257) a label that readers of the file take for a missing or suppressed value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marks = {*column.format.missing, *(() if column.format.suppression_mark is None else (column.format.suppression_mark,))} - {
        ""
    }
    if not marks or not pa.types.is_string(made.type):
        return
    if pc.is_in(made, value_set=pa.array(sorted(marks), pa.string())).true_count:
        message = f"column {column.name}: a label that is written is a declared mark of missing or suppressed values"
        hint = "write other marks (`missing`, `suppression_mark`), or other intervals or lengths"
        finding = Finding("D257", message, hint=hint, subject=column.name)
        raise InputError(finding.code, message, hint=hint, findings=(finding,))


#: Bytes that a pseudonym key has at least.
SHORTEST_KEY = 16
_HINT = "make one with `openssl rand -hex 32`, keep it outside the policy, and use the same key where pseudonyms must match"


def pseudonym_keys(plan: MicrodataPlan, environment: Mapping[str, str]) -> dict[str, bytes]:
    """Return the key of every column that is released as a pseudonym, by column name.

    Raises InputError (D610 not set, D611 too short), with a finding for each variable at fault; never a part of a key.
    """
    keys: dict[str, bytes] = {}
    faults: dict[str, Finding] = {}
    for column in plan.columns:
        if not isinstance(column.treatment, Pseudonym):
            continue
        variable = column.treatment.key
        secret = environment.get(variable, "").encode("utf-8", "surrogateescape") if variable else b""
        subject = f"releases.{plan.id}"
        if not secret:
            named = f"the environment variable {variable}" if variable else "an environment variable to name"
            message = f"the pseudonym of {column.name} needs a key: {named} is not set"
            faults.setdefault(variable, Finding("D610", message, location=plan.location, hint=_HINT, subject=subject))
        elif len(secret) < SHORTEST_KEY:
            message = f"the pseudonym key in {variable} is shorter than {SHORTEST_KEY} bytes"
            faults.setdefault(variable, Finding("D611", message, location=plan.location, hint=_HINT, subject=subject))
        keys[column.name] = secret
    if faults:
        first, *_ = faults.values()
        raise InputError(first.code, first.message, hint=first.hint, location=first.location, findings=tuple(faults.values()))
    return keys
