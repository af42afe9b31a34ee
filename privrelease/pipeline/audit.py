"""Auditing files that exist already, whoever made them, against a release of a policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.errors import InputError, UsageError
from privrelease.pipeline.kinds import kind_of
from privrelease.pipeline.world import require_offered
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult
    from privrelease.pipeline.provenance import Origin
    from privrelease.pipeline.world import World
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.relational.schema import Sink

__all__ = ["AuditedFiles", "audit", "origin_of_files", "sinks_of"]


@dataclass(frozen=True, slots=True)
class AuditedFiles:
    """Files to audit. ``source``: the source is measured too; ``against``: previous releases, as a person names them."""

    files: tuple[Path, ...]
    source: bool = True
    against: tuple[str, ...] = ()


def audit(release: ReleasePlan, plan: Plan, asked: AuditedFiles, world: World) -> AuditResult:
    """Audit files. Those of a run known here are led back to the source by its row map; of external files, what needs it is
    unchecked.
    """
    from privrelease.audit.checks.waivers import with_waivers

    require_offered((release,), world.offers())
    found = with_waivers(kind_of(release, world.kinds).audit(release, plan, asked, world), plan)
    return found if plan.language in {None, "en"} else found.model_copy(update={"language": plan.language})


def origin_of_files(
    files: tuple[Sink, ...], release: ReleasePlan, plan: Plan, world: World, *, source: bool = True
) -> Origin | None:
    """Return the run that made the files; what of it the audit takes is logged."""
    from privrelease.pipeline.provenance import origin_of

    origin = origin_of(files, release, plan, world.settings.store(plan), source=source, kinds=world.kinds)
    if origin is None:
        return None
    names = f"{', '.join(sink.label for sink in files)}: made by run {origin.run.id} ({origin.state})"
    if origin.files is None:
        world.log(f"{names}; {origin.why}: audited as a file of others")
    else:
        row_map = ", row map" if kind_of(release, world.kinds).row_map else ""
        world.log(f"{names}, audited with its manifest{row_map}{' and source' if source else ''}")
    return origin


def sinks_of(release: ReleasePlan, files: tuple[Path, ...]) -> tuple[Sink, ...]:
    """Take each file for the output of its kind that has its name, else for the next one of its kind, or the last.

    What the policy says of that output holds for the file: table, delimiter, decimal sign.
    """
    from privrelease.relational.schema import Sink, SinkKind

    kinds = {".csv": SinkKind.CSV, ".parquet": SinkKind.PARQUET, ".pq": SinkKind.PARQUET, ".duckdb": SinkKind.DUCKDB}
    sinks: list[Sink] = []
    for file in files:
        if not file.is_file():
            raise InputError(code="C113", message=f"{file} is not a file", hint="check the path after --file")
        kind = kinds.get(file.suffix.lower())
        if kind is None:
            raise UsageError(
                code="C108", message=f"the kind of {file.name} is not known", hint="audit a csv, parquet or duckdb file"
            )
        planned = [sink for sink in release.sinks if sink.kind is kind] or [Sink(kind, file, str(file))]
        before = sum(sink.kind is kind for sink in sinks)
        like = next((sink for sink in planned if sink.path.name == file.name), planned[min(before, len(planned) - 1)])
        sinks.append(replace(like, path=Path(file).resolve(), label=str(file)))
    return tuple(sinks)
