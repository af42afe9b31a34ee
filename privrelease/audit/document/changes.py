"""Changes since the previous release: field ``since`` of ``audit.json``."""

from __future__ import annotations

from typing import Literal

from privrelease.audit.figure_model import Figure  # noqa: TC001  pydantic reads annotations at run time
from privrelease.documents import Document

__all__ = ["Difference", "SinceFacts"]


class Difference(Document):
    """One change. ``what``: a word of the report's catalogue (``since.<what>``); ``about``: the threat, check or file."""

    what: str
    about: str = ""
    before: str | None = None
    after: str | None = None
    before_figure: Figure | None = None
    after_figure: Figure | None = None
    effect: Literal["better", "worse", "changed"]


class SinceFacts(Document):
    """The previous release's run, when it was audited, and what changed."""

    run: str | None
    audited_at: str
    changes: tuple[Difference, ...]
