"""``audit.json``, version 1: every figure of an audit, frozen. All reports are rendered from it and from nothing else.

Every figure carries a visibility. ``internal``: for the data-protection officer and the steward. ``recipient``: also for whoever gets
the data. ``public``: also for everyone. A renderer shows a figure only in editions that its visibility admits.

Shares and risks are exact: ``exact`` holds the fraction as text (``"1/5"``), ``value`` the nearest float for reading.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from privrelease.audit.document.attacks import AttacksFacts
from privrelease.audit.document.previous_releases import (
    EarlierFacts,
    SinceFacts,
)
from privrelease.audit.document.privacy import PrivacyFacts
from privrelease.audit.document.sensitive import (
    KeyFacts,
    SensitiveFacts,
)
from privrelease.audit.document.sentences import Coded, said_all, said_of, title_said
from privrelease.audit.document.signoff import (
    SignoffFacts,
    WaiverFacts,
)
from privrelease.audit.document.synthetic import SyntheticFacts
from privrelease.audit.document.tables import TableFacts
from privrelease.audit.document.utility import UtilityMeasures
from privrelease.audit.figure_model import Figure, Outcome, State, Visibility
from privrelease.documents import Document, optional_field
from privrelease.relational.treatments import TreatmentWords
from privrelease.texts.sentences import Said, say

__all__ = [
    "AuditResult",
    "CheckResult",
    "ClassBucket",
    "ColumnFacts",
    "ColumnLoss",
    "DataFacts",
    "Decision",
    "Figure",
    "FindingRecord",
    "Identity",
    "Kind",
    "LegalFacts",
    "Outcome",
    "OutputFacts",
    "RiskFacts",
    "State",
    "SubsetFacts",
    "ThreatResult",
    "ThresholdVerdict",
    "UtilityFacts",
    "Visibility",
    "WorstFigure",
    "check_unmade",
]

VERSION: Literal[1] = 1

#: The name of a kind of release, as a policy writes it.
Kind: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]


class FindingRecord(Document):
    """A finding as JSON: see :class:`privrelease.findings.Finding`."""

    code: str
    message: str
    severity: Literal["error", "warn", "info"]
    hint: str | None = None
    subject: str = ""
    file: str | None = None
    line: int = 0
    column: int = 0
    visibility: Visibility = Visibility.INTERNAL
    """A message holds figures, so a finding is internal unless it says otherwise."""
    message_coded: Coded | None = optional_field()

    @property
    def told(self) -> str:
        """Return the message, with its code and values where it has them."""
        return said_of(self.message, self.message_coded)


class WorstFigure(Document):
    """The figure that comes nearest to, or most exceeds, its threshold."""

    what: str
    figure: Figure
    threshold: Figure
    holds: bool


class Decision(Document):
    """The verdict. ``assessment_remaining``: what a person has yet to assess; never empty."""

    outcome: Literal[Outcome.PASS, Outcome.FAIL, Outcome.REVIEW]
    checks_passed: int
    checks_total: int
    """Checks and thresholds that were looked at; what could not be is apart."""
    checks_not_made: int = Field(default=0, exclude_if=lambda none: not none)
    """Checks that could not be made, or had nothing to look at: neither held nor failed, whatever the decision makes of them."""
    checks_not_asked: int = Field(default=0, exclude_if=lambda none: not none)
    """Checks that the policy does not ask for."""
    worst: WorstFigure | None = None
    reasons: tuple[str, ...] = ()
    reasons_coded: tuple[Coded | None, ...] | None = optional_field()
    """The reasons as code and values, in their order; None for one that is in words alone."""
    assessment_remaining: tuple[str, ...]
    assessment_remaining_coded: tuple[Coded | None, ...] | None = optional_field()

    @property
    def told_reasons(self) -> tuple[str, ...]:
        """Return the reasons, with code and values where they have them."""
        return said_all(self.reasons, self.reasons_coded)

    @property
    def told_remaining(self) -> tuple[str, ...]:
        """Return the matters that a person has yet to assess, with code and values."""
        return said_all(self.assessment_remaining, self.assessment_remaining_coded)


class OutputFacts(Document):
    """One released file: its path as the policy names it, kind, SHA-256, bytes, rows."""

    label: str
    kind: Literal["csv", "parquet", "duckdb"]
    sha256: str
    bytes: int
    rows: Figure


class Identity(Document):
    """Release that was audited, under which policy, by which versions. ``input_digest`` is keyed (HMAC-SHA256) and internal."""

    policy_id: str
    policy_version: str
    policy_title: str
    policy_sha256: str
    policy_file: str
    commit: str | None
    environment: str | None
    release: str
    run: str | None
    audited_at: str
    input_digest: str | None
    outputs: tuple[OutputFacts, ...]
    versions: dict[str, str]


class LegalFacts(Document):
    """The policy's legal fields, as stated (dotted name -> text or list of texts), and those its profile needs but lacks."""

    profile: str | None
    stated: dict[str, str | tuple[str, ...]]
    missing: tuple[str, ...]


