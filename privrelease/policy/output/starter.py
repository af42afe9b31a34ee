"""A starter policy from the names of columns: everything that a person must decide is left open, and says so when it is loaded."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from privrelease.policy.output.dump import yaml_text
from privrelease.relational.profile import proposal, unit_candidates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.relational.profile import FileProfile
    from privrelease.relational.schema import ColumnType

__all__ = ["starter_policy"]

_HEAD = """\
# yaml-language-server: $schema=./policy-v1.schema.json
# Editors read that file; make it with: privrelease schema > policy-v1.schema.json
# A release policy to be filled in. Nothing here is decided for you: `privrelease validate` lists what is still open.
apiVersion: privrelease/v1
kind: ReleasePolicy
id: {id}
version: 0.1.0
title: {title}

datasets:
  {dataset}:
    source: {source}
{table}    # Who is protected? Name the column that identifies the person, and the most rows one person may have:
    # unit: {{column: …, max_rows: 1}}
    unlisted_columns: error      # a column that is new in the source never leaves by accident
    columns:
      # role: direct       names the person (name, number, address): never leaves, or leaves as a keyed pseudonym
      #       quasi        identifies together with others and may be known elsewhere (age, region, occupation, dates)
      #       sensitive    must not become known about a person (diagnosis, income)
      #       insensitive  none of these
      # type: string, category, integer, number, date, datetime or boolean
{proposals}"""

_PROPOSALS = """\
      # {rows} (counts alone, no value). Proposals, not decisions:
{lines}{unit}"""

_TAIL = """
threats:
  external:
    dataset: {dataset}
    knows: []                    # which columns may an attacker know? usually every quasi column
    attacker: prosecutor         # knows that the person is in the data; journalist and marketer need a population
    highest_risk:                # the highest risk of a record: 0.2 means groups of at least 5 that look alike

releases:
  - id: microdata
    kind: microdata
    from: {dataset}
    protect: [external]
    transform:
      # prefer: cells (fewest), information (that tell least) or balanced
      - {{suppress: cells, limit: 0.05, prefer: balanced}}   # fails where more than 5 % of the known columns' cells would have to go
    output: {output}

# approvals:                     # who must sign a release before it is published, with keys listed in a file of their own
#   required: [dpo]
#   keys: approvers.yaml
# ledger:                        # what statistics with differential privacy may spend, and where that is recorded
#   cap: {{epsilon: 4.0, delta: 1e-5}}
#   url: sqlite:///privacy-ledger.db

# legal:                         # what the record of processing and the impact assessment need
#   profile: gdpr
"""


def starter_policy(
    header: Sequence[str],
    source_path: str,
    *,
    types: Mapping[str, ColumnType] | None = None,
    table: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    profile: FileProfile | None = None,
) -> str:
    """Return a commented policy for a file with the columns ``header``; every role is open, no column is called safe.

    ``source_path``: as the policy shall write it. ``types``: declared types where the file has them (Parquet, databases); a column
    without one is a ``string``, which keeps every cell as it is written. ``table``: of a database file.
    ``delimiter``, ``encoding``: of a text file, where they are to be written down. ``profile``: counts from which roles, types and units are
    proposed in comments.
    """
    name = PurePath(source_path).name
    stem = _name(name.split(".")[0])
    suffix = PurePath(source_path).suffix.lower()
    output = f"out/{stem}{suffix if suffix in {'.csv', '.parquet', '.duckdb'} else '.csv'}"
    named = "" if table is None else f"    table: {yaml_text(table)}\n"
    form = []
    if delimiter is not None:
        sign = '"\\t"' if delimiter == "\t" else f'"{delimiter}"' if delimiter != "\\" else "'\\'"
        form.append(f"delimiter: {sign}")
    if encoding is not None:
        form.append(f"encoding: {yaml_text(encoding)}")
    if form:
        named += f"    format: {{{', '.join(form)}}}\n"
    head = _HEAD.format(
        id=stem,
        title=yaml_text(f"Release of {name}"),
        dataset=stem,
        source=yaml_text(source_path),
        table=named,
        proposals="" if profile is None else _proposals(profile),
    )
    columns = "".join(_column(column, (types or {}).get(column)) for column in header)
    return head + columns + _TAIL.format(dataset=stem, output=output)


def _proposals(profile: FileProfile) -> str:
    """Write what a file's profile proposes as comments, a line for each column."""
    rows = (
        f"What {'all' if profile.whole else 'the first'} {profile.rows:,} rows show"
        if profile.rows != 1
        else "What its only row shows"
    )
    found = [(yaml_text(one.name), f"{one.distinct:,} of {one.filled:,}", *proposal(one)) for one in profile.columns]
    widths = [max((len(row[place]) for row in found), default=0) for place in range(3)]
    heads = ("column", "distinct", "proposal")
    widths = [max(width, len(head)) for width, head in zip(widths, heads, strict=True)]
    lines = [
        "      #   "
        + "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])).rstrip()
        + "\n"
        for row in ((*heads, "because of"), *found)
    ]
    return _PROPOSALS.format(rows=rows, lines="".join(lines), unit=_unit(unit_candidates(profile)[:_UNITS]))


def _unit(candidates: Sequence[tuple[str, int]]) -> str:
    """Write as a comment which columns may name the person, the likeliest first, and why that one; empty where none may."""
    if not candidates:
        return ""
    units = ", or ".join(f"{{column: {yaml_text(name)}, max_rows: {most}}}" for name, most in candidates)
    first, most = yaml_text(candidates[0][0]), candidates[0][1]
    once = [yaml_text(name) for name, most in candidates if most == 1]
    if most == 1:
        why = f"{first} is different in every row: that is right only where no person has several rows"
    else:
        why = f"{first} repeats, as a person with several rows does"
        if once:
            why += f"; {' and '.join(once)} {'is' if len(once) == 1 else 'are'} different in every row and would make each row a person"
    return f"      # Who is protected may be named by: unit: {units}\n      # {why}.\n"


_UNITS = 3


def _column(name: str, declared: ColumnType | None) -> str:
    kind = declared.value if declared is not None else "string"
    return f"      {yaml_text(name)}: {{role: , type: {kind}}}\n"


def _name(text: str) -> str:
    """A name of the policy language that resembles ``text``."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:60]
    return name or "data"
