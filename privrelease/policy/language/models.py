"""The policy: one frozen value of everything that a file (with what it extends) says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from privrelease.policy.language.approvals import ApprovalsSpec  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.attacks import AttacksSpec  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.checks import Check  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.datasets import Datasets  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.kinds import Releases  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.ledger import LedgerSpec  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.legal import Legal  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.number_values import Count  # noqa: TC001 -- pydantic resolves annotations when classes are made
from privrelease.policy.language.tables import TableRules  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.threats import Threats  # noqa: TC001  pydantic reads annotations at run time
from privrelease.policy.language.values import CHOICE, Day, Frozen, Identifier, Text
from privrelease.policy.language.waivers import Waiver  # noqa: TC001  pydantic reads annotations at run time

__all__ = ["Context", "ContextPopulation", "Policy", "ReportSpec", "ReviewSpec"]


class ContextPopulation(Frozen):
    """The population that the data is about."""

    size: Count | None = None
    """Number of persons."""
    source: Text | None = None
    """Where the number comes from."""


class Context(Frozen):
    """The circumstances of the release (ISO/IEC 27559)."""

    release_model: Annotated[Literal["public", "controlled", "internal"], CHOICE] | None = None
    """Who can get the data."""
    population: ContextPopulation | None = None
    """The population that the data is about."""
    controls: tuple[Text, ...] = ()
    """Controls at the recipient."""
    motives: Text | None = None
    """Motives and capacity to attack."""
    harms: Text | None = None
    """What harm a disclosure would do."""


class ReportSpec(Frozen):
    """The audit report."""

    editions: tuple[Annotated[Literal["internal", "recipient"], CHOICE], ...] = ("internal", "recipient")
    """The editions that are written."""


class ReviewSpec(Frozen):
    """When the policy is looked at again."""

    next: Day | None = None
    """Day of the next review."""
    triggers: tuple[Text, ...] = ()
    """What brings the review forward."""


class Policy(Frozen):
    """What may leave, how it is protected, and why that is lawful."""

    apiVersion: Annotated[Literal["privrelease/v1"], CHOICE]  # noqa: N815  the key's name in every policy
    """Version of the policy language."""
    kind: Annotated[Literal["ReleasePolicy"], CHOICE]
    """What the file is."""
    id: Identifier
    """Name of the policy."""
    version: Text
    """Version of the policy."""
    title: Text
    """What the policy is about, in words."""
    datasets: Datasets
    """The personal data, by name."""
    threats: Threats = Field(default_factory=dict)
    """Attackers and what risk is tolerated, by name."""
    releases: Releases
    """What leaves."""
    checks: tuple[Check, ...] = ()
    """What the released files must satisfy besides the threats."""
    attacks: AttacksSpec | None = None
    """What is tried on every file of rows before it leaves."""
    tables: TableRules | None = None
    """Rules that every table release keeps."""
    waivers: tuple[Waiver, ...] = ()
    """Failed checks that are let pass, openly and for a time."""
    approvals: ApprovalsSpec | None = None
    """Signatures without which no release is published."""
    ledger: LedgerSpec | None = None
    """The privacy-budget ledger."""
    legal: Legal | None = None
    """What the record of processing and the DPIA need."""
    context: Context | None = None
    """The circumstances of the release."""
    report: ReportSpec | None = None
    """The audit report."""
    review: ReviewSpec | None = None
    """When the policy is looked at again."""
