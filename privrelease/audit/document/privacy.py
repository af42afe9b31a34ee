"""Field ``statistics`` of ``audit.json``: the claim of differential privacy, what each query cost and gave, and the population's budget.

Everything but the released figures is known before a row is read. Budgets are exact, as text. Released figures may be seen by whoever
gets them; which other releases spent the budget is internal.
"""

from typing import Literal

from privrelease.audit.figure_model import Figure
from privrelease.documents import Document

__all__ = [
    "ApartFacts",
    "BudgetFacts",
    "ChargeFacts",
    "DrawFacts",
    "GroupFacts",
    "PrivacyFacts",
    "QueryFacts",
    "Unprotected",
    "for_recipients",
]

#: What the claim does not cover: other releases without noise; the number of persons; what the policy declares; a person under several
#: identifiers; a person over several rows; how long a run takes and that it failed.
Unprotected = Literal["other_releases", "persons", "declared", "identifiers", "rows", "course"]


class GroupFacts(Document):
    """A released figure and its interval, as the file holds them. No value: masked after the noise. No interval: a choice has none."""

    keys: dict[str, str]
    value: Figure
    low: Figure
    high: Figure


class DrawFacts(Document):
    """One draw of noise: its law, in the unit of its figure. ``error``: half of the 95 % interval of the noise."""

    figure: str
    mechanism: Literal["discrete_laplace", "discrete_gaussian", "permute_and_flip", "public"]
    numbers: int | None
    """The number of draws of this law; None: one for each private key."""
    scale: float | None
    grid: str
    deviation: float | None
    error: float | None
    epsilon: str
    delta: str
    threshold: int | None = None
    """A private key is published from this noisy count of persons on."""


#: By what the figure without noise may differ from that of all rows: rows and groups of a person that are left out, values that are clamped.
Bias = Literal[
    "rows_of_count",
    "rows_of_persons",
    "rows_of_sum",
    "rows_of_average",
    "groups",
    "clamped",
    "clamped_quantile",
    "clamped_bins",
]


class QueryFacts(Document):
    """One query. ``domain``: bounds, bins or values as the policy declares them. ``groups``: released rows, the first ones where many."""

    id: str
    figure: str
    column: str | None
    by: tuple[str, ...]
    keys: Literal["none", "declared", "private"]
    filtered: bool
    domain: str | None
    epsilon: str
    delta: str
    post: tuple[str, ...]
    served_again: bool
    draws: tuple[DrawFacts, ...]
    printed: Literal["always", "own", "other"] = "always"
    """The noise that decides that a row is printed: none, that of its own count, or another's. Intervals hold given that it is."""
    bias: tuple[Bias, ...] = ()
    """The effects that the interval does not cover, since bounding does it before the noise: what the policy lets us know of it."""
    groups: tuple[GroupFacts, ...]
    released: Figure
    """Rows of the file for this query; no value where the file is not as it should be, and nothing of it is repeated here."""


class ChargeFacts(Document):
    """A reservation in the ledger: what it cost, and what the population had spent after it."""

    sequence: int
    at: str
    release: str
    epsilon: str
    delta: str
    spent_epsilon: str
    spent_delta: str


class BudgetFacts(Document):
    """The population's budget before and after this release: the stricter cap of ledger and policy (None: no cap), what was spent.

    ``charged``: zero where stored answers were served again. ``history``: the last reservations, this release's the last one unless it
    was free.
    """

    population: str
    cap_epsilon: str | None
    cap_delta: str | None
    before_epsilon: str
    before_delta: str
    charged_epsilon: str
    charged_delta: str
    after_epsilon: str
    after_delta: str
    history: tuple[ChargeFacts, ...] = ()


class ApartFacts(Document):
    """Queries that count in parallel: parts under filters that no row can satisfy two of. One person changes ``at_most`` so many parts."""

    parts: tuple[tuple[str, ...], ...]
    at_most: int


class PrivacyFacts(Document):
    """The claim, as the auditor recomputed it from the plan. ``budget`` None: the ledger was not available, or has no such
    entry.
    """

    noise: Literal["secret", "test", "unknown"]
    """The origin of randomness: the operating system, a test's seed (then nothing is private), or no one says."""
    unit: str | None
    """The column that names persons; None: every row is a person of its own."""
    max_rows: int
    max_groups: int | None
    neighbours: Literal["add_remove", "replace"]
    epsilon: str
    delta: str
    allowed_epsilon: str
    allowed_delta: str
    composition: Literal["pure", "approximate", "zcdp", "pld"] = "approximate"
    """The composition of the queries to the total."""
    added_epsilon: str | None = None
    added_delta: str | None = None
    """The cost by their sum, where the total is less."""
    apart: tuple[ApartFacts, ...] = ()
    library: str
    confidence: str
    min_count: int | None
    unprotected: tuple[Unprotected, ...]
    queries: tuple[QueryFacts, ...]
    budget: BudgetFacts | None


def for_recipients(facts: PrivacyFacts) -> PrivacyFacts:
    """Return the facts without the names and dates of other releases that spent the budget."""
    if facts.budget is None:
        return facts
    return facts.model_copy(update={"budget": facts.budget.model_copy(update={"history": ()})})
