"""Rules of checks by the names of Great Expectations: known, complete, about columns that are there, with values of their type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from privrelease.policy.language.expectation_values import misfits
from privrelease.policy.language.expectations import PARAMETERS
from privrelease.policy.language.kinds import KINDS
from privrelease.policy.release_kind import kind_of
from privrelease.policy.text.messages import did_you_mean, shown
from privrelease.relational.expectations import EXPECTATIONS, NOT_OFFERED, TYPES
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.language.checks import Check
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Kinds, Release
    from privrelease.policy.rules.rule_context import RuleContext
    from privrelease.relational.expectations import ExpectationForm

__all__ = ["STANDARD", "expectation_rules", "is_standard", "types_seen"]

#: How every name of Great Expectations begins.
STANDARD = "expect_"

_TEXTS = frozenset({ColumnType.STRING, ColumnType.CATEGORY})
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})
_ALIKE = (_TEXTS, _NUMBERS, {ColumnType.DATE, ColumnType.DATETIME}, {ColumnType.BOOLEAN})
#: Keys of our own checks, which no expectation takes.
_OWN = ("max", "min", "threat", "columns", "kind", "c", "distance")
#: Pairs that are compared with each other: columns of the same kind of values.
_COMPARED = frozenset({"expect_column_pair_values_to_be_equal", "expect_column_pair_values_a_to_be_greater_than_b"})
#: What a format may hold: DuckDB's specifiers of dates and times (its functions strftime and strptime), "-" for no leading zero.
_SPECIFIER: Final = re.compile(r"%(?:[%ABGHIMSTUVWXYZabcdfghjmnpuwxyz]|-[HIMSdjmy])")
_PAIRS = ("both_values_are_missing", "either_value_is_missing", "neither")
_LISTS = ("all_values_are_missing", "any_value_is_missing", "never")


def is_standard(name: str) -> bool:
    """Return True if a check's name is meant as one of Great Expectations."""
    return name.startswith(STANDARD) or name in NOT_OFFERED


def types_seen(check: Check, release: Release, dataset: Dataset, kinds: Kinds = KINDS) -> dict[str, ColumnType]:
    """Return the columns that a check sees, with their types there: all of the source's, or those of the released file."""
    if check.on == "source":
        return {name: spec.type for name, spec in dataset.columns.items()}
    return kind_of(release, kinds).columns(release, dataset)


def expectation_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with checks by the names of Great Expectations, and with keys that only these take."""
    for number, check in enumerate(reading.policy.checks):
        if not is_standard(check.expect):
            for key in (*PARAMETERS, "on"):
                if getattr(check, key) != type(check).model_fields[key].default:
                    message = f"{shown(check.expect)} takes no {key}"
                    yield reading.error("P450", message, "checks", number, key, key=True, hint="remove it")
            continue
        form = EXPECTATIONS.get(check.expect)
        if form is None:
            yield _unknown(reading, number, check)
            continue
        yield from _keys(reading, number, check, form)
        yield from _place(reading, number, check, form)


def _unknown(reading: RuleContext, number: int, check: Check) -> Finding:
    if check.expect in NOT_OFFERED:
        message = f"{check.expect} is not offered: {NOT_OFFERED[check.expect]}"
        return reading.error("P305", message, "checks", number, "expect")
    hint = did_you_mean(check.expect, EXPECTATIONS) or "docs/checks.md lists every expectation"
    return reading.error("P305", f"check {shown(check.expect)} does not exist", "checks", number, "expect", hint=hint)


def _keys(reading: RuleContext, number: int, check: Check, form: ExpectationForm) -> Iterator[Finding]:
    """Check what the expectation needs and what it does not take, and values that contradict each other."""
    known = ", ".join(form.parameters)
    for key in form.needs:
        if getattr(check, key) is None:
            yield reading.error("P450", f"{form.name} needs {key}", "checks", number, hint=f"it takes: {known}")
    for key in (*PARAMETERS, "column", *_OWN):
        if getattr(check, key) is not None and key not in form.parameters:
            hint = "write min_value or max_value" if key in {"min", "max"} and form.a_bound_is_needed else None
            yield reading.error(
                "P450", f"{form.name} takes no {key}", "checks", number, key, key=True, hint=hint or f"it takes: {known}"
            )
    if form.a_bound_is_needed and check.min_value is None and check.max_value is None:
        message = f"{check.id} has no limit: nothing would be checked"
        yield reading.error("P418", message, "checks", number, hint="write `min_value` or `max_value`")
    if check.mostly is not None and not check.mostly:
        message = "mostly must be in (0, 1], got 0: nothing would be checked"
        yield reading.error("P104", message, "checks", number, "mostly")
    if check.escape is not None and len(check.escape) != 1:
        yield reading.error("P450", "escape must be one character", "checks", number, "escape")
    choices = _LISTS if "column_list" in form.needs else _PAIRS
    if check.ignore_row_if is not None and "ignore_row_if" in form.takes and check.ignore_row_if not in choices:
        words = f"ignore_row_if must be {', '.join(choices[:-1])} or {choices[-1]}, got {shown(check.ignore_row_if)}"
        hint = did_you_mean(check.ignore_row_if, choices)
        yield reading.error("P450", words, "checks", number, "ignore_row_if", hint=hint)
    yield from _texts(reading, number, check)


def _texts(reading: RuleContext, number: int, check: Check) -> Iterator[Finding]:
    """Regular expressions that do not compile, types that do not exist, quantiles without their ranges."""
    patterns = [(("regex",), check.regex)] if check.regex is not None else []
    patterns += [(("regex_list", place), text) for place, text in enumerate(check.regex_list or ())]  # type: ignore[misc]  # paths
    for path, text in patterns:
        why = _uncompiled(text or "")
        if why is not None:
            hint = "it is read by RE2: no look-around, no back-references"
            yield reading.error("P451", f"the regular expression does not compile: {why}", "checks", number, *path, hint=hint)
    impossible = (
        None if check.strftime_format is None else re.search("%-?.?", _SPECIFIER.sub("", check.strftime_format), re.DOTALL)
    )
    if impossible is not None:
        message = f"the format holds {shown(impossible[0])}, which no date or time is read by"
        hint = "write e.g. %Y-%m-%d %H:%M:%S, and %% for a per cent sign"
        yield reading.error("P451", message, "checks", number, "strftime_format", hint=hint)
    types = [(("type_",), check.type_)] if check.type_ is not None else []
    types += [(("type_list", place), text) for place, text in enumerate(check.type_list or ())]  # type: ignore[misc]  # paths
    for path, text in types:
        if text not in TYPES:
            hint = did_you_mean(text or "", TYPES) or f"types: {', '.join(TYPES)}"
            yield reading.error("P450", f"type {shown(text)} does not exist", "checks", number, *path, hint=hint)
    ranges = check.quantile_ranges
    if ranges is not None and len(ranges.quantiles) != len(ranges.value_ranges):
        message = f"{len(ranges.quantiles)} quantiles have {len(ranges.value_ranges)} ranges"
        yield reading.error("P450", message, "checks", number, "quantile_ranges", hint="write one range for each quantile")


def _uncompiled(pattern: str) -> str | None:
    """Why RE2 refuses a pattern, None where it compiles. Arrow's is the same library as the engine's; a text of Python's would load pandas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.match_substring_regex(pa.nulls(1, pa.string()), pattern=pattern)
    except pa.ArrowInvalid as error:
        return shown(str(error).rpartition("Invalid regular expression: ")[2])
    return None