class ColumnFacts(Document):
    """A column: its role and type, whether it is released, and how it was treated on the way: by code, and in words."""

    name: str
    role: Literal["direct", "quasi", "sensitive", "insensitive"]
    type: str
    leaves: bool
    treated: TreatmentWords
    treatment: str
    domain: str | None = Field(default=None, exclude_if=lambda domain: domain is None)
    """Values that the policy declares, in words; for those inside."""
    drops_rows: bool = Field(default=False, exclude_if=lambda drops: not drops)
    """True where rows with a value outside the domain are left out: a rule that recipients read."""
    category: Literal["ordinary", "special", "criminal"] | None = Field(
        default=None, exclude_if=lambda category: category is None
    )
    """Category of personal data (``special``: Art. 9, ``criminal``: Art. 10 GDPR), where the policy declares one."""


class DataFacts(Document):
    """Content of the release. Row counts of the source are internal."""

    dataset: str
    snapshot: str | None
    population: str | None
    unit: str | None
    source_rows: Figure | None
    """Rows of the source, those included that a domain leaves out."""
    rows_outside: Figure | None = Field(default=None, exclude_if=lambda rows: rows is None)
    """Rows of the source that a domain leaves out; None where the source was not read, where no domain does that, and for
    statistics. Recipients see it where the rows left out and the rows read reach the minimum count.
    """
    source_persons: Figure | None
    released_rows: Figure
    columns: tuple[ColumnFacts, ...]
    order: Literal["values", "source", "policy"]
    recipients: tuple[str, ...] | None = Field(default=None, exclude_if=lambda one: one is None)
    """The recipients of the release, by the policy; None where it does not say. Internal."""


class ClassBucket(Document):
    """Records in classes of ``low`` to ``high`` records (``high`` None: no upper end); classes and records, share of records."""

    low: int
    high: int | None
    classes: Figure
    records: Figure
    share: Figure


class RiskFacts(Document):
    """Risk of one table for one threat, under one reading of missing values.

    ``reading``: category (missing equals missing) or wildcard (missing matches anything). ``k``: size of the smallest class (None: no
    records). ``counted``: what a class counts. Residual records are out of the statistics. ``persons``: distinct ones, where some are in several
    classes: amounts of records count a person in each, average risk and records at risk count each once, as in the smallest of their classes.
    """

    reading: Literal["category", "wildcard"]
    counted: Literal["records", "persons", "person_sets", "person_multisets"]
    persons: Figure | None = optional_field()
    records: Figure
    classes: Figure
    k: Figure
    uniques: Figure
    highest: Figure
    average: Figure
    at_risk: Figure | None
    records_below_k: Figure | None
    classes_below_k: Figure | None
    residual: Figure
    buckets: tuple[ClassBucket, ...] = ()
    #: Further measures by name, e.g. journalist_highest, marketer, population_uniques_pitman, compatible_average.
    further: dict[str, Figure] = Field(default_factory=dict)


class ThresholdVerdict(Document):
    """One threshold of one threat: ``measure`` is highest_risk, average_risk, records_at_risk or subsets."""

    measure: str
    figure: Figure
    threshold: Figure
    holds: bool
    means: str
    means_coded: Coded | None = optional_field()

    @property
    def told(self) -> str:
        """Return the demand of the threshold, with code and values where it has them."""
        return said_of(self.means, self.means_coded)


class SubsetFacts(Document):
    """Combinations of at most ``up_to`` columns: how many were looked at and not looked at, how many have a class below ``k``."""

    up_to: int
    k: int
    by_size: tuple[tuple[int, int, int, int], ...]
    """(columns in the combination, combinations, smallest class, combinations below k)"""
    looked_at: int
    not_looked_at: int


class ThreatResult(Document):
    """One threat on the final output: before, after (the threat's own reading), after under the other reading, and verdicts."""

    name: str
    columns: tuple[str, ...]
    attacker: Literal["prosecutor", "journalist", "marketer"]
    missing: Literal["category", "wildcard"]
    limits: bool
    """False for the attacker who knows the union of all threats' columns: information, not a limit."""
    before: RiskFacts | None
    after: RiskFacts
    after_other_reading: RiskFacts | None
    verdicts: tuple[ThresholdVerdict, ...]
    subsets: SubsetFacts | None = None
    holds: bool


