"""Attacks as the audit reports them: the section of ``audit.json``, and a check of each attack with a limit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from privrelease.audit.attacks.assessment import (
    ATTACK_CHECKS,
    GROUND_CHECKS,
    Attacked,
    check_of,
    closest_facts,
    facts_of,
    shows_too_little,
)
from privrelease.audit.attacks.attempts import distances
from privrelease.audit.check import run_checks
from privrelease.audit.document.attacks import AttacksFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.attacks.attempts import AttackAttempt
    from privrelease.audit.attacks.setup import AttackSetup
    from privrelease.audit.document.model import CheckResult, Figure
    from privrelease.audit.document.visibility import Audience
    from privrelease.plan.attacks import AttacksPlan

__all__ = ["reported"]

_CHECK_OF: Final = {check.id.removeprefix("AUDIT-ATTACK-").lower().replace("-", "_"): check for check in ATTACK_CHECKS}


def reported(
    plan: AttacksPlan,
    found: AttackSetup | None,
    made: Sequence[AttackAttempt],
    audience: Audience,
    *,
    control: str | None,
    held_out: Figure | None = None,
    external: bool = False,
    absent: bool = False,
) -> tuple[AttacksFacts, tuple[CheckResult, ...]]:
    """Return what the report says of attacks, and a check for each that has a limit.

    ``found``: None where nothing could be prepared; ``control``: the control file in words; ``held_out``: the number of rows that are the control
    instead. ``external``: no run of ours made
    the file, so that what was never handed over (``absent``: the source) is excused.
    """
    facts = tuple(facts_of(one, plan.confidence, audience, decides=plan.decides) for one in made)
    apart = distances(found) if found is not None and plan.closest_record else None
    link = plan.linkability
    section = AttacksFacts(
        sample=plan.sample,
        confidence=str(plan.confidence),
        decides=plan.decides,
        control=control,
        held_out=held_out,
        auxiliary=None if link is None or link.auxiliary is None else link.auxiliary.label,
        attacks=facts,
        closest=None if apart is None else closest_facts(apart),
    )
    checks = [] if found is None or not plan.decides else [*run_checks(GROUND_CHECKS, found)]
    seen: Counter[str] = Counter()
    for one, said in zip(made, facts, strict=True):
        seen[one.attack] += 1
        excused = external and (absent or (one.missing is not None and found is not None))
        few = shows_too_little(one, said, plan.confidence)
        check = check_of(Attacked(said, one, excused, plan.decides, few), _CHECK_OF[one.attack], seen[one.attack])
        if check is not None:
            checks.append(check)
    return section, tuple(checks)
