"""Attacks on a microdata release: prepare the ground, try each, judge. An attack that could not be tried is reported, and is no
pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.attacks.attempts import planned, tried
from privrelease.audit.attacks.reported import reported
from privrelease.audit.document.visibility import Audience, minimum_of
from privrelease.audit.microdata.attacks.ground import ground
from privrelease.audit.microdata.recoding import VERIFIERS
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from privrelease.audit.attacks.attempts import AttackAttempt
    from privrelease.audit.attacks.setup import AttackSetup
    from privrelease.audit.document.attacks import AttacksFacts
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.engine.protocol.audit import AuditEngine

__all__ = ["attack"]


def attack(
    evidence: Evidence, engine: AuditEngine, verifiers: Verifiers = VERIFIERS
) -> tuple[AttacksFacts | None, tuple[CheckResult, ...]]:
    """Try the plan's attacks on the file that is audited; return what the report says, and a check for each that has a limit."""
    plan = evidence.plan.attacks
    if plan is None:
        return None, ()
    found: AttackSetup | None = None
    absent = False
    if evidence.main is None:
        made: tuple[AttackAttempt, ...] = tuple(planned(plan, say("attack_file")))
    elif evidence.source is None:
        made, absent = tuple(planned(plan, say("attack_needs_source"))), True
    else:
        found = ground(evidence, plan, engine, verifiers)
        made = tuple(tried(found))
    audience = Audience(minimum_of(evidence.plan.threats))
    control = None if plan.control is None else plan.control.label
    external = evidence.target.run is None
    return reported(plan, found, made, audience, control=control, external=external, absent=absent)
