"""Fields ``sensitive`` and ``quasi_identifiers`` of ``audit.json``, beyond the risk figures: how varied sensitive values are within the classes of
the release, and how frequent the values of each quasi-identifier are by itself.
"""

from typing import Literal

from privrelease.audit.figure_model import Figure
from privrelease.documents import Document

__all__ = ["KeyFacts", "SensitiveFacts", "SensitiveRow"]


class KeyFacts(Document):
    """A quasi-identifier by itself, as sdcMicro prints key variables: different values, records of the rarest one, and records alone with their value.

    Before protection where there is a source; missing values count as one value, or as lost where they were suppressed. Internal.
    """

    column: str
    values_before: Figure | None
    values: Figure
    rarest_before: Figure | None
    rarest: Figure
    alone_before: Figure | None
    alone: Figure


class SensitiveRow(Document):
    """A sensitive column under one threat: the least varied class, over known values only; a class without one has l = 0.

    ``shared``: share of the records in classes whose known values are all the same, so that an attacker infers the value of each.
    """

    threat: str
    column: str
    distinct_l: Figure
    entropy_l: Figure
    t: Figure
    """Largest distance of a class from all records; no value where a class has no known value."""
    distance: Literal["equal", "ordered"]
    shared: Figure


class SensitiveFacts(Document):
    """All of them, as information: thresholds are checks. ``left_out``: pairs of threat and column that were too many to look at."""

    rows: tuple[SensitiveRow, ...]
    left_out: int = 0