class ColumnLoss(Document):
    """Cells of one quasi-identifier that were lost: made missing, and in dropped rows."""

    column: str
    suppressed: Figure
    in_dropped_rows: Figure
    share: Figure
    """Lost cells of the column over the source's rows."""


class CellBoundFacts(Document):
    """A lower bound on the cells that suppression must take, for ``threat``, and by which share the cells lost are above it: at most so far are
    they from the minimum. Internal. ``why_not``: the reason why no bound is known.
    """

    threat: str | None
    cells: Figure | None
    above: Figure | None
    why_not: Literal["weights", "linkable", "model", "columns", "classes"] | None = None


class UtilityFacts(Document):
    """Cost of protection. ``cells_share``: lost cells over all QI cells of the source, for the union of all threats' columns."""

    cells_lost: Figure
    cells_total: Figure
    cells_share: Figure
    limit: Figure | None
    rows_dropped: Figure
    columns: tuple[ColumnLoss, ...]
    bound: CellBoundFacts | None = Field(default=None, exclude_if=lambda bound: bound is None)
    """The fewest cells that would do, where a step suppresses cells."""


class CheckResult(Document):
    """One check: of the auditor (ids ``AUDIT-…``) or of the policy. ``observed`` is compared with ``limit`` where it has one."""

    id: str
    title: str
    outcome: Outcome
    severity: Literal["error", "warn"]
    message: str
    observed: Figure | None = None
    limit: Figure | None = None
    visibility: Visibility = Visibility.RECIPIENT
    file: str | None = Field(default=None, exclude_if=lambda file: file is None)
    """The file of the policy in which it was written, as it was named; for those inside."""
    line: int = 0
    column: int = Field(default=0, exclude_if=lambda column: not column)
    waived: bool = Field(default=False, exclude_if=lambda waived: not waived)
    """An open waiver lets it pass (section 14): it is shown as it is and does not fail the release."""
    vacuous: bool = Field(default=False, exclude_if=lambda vacuous: not vacuous)
    """There was nothing to look at (no rows, no values, no one to attack), or what an attack needs was never handed over with a file of
    others: not evaluated, neither passed nor failed, and left to a person."""
    title_coded: Coded | None = optional_field()
    """Code and values of a title that is not that of the check of this id."""
    message_coded: Coded | None = optional_field()
    private: bool = Field(default=False, exclude_if=lambda private: not private)
    """It read the source of a release under differential privacy: it warns inside, and decides and counts nowhere, nor stops a run."""

    @property
    def told(self) -> str:
        """Return the message, with its code and values where it has them."""
        return said_of(self.message, self.message_coded)

    @property
    def told_title(self) -> str:
        """Return the title, with its code: by the id of the check where it has no other."""
        return title_said(self.id, self.title) if self.title_coded is None else said_of(self.title, self.title_coded)


def check_unmade(check: CheckResult) -> Said:
    """Say what is left to a person where a check could not be made."""
    return say("unmade", title=check.told_title, message=check.told)


class AuditResult(Document):
    """The whole ``audit.json``."""

    format: Literal["privrelease/audit"] = "privrelease/audit"
    version: Literal[1] = VERSION
    kind: Kind
    language: Literal["en", "de", "fr"] | None = Field(default=None, exclude_if=lambda language: language is None)
    """The language of its reports (BCP 47), where the policy names one; the sentences of this document are in English."""
    decision: Decision
    identity: Identity
    legal: LegalFacts
    context: dict[str, str] = Field(default_factory=dict)
    data: DataFacts
    threats: tuple[ThreatResult, ...]
    union: ThreatResult | None
    utility: UtilityFacts | None
    checks: tuple[CheckResult, ...]
    findings: tuple[FindingRecord, ...] = ()
    statistics: PrivacyFacts | None = optional_field()
    """The claim of differential privacy, what each query cost and gave, and the population's budget."""
    synthetic: SyntheticFacts | None = optional_field()
    """The making of synthetic rows, and the measurements for them."""
    table: TableFacts | None = optional_field()
    """The rules of a table, and how well an attacker could work out what it hides."""
    sensitive: SensitiveFacts | None = optional_field()
    """The diversity of sensitive values within classes."""
    quasi_identifiers: tuple[KeyFacts, ...] | None = optional_field()
    """Frequencies of each quasi-identifier by itself."""
    attacks: AttacksFacts | None = optional_field()
    """Attacks that were tried."""
    utility_measures: UtilityMeasures | None = optional_field()
    """The cost of protection in use, and the frontier."""
    earlier: EarlierFacts | None = optional_field()
    """Earlier releases of the same persons."""
    waivers: WaiverFacts | None = optional_field()
    signoff: SignoffFacts | None = optional_field()
    since: SinceFacts | None = optional_field()
    """Changes since the release that was published before."""
