"""The policy: one frozen value of everything that a file (with what it extends) says."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from privrelease.policy.changes import governance_changes as words
from privrelease.policy.changes.directions import always, promised, ranked
from privrelease.policy.language.approvals import (
    ApprovalsSpec,
    Waiver,
)
from privrelease.policy.language.attacks import AttacksSpec
from privrelease.policy.language.checks import Check
from privrelease.policy.language.datasets import Datasets
from privrelease.policy.language.keys import FREE, FREE_BELOW, Judged, Stricter
from privrelease.policy.language.kinds import KINDS, Kinds, Releases, releases_type
from privrelease.policy.language.ledger import LedgerSpec
from privrelease.policy.language.legal import Legal
from privrelease.policy.language.number_values import Count
from privrelease.policy.language.tables import TableRules
from privrelease.policy.language.threats import Threats
from privrelease.policy.language.values import CHOICE, WHEN_USED, Day, Frozen, Identifier, PathText, Text

__all__ = ["Context", "ContextPopulation", "Policy", "ReportSpec", "ReviewSpec", "policy_model"]


class ContextPopulation(Frozen):
    """The population that the data is about."""

    size: Count | None = None
    """Number of persons."""
    source: Text | None = None
    """The source of the number."""


class Context(Frozen):
    """The circumstances of the release (ISO/IEC 27559)."""

    release_model: Annotated[
        Annotated[Literal["public", "controlled", "internal"], CHOICE] | None,
        Judged(ranked("internal", "controlled", "public")),
    ] = None
    """The persons who can get the data."""
    population: ContextPopulation | None = None
    """The population that the data is about."""
    controls: Annotated[tuple[Text, ...], Judged(promised)] = ()
    """Controls at the recipient."""
    motives: Text | None = None
    """Motives and capacity to attack."""
    harms: Text | None = None
    """The harm that a disclosure would do."""


class ReportSpec(Frozen):
    """The audit report."""

    editions: Annotated[tuple[Annotated[Literal["internal", "recipient"], CHOICE], ...], Judged(words.editions)] = (
        "internal",
        "recipient",
    )
    """The editions that are written."""
    language: Annotated[Literal["en", "de", "fr"], CHOICE, FREE, Judged(always("neutral"))] = "en"
    """The language of the report's pages."""


class ReviewSpec(Frozen):
    """When the policy is looked at again."""

    next: Annotated[Day | None, Judged(words.sooner)] = None
    """Day of the next review."""
    triggers: Annotated[tuple[Text, ...], Judged(promised)] = ()
    """The events that bring the review forward."""


class Policy(Frozen):
    """A policy: the data that may be released, its protection, and the legal ground."""

    apiVersion: Annotated[Literal["privrelease/v1"], CHOICE]  # noqa: N815  the key's name in every policy
    """Version of the policy language."""
    kind: Annotated[Literal["ReleasePolicy"], CHOICE]
    """The kind of the file."""
    id: Annotated[Identifier, Judged(always("breaking"))]
    """Name of the policy."""
    version: Annotated[Text, Judged(always("neutral"))]
    """Version of the policy."""
    title: Annotated[Text, FREE]
    """A description of the policy."""
    datasets: Datasets
    """The personal data, by name."""
    threats: Threats = Field(default_factory=dict)
    """Attackers and what risk is tolerated, by name."""
    releases: Releases
    """The releases."""
    checks: tuple[Annotated[Check, WHEN_USED, Stricter.ADDED], ...] = ()
    """The expectations on released files, besides the threats."""
    attacks: Annotated[Annotated[AttacksSpec, WHEN_USED] | None, Stricter.SET] = None
    """The attacks on every file of rows before it is released."""
    tables: Annotated[Annotated[TableRules, WHEN_USED] | None, Stricter.SET] = None
    """Rules that every table release keeps."""
    waivers: Annotated[tuple[Annotated[Waiver, WHEN_USED], ...], Stricter.FEWER, Judged(words.waived)] = ()
    """Failed checks that are let pass, openly and for a time."""
    approvals: Annotated[Annotated[ApprovalsSpec, WHEN_USED] | None, Stricter.SET] = None
    """Signatures without which no release is published."""
    ledger: Annotated[Annotated[LedgerSpec, WHEN_USED] | None, Stricter.SET] = None
    """The privacy-budget ledger."""
    publications: Annotated[PathText | None, Judged(words.logged)] = None
    """The log of publications: a file, or `ledger`."""
    legal: Annotated[Annotated[Legal, WHEN_USED] | None, Stricter.SET, Judged(words.stated, below=True)] = None
    """The facts that the record of processing and the DPIA need."""
    context: Annotated[Annotated[Context, WHEN_USED] | None, FREE_BELOW, Judged(words.stated, below=True)] = None
    """The circumstances of the release."""
    report: Annotated[Annotated[ReportSpec, WHEN_USED] | None, FREE_BELOW, Judged(words.report)] = None
    """The audit report."""
    review: Annotated[Annotated[ReviewSpec, WHEN_USED] | None, FREE_BELOW, Judged(words.stated, below=True)] = None
    """When the policy is looked at again."""


@cache
def policy_model(kinds: Kinds = KINDS) -> type[Policy]:
    """Return the model of a policy whose releases are of these kinds."""
    if kinds == KINDS:
        return Policy
    return create_model("Policy", __base__=Policy, __module__=__name__, releases=(releases_type(kinds), ...))
