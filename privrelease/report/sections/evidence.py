"""Section 8: singling out, linkability and inference, with the evidence that this audit has for each, and what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.sections.attacks import attack_name, bounded, signed
from privrelease.report.sections.sensitive import sensitive_body
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import exact, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import ThreatResult
    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["EvidenceBody", "build"]


@dataclass(frozen=True, slots=True)
class EvidenceBody:
    """(question, sentences as key and values)."""

    rows: tuple[tuple[str, tuple[Sentence, ...]], ...]


def build(context: Context) -> EvidenceBody:
    """Say what the risk figures are evidence of, and which question nothing was measured for."""
    catalogue, threats = context.catalogue, context.audit.threats
    tried = _tried(context)
    open_inference = "evidence.inference_open" if context.edition is Edition.INTERNAL else "evidence.inference_outside"
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
            (catalogue.text("evidence.singling_out"), (*(singled or (("risk.no_threats", {}),)), *tried["singling_out"])),
            (
                catalogue.text("evidence.linkability"),
                (*linked, *(tried["linkability"] or (("evidence.linkability_open", {}),))),
            ),
            (
                catalogue.text("evidence.inference"),
                (*_shared(context), *tried["inference"]) or ((open_inference, {}),),
            ),
        )
    )


def _shared(context: Context) -> tuple[Sentence, ...]:
    """Return what section 7 measured of sensitive values within classes; nothing for recipients, who are not shown it."""
    measured = sensitive_body(context.audit, context.catalogue)
    return tuple(
        (
            "evidence.inference_shared",
            {"name": line.threat, "column": line.column, "shared": line.shared.text, "distinct": line.distinct.text},
        )
        for line in (() if measured is None else measured.rows)
        if not line.shared.gap and not line.distinct.gap
    )


#: Which question each attack is evidence for (WP29 05/2014): to find a record is to link; that somebody is in the data is inferred.
_QUESTIONS = {
    "singling_out_univariate": "singling_out",
    "singling_out_multivariate": "singling_out",
    "linkability": "linkability",
    "record_linkage": "linkability",
    "membership": "inference",
    "inference": "inference",
}


def _tried(context: Context) -> dict[str, tuple[Sentence, ...]]:
    """Return what the attacks of section 9 say of each question."""
    found: dict[str, list[Sentence]] = {question: [] for question in _QUESTIONS.values()}
    facts = context.audit.attacks
    texts = context.catalogue
    for one in () if facts is None else facts.attacks:
        name = attack_name(one, texts)
        if one.main is None or one.risk is None or exact(one.risk.value) is None:
            why = one.said if one.main is None or one.risk is None else shown(one.risk.value, texts).text
            sentence: Sentence = ("evidence.attack_undefined", {"name": name, "why": why or texts.text("word.withheld")})
        else:
            rates = {"main": shown(one.main.rate.value, texts).text, "risk": signed(one.risk.value)}
            key = "evidence.attack_said"
            if one.control is not None and exact(one.control.rate.value) is not None:
                key, rates["control"] = "evidence.attack_beside", shown(one.control.rate.value, texts).text
                if one.attack == "membership" and one.advantage is not None:
                    # risk is large here where hardly anybody is called a stranger, whatever that reveals
                    key, rates["advantage"] = "evidence.attack_membership", bounded(one.advantage, texts)
                    del rates["risk"]
            sentence = (key, {"name": name} | {rate: numbers.unbroken(text) for rate, text in rates.items()})
        found[_QUESTIONS[one.attack]].append(sentence)
    return {question: tuple(sentences) for question, sentences in found.items()}


def _singling_out(threat: ThreatResult, catalogue: Catalogue) -> Sentence:
    uniques, records = exact(threat.after.uniques), exact(threat.after.records)
    k = shown(threat.after.k, catalogue).text
    if uniques is None or records is None:
        return "evidence.singling_out_no_counts", {"name": threat.name, "k": k}
    return "evidence.singling_out_said", {"name": threat.name, "uniques": numbers.part_of(int(uniques), int(records)), "k": k}