def _place(reading: RuleContext, number: int, check: Check, form: ExpectationForm) -> Iterator[Finding]:
    """Columns and values at the release, or the source, that the check looks at."""
    release = next((release for release in reading.policy.releases if release.id == check.release), None)
    dataset = reading.policy.datasets.get(release.from_) if release is not None else None
    if release is None or dataset is None:
        return
    kind = reading.kind(release)
    if check.on == "source":
        yield from _source(reading, number, check, release)
        if kind.source_checks == "never":
            return
    figures = kind.rows is None
    types = types_seen(check, release, dataset, reading.kinds)
    faults = False
    for path, name in _columns(check):
        if name not in types and figures and check.on == "release":
            message = f"column {shown(name)} does not exist in the file of release {release.id}"
            hint = did_you_mean(name, types) or f"its columns: {', '.join(map(shown, types))}"
            yield reading.error("P302", message, "checks", number, *path, hint=hint)
        elif name not in types and name in dataset.columns:
            faults = True
            message = f"{shown(name)} does not leave in release {release.id}"
            hint = "name a released column, or write `on: source`"
            yield reading.error("P450", message, "checks", number, *path, hint=hint)
        elif name in types and not _looks_at(form, types[name]):
            faults = True
            what = {"text": "texts", "number": "numbers", "ordered": "numbers, days and times"}[form.of]
            message = f"{form.name} looks at {what}, and {shown(name)} is of type {types[name].value}"
            yield reading.error("P450", message, "checks", number, *path, hint="name another column")
        faults = faults or name not in types
    if faults or any(getattr(check, key) is None for key in form.needs):
        return
    yield from _comparison(reading, number, check, types)
    for below, text, words in misfits(check, types):
        message = f"{shown(below[0])} needs {words}, got {shown(text)}"
        yield reading.error("P450", message, "checks", number, *below, hint="values are written as the column's type is")


def _comparison(reading: RuleContext, number: int, check: Check, types: dict[str, ColumnType]) -> Iterator[Finding]:
    """Two columns that are compared and hold values of different kinds: no engine could compare them."""
    if check.expect not in _COMPARED or check.column_A is None or check.column_B is None:
        return
    first, second = types[check.column_A], types[check.column_B]
    if not any({first, second} <= alike for alike in _ALIKE):
        message = (
            f"{check.expect} compares {shown(check.column_A)}, of type {first.value}, "
            f"with {shown(check.column_B)}, of type {second.value}"
        )
        yield reading.error("P450", message, "checks", number, "column_B", hint="name columns of the same type")


def _source(reading: RuleContext, number: int, check: Check, release: Release) -> Iterator[Finding]:
    """A table's source is not looked at, and where noise protects a release, its source decides nothing."""
    allowed = reading.kind(release).source_checks
    if allowed == "never":
        message = (
            f"{check.id} looks at the source, and release {release.id} is of kind {release.kind}: its file alone is looked at"
        )
        yield reading.error("P418", message, "checks", number, "on", hint="remove `on`, or name a release of another kind")
    elif allowed == "inform" and check.severity != "warn":
        message = f"{check.id} looks at the source of a release under differential privacy: what it finds must not decide"
        hint = "write `severity: warn`: it is reported in the internal edition only"
        yield reading.error("P452", message, "checks", number, "on", hint=hint)


def _columns(check: Check) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for key in ("column", "column_A", "column_B"):
        name = getattr(check, key)
        if name is not None:
            yield (key,), name
    for key in ("column_list", "column_set"):
        for place, name in enumerate(getattr(check, key) or ()):
            yield (key, place), name


def _looks_at(form: ExpectationForm, kind: ColumnType) -> bool:
    match form.of:
        case "text":
            return kind in _TEXTS
        case "number":
            return kind in _NUMBERS
        case "ordered":
            return kind is not ColumnType.BOOLEAN and kind not in _TEXTS
        case _:
            return True
