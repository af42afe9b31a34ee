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
from privrelease.findings import Finding, Location
from privrelease.relational.treatments import CellRelation, Pseudonym, declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn

__all__ = ["MAKERS", "SHORTEST_KEY", "Makers", "pseudonym_keys", "recoded"]

#: What makes released values: by the class of a map, from the map and an Arrow array of values of the source.
Makers: TypeAlias = "tuple[tuple[type[Any], Callable[[Any, Any], Any]], ...]"

#: The makers of the steps of this package: none of them changes values but by keyed pseudonyms, which the engine makes itself.
MAKERS: Makers = ()


def recoded(plan: MicrodataPlan, staged: Staged, engine: Engine, makers: Makers = MAKERS) -> Staged:
    """Return the source with the values of recoded columns replaced; the source itself where no step replaces any.

    Raises InputError (D256), with a finding for each column of which values have nothing that stands for them; never a cell.
    """
    columns = [column for column in plan.columns if column.treatment.relation is CellRelation.MAPPED]
    if not columns:
        return staged
    recodes = [_recode(plan, column, makers) for column in columns]
    try:
        return engine.recode(staged, recodes)
    except InputError as error:
        place = Location(plan.source.label)
        findings = tuple(replace(one, location=place) for one in error.findings)
        raise InputError(error.code, error.message, hint=error.hint, location=place, findings=findings) from None


def _recode(plan: MicrodataPlan, column: ReleasedColumn, makers: Makers) -> Recode:
    declared = declaration_of(column.treatment)
    make = next((one for kind, one in makers if type(declared) is kind), None)
    if make is None:
        raise InternalError(code="R196", message=f"no transform step makes the released values of {column.name}")
    # the domain is that of the source: what is released has values of its own
    released = replace(plan.source.column(column.name), type=column.type, domain=None)
    return Recode(released, partial(make, declared))


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
