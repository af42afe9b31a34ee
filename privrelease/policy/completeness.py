"""Which legal fields a policy lacks: they turn a decision into ``review``.

Source: Regulation (EU) 2016/679 (GDPR), Art. 30(1) for the record of processing, Art. 6 and 9 for the basis, Art. 13, 14 and 89,
Art. 35(7) for the impact assessment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.policy.legal import Legal
    from privrelease.policy.models import Policy

__all__ = ["missing_legal_fields"]


def _special(policy: Policy) -> bool:
    return any(column.category == "special" for dataset in policy.datasets.values() for column in dataset.columns.values())


#: Every required field, when it is there, and the article that asks for it. An empty list answers "none" where the law allows none.
_REQUIRED: tuple[tuple[str, Callable[[Legal], bool], str], ...] = (
    ("controller.name", lambda legal: legal.controller is not None, "Art. 30(1)(a)"),
    (
        "controller.contact",
        lambda legal: legal.controller is not None and legal.controller.contact is not None,
        "Art. 30(1)(a)",
    ),
    ("dpo.contact", lambda legal: legal.dpo is not None and legal.dpo.contact is not None, "Art. 30(1)(a)"),
    ("purposes", lambda legal: bool(legal.purposes), "Art. 30(1)(b)"),
    ("basis.art6", lambda legal: legal.basis is not None and legal.basis.art6 is not None, "Art. 6(1)"),
    ("data_subjects", lambda legal: bool(legal.data_subjects), "Art. 30(1)(c)"),
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


def missing_legal_fields(policy: Policy) -> tuple[str, ...]:
    """Return the dotted names (below ``legal``) of required fields that are missing; empty where no profile requires any.

    ``basis.art9`` is required where a column is of a special category.
    """
    legal = policy.legal
    if legal is None or legal.profile is None:
        return ()
    missing = [name for name, there, _ in _REQUIRED if not there(legal)]
    if _special(policy) and (legal.basis is None or legal.basis.art9 is None):
        missing.append("basis.art9")
    return tuple(missing)
