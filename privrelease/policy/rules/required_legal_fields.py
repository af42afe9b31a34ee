"""Legal fields that a policy lacks: they turn a decision into ``review``.

Source: Regulation (EU) 2016/679 (GDPR), Art. 30(1) for the record of processing, Art. 6 and 9 for the basis, Art. 13, 14 and 89,
Art. 35(2), (7) and (9) for the impact assessment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from privrelease.policy.language.legal import Contact, Legal
    from privrelease.policy.language.models import Policy

__all__ = ["Missing", "Profile", "missing_legal", "missing_legal_fields"]

Profile: TypeAlias = Literal["gdpr"]


@dataclass(frozen=True, slots=True)
class Missing:
    """A required field that is not stated: its dotted name below ``legal``, and the article that asks for it."""

    name: str
    article: str


#: Required fields that are one place each: (name, whether it is stated, article).
_REQUIRED: tuple[tuple[str, Callable[[Legal], bool], str], ...] = (
    ("controller.name", lambda legal: legal.controller is not None, "Art. 30(1)(a)"),
    (
        "controller.contact",
        lambda legal: legal.controller is not None and legal.controller.contact is not None,
        "Art. 30(1)(a)",
    ),
    ("joint_controllers", lambda legal: legal.joint_controllers is not None, "Art. 30(1)(a)"),
    ("representative", lambda legal: "representative" in legal.model_fields_set, "Art. 30(1)(a)"),
    ("dpo.contact", lambda legal: _none_or_reachable(legal, "dpo", legal.dpo), "Art. 30(1)(a)"),
    ("purposes", lambda legal: bool(legal.purposes), "Art. 30(1)(b)"),
    ("basis.art6", lambda legal: legal.basis is not None and legal.basis.art6 is not None, "Art. 6(1)"),
    ("data_subjects", lambda legal: bool(legal.data_subjects), "Art. 30(1)(c)"),
    ("data_categories", lambda legal: bool(legal.data_categories), "Art. 30(1)(c)"),
    ("recipients", lambda legal: legal.recipients is not None, "Art. 30(1)(d)"),
    ("transfers", lambda legal: legal.transfers is not None, "Art. 30(1)(e)"),
    ("retention.source", lambda legal: legal.retention is not None and legal.retention.source is not None, "Art. 30(1)(f)"),
    ("retention.release", lambda legal: legal.retention is not None and legal.retention.release is not None, "Art. 30(1)(f)"),
    ("security_measures", lambda legal: bool(legal.security_measures), "Art. 30(1)(g)"),
    ("notice", lambda legal: legal.notice is not None and bool(legal.notice.ref or legal.notice.exemption), "Art. 13, 14"),
    ("safeguards", lambda legal: legal.safeguards is not None, "Art. 89(1)"),
    ("dpia.description", lambda legal: legal.dpia is not None and legal.dpia.description is not None, "Art. 35(7)(a)"),
    ("dpia.necessity", lambda legal: legal.dpia is not None and legal.dpia.necessity is not None, "Art. 35(7)(b)"),
    ("dpia.risks", lambda legal: legal.dpia is not None and bool(legal.dpia.risks), "Art. 35(7)(c)"),
    ("dpia.measures", lambda legal: legal.dpia is not None and bool(legal.dpia.measures), "Art. 35(7)(d)"),
)


def missing_legal(policy: Policy, profile: Profile | None = None) -> tuple[Missing, ...]:
    """Return what the profile (the policy's own where none is named) requires and the policy does not state; empty without one.

    An empty list or null answers "none" where the law allows none. ``basis.art9`` is required where a column is of a special category,
    ``dpia.legitimate_interest`` where the basis is one, ``dpia.dpo_advice`` where there is a data protection officer; who is named
    needs a contact, and a transfer its safeguard.
    """
    from privrelease.policy.language.legal import Legal

    if profile is None and (policy.legal is None or policy.legal.profile is None):
        return ()
    legal = policy.legal if policy.legal is not None else Legal()
    found = [Missing(name, article) for name, stated, article in _REQUIRED if not stated(legal)]
    return (*found, *_depending(policy, legal))


def missing_legal_fields(policy: Policy) -> tuple[str, ...]:
    """Return the dotted names (below ``legal``) of fields that the policy's own profile requires and that are missing."""
    return tuple(missing.name for missing in missing_legal(policy))


def _none_or_reachable(legal: Legal, name: str, who: Contact | None) -> bool:
    return who.contact is not None if who is not None else name in legal.model_fields_set


def _depending(policy: Policy, legal: Legal) -> Iterator[Missing]:
    """Yield what is required because of something else that is stated."""
    for number, joint in enumerate(legal.joint_controllers or (), start=1):
        if joint.contact is None:
            yield Missing(f"joint_controllers.{number}.contact", "Art. 30(1)(a)")
    if legal.representative is not None and legal.representative.contact is None:
        yield Missing("representative.contact", "Art. 30(1)(a)")
    for number, transfer in enumerate(legal.transfers or (), start=1):
        if transfer.safeguard is None:
            yield Missing(f"transfers.{number}.safeguard", "Art. 30(1)(e)")
    art6, art9 = (None, None) if legal.basis is None else (legal.basis.art6, legal.basis.art9)
    if _special(policy) and art9 is None:
        yield Missing("basis.art9", "Art. 9(2)")
    if art6 == "A6-1-f" and (legal.dpia is None or legal.dpia.legitimate_interest is None):
        yield Missing("dpia.legitimate_interest", "Art. 35(7)(a)")
    if legal.dpo is not None and (legal.dpia is None or legal.dpia.dpo_advice is None):
        yield Missing("dpia.dpo_advice", "Art. 35(2)")


def _special(policy: Policy) -> bool:
    return any(column.category == "special" for dataset in policy.datasets.values() for column in dataset.columns.values())
