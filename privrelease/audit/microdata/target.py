"""Target of an audit: the parked files, the witness that leads every released row back to its source, and the claims.

Nothing here is believed. Digests, row map and counts come from the executor; the audit recomputes each and says where they disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.model import MicrodataPlan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import InternalManifest, Manifest
    from privrelease.release.runs import RunFolder

__all__ = ["AuditTarget"]


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The parked release.

    ``files``: one per sink of the plan, in the plan's order, ``path`` where the file is now and ``label`` as the policy names it.
    ``row_map``: Parquet with ``source_row`` and ``output_row``; None for a file that another tool made: no check that leads back to
    the source can then be made, and the audit says so. ``source``: staged already, or None: the audit reads it afresh, unless
    ``without_source``: then the files are measured alone, and what needs the source is said to be unchecked.
    ``manifest`` and ``internal``: what the run says of itself; None: nothing was claimed, so nothing is compared. ``altered``: what of that is
    no longer as it was decided upon, in words.
    """

    files: tuple[Sink, ...]
    row_map: Path | None = None
    source: Staged | None = None
    manifest: Manifest | None = None
    internal: InternalManifest | None = None
    run: str | None = None
    without_source: bool = False
    altered: tuple[str, ...] = ()

    @property
    def foreign(self) -> bool:
        """Return True if nothing says that a run of ours made the files: suppressed cells may then bear the mark that the
        policy declares.

        Our own files have no marks: what is suppressed in them is missing.
        """
        return self.run is None and self.manifest is None and self.row_map is None

    @classmethod
    def of_run(cls, run: RunFolder, plan: MicrodataPlan, source: Staged | None = None) -> Self:
        """Give the target of a parked run: its files, its row map and its manifests as they lie on disk.

        ``source``: staged on the same engine; None: the audit reads it afresh. Raises InputError where a manifest is not valid.
        """
        files = tuple(replace(sink, path=path) for sink, path in zip(plan.sinks, run.data, strict=True))
        return cls(files, run.row_map, source, run.manifest(), run.internal_manifest(), run.id)
