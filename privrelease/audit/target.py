"""What is audited: the files as they lie parked, the witness that leads every released row back to its source, and what was claimed.

Nothing here is believed. Digests, row map and counts come from the executor; the audit recomputes each and says where they disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.engine.protocol import Staged
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import InternalManifest, Manifest

__all__ = ["AuditTarget"]


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The parked release.

    ``files``: one per sink of the plan, in the plan's order, ``path`` where the file is now and ``label`` as the policy names it.
    ``row_map``: Parquet with ``source_row`` and ``output_row``; None for a file that another tool made: no check that leads back to
    the source can then be made, and the audit says so. ``source``: staged already, or None: the audit reads it afresh.
    ``manifest`` and ``internal``: what the run says of itself; None: nothing was claimed, so nothing is compared.
    """

    files: tuple[Sink, ...]
    row_map: Path | None = None
    source: Staged | None = None
    manifest: Manifest | None = None
    internal: InternalManifest | None = None
    run: str | None = None
