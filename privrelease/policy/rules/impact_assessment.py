"""Rules of the legal section: measures that risks name, levels after the measures, and special categories about which nothing is stated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.policy.language.legal import DpiaMeasure, DpiaRisk
from privrelease.policy.rules.rule_context import duplicates
from privrelease.policy.text.messages import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.language.legal import Dpia, Levels
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["impact_rules"]

#: Levels of likelihood and severity, from the least.
_LEVELS: Final = ("negligible", "limited", "significant", "maximum")


def impact_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what does not fit in the impact assessment, and a warning at data of a special category without any legal field."""
    legal = reading.policy.legal
    if legal is not None and legal.dpia is not None:
        yield from _measures(reading, legal.dpia)
        yield from _levels(reading, legal.dpia)
    if legal is None or not legal.model_fields_set - {"profile", "recipients"}:
        yield from _unstated(reading)


def _measures(reading: RuleContext, dpia: Dpia) -> Iterator[Finding]:
    """Yield ids of measures that appear twice, and those that risks name and no measure has."""
    named = [(place, one.id) for place, one in enumerate(dpia.measures) if isinstance(one, DpiaMeasure)]
    for place, name in duplicates(name for _, name in named):
        where = ("legal", "dpia", "measures", named[place][0], "id")
        yield reading.error("P741", f"the id {shown(name)} appears twice", *where, hint="give every measure an id of its own")
    known = [name for _, name in named]
    for number, risk in enumerate(dpia.risks):
        for place, name in enumerate(risk.measures if isinstance(risk, DpiaRisk) else ()):
            if name not in known:
                hint = did_you_mean(name, known) or f"write `{{id: {name}, text: …}}` under `measures`"
                message = f"no measure has the id {shown(name)}"
                yield reading.error("P740", message, "legal", "dpia", "risks", number, "measures", place, hint=hint)


def _levels(reading: RuleContext, dpia: Dpia) -> Iterator[Finding]:
    """Warn where measures are said to make a risk larger."""
    for number, risk in enumerate(dpia.risks):
        if not isinstance(risk, DpiaRisk):
            continue
        found: tuple[tuple[str, Levels | None], ...] = (("likelihood", risk.likelihood), ("severity", risk.severity))
        for what, levels in found:
            if levels is not None and _LEVELS.index(levels.after) > _LEVELS.index(levels.before):
                message = f"the {what} is {levels.after} with the measures, and {levels.before} without them"
                hint = "write the level without any measure as `before`, and what is left with all of them as `after`"
                yield reading.warning("P742", message, "legal", "dpia", "risks", number, what, hint=hint)


def _unstated(reading: RuleContext) -> Iterator[Finding]:
    """Warn once of columns of a special category where nothing is stated about the law."""
    if reading.left_out("legal"):
        return
    for name, dataset in reading.policy.datasets.items():
        for column, declared in dataset.columns.items():
            if declared.category == "special":
                message = f"column {column} is of a special category (Art. 9 GDPR), and the policy states nothing about the law"
                hint = "write `legal: {basis: {art6: …, art9: …}, …}`; `legal: {profile: gdpr}` makes every field required"
                yield reading.warning("P743", message, "datasets", name, "columns", column, "category", hint=hint)
                return
