"""Section 8: singling out, linkability and inference, with the evidence that this audit has for each, and what it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.report import numbers
from privrelease.report.view import exact, shown

if TYPE_CHECKING:
    from privrelease.audit.model import ThreatResult
    from privrelease.report.catalogue import Catalogue
    from privrelease.report.view import Context, Sentence

__all__ = ["EvidenceBody", "build"]


@dataclass(frozen=True, slots=True)
class EvidenceBody:
    """(question, sentences as key and values)."""

    rows: tuple[tuple[str, tuple[Sentence, ...]], ...]


def build(context: Context) -> EvidenceBody:
    """Say what the risk figures are evidence of, and which question nothing was measured for."""
    catalogue, threats = context.catalogue, context.audit.threats
    singled = tuple(_singling_out(threat, catalogue) for threat in threats)
    linked = tuple(
        (
            "evidence.linkability_said",
            {
                "name": threat.name,
                "columns": ", ".join(threat.columns),
                "highest": shown(threat.after.highest, catalogue).text,
            },
        )
        for threat in threats
        if exact(threat.after.highest) is not None
    )
    return EvidenceBody(
        (
            (catalogue.text("evidence.singling_out"), singled or (("risk.no_threats", {}),)),
            (catalogue.text("evidence.linkability"), (*linked, ("evidence.linkability_open", {}))),
            (catalogue.text("evidence.inference"), (("evidence.inference_open", {}),)),
        )
    )


def _singling_out(threat: ThreatResult, catalogue: Catalogue) -> Sentence:
    uniques, records = exact(threat.after.uniques), exact(threat.after.records)
    k = shown(threat.after.k, catalogue).text
    if uniques is None or records is None:
        return "evidence.singling_out_no_counts", {"name": threat.name, "k": k}
    return "evidence.singling_out_said", {"name": threat.name, "uniques": numbers.part_of(int(uniques), int(records)), "k": k}
