"""Attacks on a microdata release: prepare the ground, try each, judge. An attack that could not be tried is reported, and is no
pass.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from privrelease.audit.check import run_checks
from privrelease.audit.document.attacks import AttacksFacts
from privrelease.audit.document.visibility import Audience, minimum_of
from privrelease.audit.microdata.attacks.assessment import (
    ATTACK_CHECKS,
    GROUND_CHECKS,
    Attacked,
    check_of,
    closest_facts,
    facts_of,
    shows_too_little,
)
from privrelease.audit.microdata.attacks.attempts import distances, planned, tried
from privrelease.audit.microdata.attacks.setup import ground
from privrelease.audit.microdata.recoding import VERIFIERS

if TYPE_CHECKING:
    from privrelease.audit.document.model import CheckResult
    from privrelease.audit.microdata.attacks.attempts import AttackAttempt
    from privrelease.audit.microdata.attacks.setup import AttackSetup
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
        made: tuple[AttackAttempt, ...] = tuple(planned(plan, "the file cannot be read"))
    elif evidence.source is None:
        made, absent = tuple(planned(plan, "it needs the source, which was not read")), True
    else:
        found = ground(evidence, plan, engine, verifiers)
        made = tuple(tried(found))
    audience = Audience(minimum_of(evidence.plan.threats))
    facts = tuple(facts_of(one, plan.confidence, audience, decides=plan.decides) for one in made)
    apart = distances(found) if found is not None and plan.closest_record else None
    link = plan.linkability
    section = AttacksFacts(
        sample=plan.sample,
        confidence=str(plan.confidence),
        decides=plan.decides,
        control=None if plan.control is None else plan.control.label,
        auxiliary=None if link is None or link.auxiliary is None else link.auxiliary.label,
        attacks=facts,
        closest=None if apart is None else closest_facts(apart),
    )
    checks = [] if found is None or not plan.decides else [*run_checks(GROUND_CHECKS, found)]
    seen: Counter[str] = Counter()
    for one, said in zip(made, facts, strict=True):
        seen[one.attack] += 1
        excused = evidence.target.run is None and (absent or (one.missing is not None and found is not None))
        few = shows_too_little(one, said, plan.confidence)
        check = check_of(Attacked(said, one, excused, plan.decides, few), _CHECK_OF[one.attack], seen[one.attack])
        if check is not None:
            checks.append(check)
    return section, tuple(checks)


_CHECK_OF = {check.id.removeprefix("AUDIT-ATTACK-").lower().replace("-", "_"): check for check in ATTACK_CHECKS}
