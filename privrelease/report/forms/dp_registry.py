"""An entry for the registry of differential-privacy deployments, as YAML: a draft, since its board decides.

The content is public: the claim of the manifest (known before any row was read) and what the policy states. Source: the
registry's schema (tiers 1 to 3). A field that the policy does not state is marked as not stated.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.policy.output.dump import yaml_text
from privrelease.texts.catalogue import english

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from privrelease.audit.document.model import AuditResult
    from privrelease.release.privacy import PrivacyClaim

__all__ = ["render_dp_registry"]

_NEIGHBOURS = {
    "add_remove": "Two datasets are adjacent where one has all rows of one unit more than the other.",
    "replace": "Two datasets are adjacent where the rows of one unit are replaced by those of another.",
}


def render_dp_registry(audit: AuditResult, claim: PrivacyClaim) -> str:
    """Return the entry. Budgets are the exact decimals that were spent; one of many digits is rounded up, so that it is never less."""
    identity, stated = audit.identity, audit.legal.stated
    unstated = english().text("word.not_stated")
    delta = Fraction(claim.delta)
    queries = "; ".join(f"{query.id}: {', '.join(_draws(query.draws))}" for query in claim.queries)
    rows = f"{claim.max_rows} row{'' if claim.max_rows == 1 else 's'}"
    entry: dict[str, object] = {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", f"{identity.policy_id}-{identity.release}".lower()).strip("-"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": identity.policy_title or identity.release,
                "data_curators": [_text(stated, "controller.name") or unstated],
                "description": f"Release {identity.release} of policy {identity.policy_id} {identity.policy_version}.",
                "intended_use": _purposes(stated) or unstated,
                "data_product_type": "Summary statistics" if audit.synthetic is None else "Synthetic data",
                "data_product_region": unstated,
                "publication_date": identity.audited_at[:10],
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if delta else "Pure DP",
                "data_domain": f"Tables about population {claim.population}, with the columns and domains of the policy.",
                "unprotected_quantities": "The number of units." if claim.neighbours == "replace" else "None.",
            },
            "privacy_loss": {
                "privacy_unit": f"{claim.unit}, at most {rows} each",
                "privacy_unit_details": _NEIGHBOURS[claim.neighbours],
                "privacy_parameters": {"epsilon": _up(Fraction(claim.epsilon))} | ({"delta": _up(delta)} if delta else {}),
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": ", ".join(sorted({step for query in claim.queries for step in query.post})) or "None.",
                "composition": claim.accountant,
            },
            "implementation": {"mechanisms": f"{queries}. {_versions(audit)}"},
        },
    }
    return "".join(f"{line}\n" for line in _lines(entry, 0))


def _draws(draws: tuple[dict[str, str | int | bool | None], ...]) -> list[str]:
    names = [str(draw.get("mechanism")) for draw in draws]
    return [f"{names.count(name)} times {name.replace('_', ' ')}" for name in dict.fromkeys(names)]


def _versions(audit: AuditResult) -> str:
    return "Software: " + ", ".join(f"{name} {version}" for name, version in sorted(audit.identity.versions.items())) + "."


def _text(stated: Mapping[str, str | tuple[str, ...]], name: str) -> str:
    value = stated.get(name, "")
    return value if isinstance(value, str) else "; ".join(value)


def _purposes(stated: Mapping[str, str | tuple[str, ...]]) -> str:
    return "; ".join(_text(stated, name) for name in stated if re.fullmatch(r"purposes\.\d+\.text", name))


#: Digits of a budget that are written; one of the policy has fewer, one that an accountant computed may have hundreds.
_DIGITS = 15


def _up(exact: Fraction) -> Decimal:
    """Return the exact decimal, or the smallest one of 15 digits that is not below it.

    >>> _up(Fraction(1, 10**6)), _up(Fraction(1, 3))
    (Decimal('0.000001'), Decimal('0.333333333333334'))
    """
    return Context(prec=_DIGITS, rounding=ROUND_CEILING).divide(Decimal(exact.numerator), Decimal(exact.denominator))


def _lines(values: Mapping[str, object], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for key, value in values.items():
        if isinstance(value, dict):
            yield f"{indent}{key}:"
            yield from _lines(value, depth + 1)
        elif isinstance(value, list):
            yield f"{indent}{key}:"
            yield from (f"{indent}  - {_quoted(str(item))}" for item in value)
        else:
            yield f"{indent}{key}: {_quoted(value) if isinstance(value, str) else _number(value)}"


def _number(value: object) -> str:
    """A decimal without an exponent, which some readers of YAML take for a text."""
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _quoted(text: str) -> str:
    """A text that no reader takes for a number or a date."""
    plain = yaml_text(text)
    return plain if plain.startswith('"') else f'"{plain}"'
