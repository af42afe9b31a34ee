"""Target of an audit: the parked files, the witness that leads every released row back to its source, and the claims.

Nothing here is believed. Digests, row map and counts come from the executor; the audit recomputes each and says where they disagree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.model import MicrodataPlan
    from privrelease.relational.schema import Sink
    from privrelease.release.manifest import InternalManifest, Manifest
    from privrelease.release.runs import RunFolder
    from privrelease.texts.sentences import Said

__all__ = ["AuditTarget", "digests_of_source"]


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The parked release.

    ``files``: one per sink of the plan, in the plan's order, ``path`` where the file is now and ``label`` as the policy names it.
    ``row_map``: Parquet with ``source_row`` and ``output_row``; None for a file that another tool made: no check that leads back to
    the source can then be made, and the audit says so. ``source``: staged already, or None: the audit reads it afresh, unless
    ``without_source``: then the files are measured alone, and what needs the source is said to be unchecked.
    ``manifest`` and ``internal``: what the run says of itself; None: nothing was claimed, so nothing is compared. ``altered``: what of that is
    no longer as it was decided upon, in words. ``source_digests``: keyed digests of the files of the source; they choose who is attacked.
    ``other_keys``: runs about the same persons that were made under another key of digests, in words.
    """

    files: tuple[Sink, ...]
    row_map: Path | None = None
    source: Staged | None = None
    manifest: Manifest | None = None
    internal: InternalManifest | None = None
    run: str | None = None
    without_source: bool = False
    altered: tuple[Said, ...] = ()
    source_digests: tuple[str, ...] = ()
    other_keys: tuple[str, ...] = ()

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
        internal = run.internal_manifest()
        digests = digests_of_source(plan, internal)
        return cls(files, run.row_map, source, run.manifest(), internal, run.id, source_digests=digests)


def digests_of_source(plan: MicrodataPlan, internal: InternalManifest) -> tuple[str, ...]:
    """Return the keyed digests of the files of a release's source, as its run noted them."""
    return tuple(one.hmac_sha256 for one in internal.inputs if one.label == plan.source.label)
