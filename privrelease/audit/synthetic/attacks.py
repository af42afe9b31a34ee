"""Attacks on synthetic rows: on persons that the model saw, with those who were held out as control. They inform, and never decide.

The claim is the privacy loss of section 10, whatever the attack. A difference between fitted and held-out persons beyond it would be a fault of the
method; none is no proof. Sources: Giomi et al. 2023 (singling out, linkability, inference with a control); Yeom et al. 2018 (membership).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.attacks.attempts import planned, tried
from privrelease.audit.attacks.reported import reported
from privrelease.audit.attacks.sampling import Draws
from privrelease.audit.attacks.setup import AttackSetup, Auxiliary, Table
from privrelease.audit.document.model import Figure
from privrelease.audit.document.visibility import Audience
from privrelease.errors import PrivreleaseError
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from privrelease.audit.document.attacks import AttacksFacts
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.synthetic.evidence import SyntheticEvidence
    from privrelease.audit.synthetic.source import BesideSource
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.attacks import AttacksPlan

__all__ = ["attack"]


def attack(evidence: SyntheticEvidence, beside: BesideSource | None) -> tuple[AttacksFacts | None, tuple[CheckResult, ...]]:
    """Try the plan's attacks on the first readable file; return what the report says, and a check for each that has a limit.

    Whatever goes wrong with the source, or a file of the attacks, is said and stops nothing.
    """
    plan = evidence.plan.attacks
    if plan is None:
        return None, ()
    found, why = None, say("attack_needs_both")
    if beside is not None and evidence.first is not None:
        if evidence.marked and evidence.plan.columns[0].name in plan.columns:
            why = say("attack_marked")
        else:
            try:
                found = _ground(evidence, plan, beside)
            except PrivreleaseError as error:
                why = say("attack_file_unread", code=error.code)
    made = tuple(planned(plan, why)) if found is None else tuple(tried(found))
    control = None if plan.control is None else plan.control.label
    held = None if beside is None or beside.held is None else Figure.of(beside.held.total, "count")
    external = evidence.target.run is None
    return reported(plan, found, made, Audience(None), control=control, held_out=held, external=external, absent=found is None)


def _ground(evidence: SyntheticEvidence, plan: AttacksPlan, beside: BesideSource) -> AttackSetup:
    """Code fitted, synthetic and held-out rows alike. Without a holdout the control is a file, or no one."""
    engine, file, (fitted, aside), link = evidence.engine, evidence.first, beside.staged, plan.linkability
    assert file is not None
    unit = None if evidence.plan.unit is None else evidence.plan.unit.column
    control = aside if plan.control is None else engine.stage(plan.control)
    listed = None if link is None or link.auxiliary is None or unit is None else engine.stage(link.auxiliary)
    of: list[Staged | ReleasedFile] = [fitted, file]
    columns, units = [plan.columns, plan.columns], [unit, None]
    if control is not None:
        of, columns, units = [*of, control], [*columns, plan.columns], [*units, unit]
    if listed is not None and link is not None:
        of, columns, units = [*of, listed], [*columns, link.first], [*units, None]
    found = engine.distinct_records(of, columns, units)
    data = Table.made(found[0], engine, {}, fitted, unit)
    auxiliary = None
    if listed is not None and unit is not None:
        outside = None if control is None else engine.shared_persons(listed, control, unit)
        auxiliary = Auxiliary(Table.made(found[-1], engine, {}, listed), engine.shared_persons(listed, fitted, unit), outside)
    return AttackSetup(
        plan,
        Draws.of("attacks", *evidence.target.source_digests),
        data,
        Table.made(found[1], engine, {}),
        engine,
        None if control is None else Table.made(found[2], engine, {}, control, unit),
        unit=unit,
        auxiliary=auxiliary,
    )
