"""What attacks are called, and which of them nobody set a limit for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.audit.document.attacks import AttackFacts
    from privrelease.audit.document.model import AuditResult
    from privrelease.texts.catalogue import Catalogue

__all__ = ["attack_name", "unlimited"]


def attack_name(one: AttackFacts, texts: Catalogue, *, isolated: bool = True) -> str:
    """Return what an attack is called. ``isolated``: names of columns stand in marks that keep the direction of the text around them."""
    values = {
        "knows": ", ".join(one.knows),
        "other": ", ".join(one.other),
        "target": one.target or "",
        "combine": str(one.combine or ""),
    }
    return (texts.text if isolated else texts.plain)(f"attacks.name.{one.attack}", **values)


def unlimited(audit: AuditResult, texts: Catalogue, *, isolated: bool = True) -> str:
    """Name the attacks that the policy sets no limit for; empty where each has one, or none was asked for."""
    facts = audit.attacks
    found = () if facts is None else facts.attacks
    free = (one for one in found if one.max_risk is None and one.max_advantage is None)
    return ", ".join(attack_name(one, texts, isolated=isolated) for one in free)
