"""Attacks on a microdata release: prepare the ground, try each, judge. What could not be tried is said, and is no pass."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from privrelease.audit.checks.codes import ATTACK_CODES, CONTROL_CHECK
from privrelease.audit.document.attacks import AttacksFacts
from privrelease.audit.document.model import CheckResult, Outcome, Visibility
from privrelease.audit.document.visibility import Audience, minimum_of
from privrelease.audit.microdata.attacks.assessment import check_of, closest_facts, facts_of
from privrelease.audit.microdata.attacks.attempts import distances, planned, tried
from privrelease.audit.microdata.attacks.setup import ground
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from privrelease.audit.microdata.attacks.attempts import AttackAttempt
    from privrelease.audit.microdata.attacks.setup import AttackSetup
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.audit import AuditEngine

__all__ = ["attack"]


def attack(evidence: Evidence, policy_sha256: str, engine: AuditEngine) -> tuple[AttacksFacts | None, tuple[CheckResult, ...]]:
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
        found = ground(evidence, plan, policy_sha256, engine)
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
    checks = [] if found is None or not plan.decides else _control_check(found)
    seen: Counter[str] = Counter()
    for one, said in zip(made, facts, strict=True):
        name = _CHECK_OF[one.attack]
        seen[name] += 1
        excused = evidence.target.run is None and (absent or (one.missing is not None and found is not None))
        check = check_of(said, one, name, absent=excused, decides=plan.decides)
        if check is not None:
            number = seen[name]
            checks.append(check if number == 1 else check.model_copy(update={"id": f"{name}-{number}"}))
    return section, tuple(checks)


_CHECK_OF = {check_id.removeprefix("AUDIT-ATTACK-").lower().replace("-", "_"): check_id for check_id, _, _ in ATTACK_CODES}


def _control_check(found: AttackSetup) -> list[CheckResult]:
    """Control persons who are in the data would hide what the release gives away."""
    if found.shared_persons is None:
        return []
    name, _, title = CONTROL_CHECK
    wrong = found.shared_persons > 0
    return [
        CheckResult(
            id=name,
            title=title,
            outcome=Outcome.FAIL if wrong else Outcome.PASS,
            severity="error",
            message=f"{pluralise(found.shared_persons, 'person of the control file is', 'persons of the control file are')} in the data: what succeeds on them is hidden"
            if wrong
            else "no person of the control file is in the data",
            visibility=Visibility.INTERNAL if wrong else Visibility.RECIPIENT,
        )
    ]
