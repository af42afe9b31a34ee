"""Writing a policy: canonical JSON (what is digested) and YAML that loads to an equal policy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from pydantic import BaseModel

from privrelease.policy.language.datasets import RANGED, ColumnSpec, SourceSpec
from privrelease.policy.language.keys import ONE_ALONE, one_alone
from privrelease.policy.language.number_values import exact_decimal
from privrelease.policy.language.releases import OutputSpec
from privrelease.policy.language.statistics import KeysSpec
from privrelease.policy.language.values import Period
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic.fields import FieldInfo

    from privrelease.policy.language.models import Policy

__all__ = ["canonical", "dump", "plain_values", "yaml_of", "yaml_text"]

_Place = tuple[str | int, ...]


class _Bare(str):
    """A text that is written without quotes: a number of a domain."""

    __slots__ = ()


def plain_values(value: object) -> object:
    """Return a model as dict, list, str, int, bool, Decimal and None, by the names of the policy and in its short forms.

    What is not set is left out.
    """
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        named = ((field.alias or name, field, getattr(value, name)) for name, field in fields.items())
        found = {key: _field(field, item) for key, field, item in named if field.is_required() or item != _default(field)}
        return _short(value, found)
    if isinstance(value, dict):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_values(item) for item in value]
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Fraction):
        return exact_decimal(value)
    return str(value) if isinstance(value, date | Period) else value


def _field(field: FieldInfo, item: object) -> object:
    """The value of a key; a list of one as its item where the key says so."""
    values = plain_values(item)
    return one_alone(values) if ONE_ALONE in field.metadata else values


def _short(value: BaseModel, found: dict[str, object]) -> object:
    """The form that a person would write."""
    if isinstance(value, SourceSpec | OutputSpec) and set(found) == {"path"}:
        return found["path"]
    if isinstance(value, KeysSpec):
        return "private" if value.private else found.get("listed", {})
    if isinstance(value, ColumnSpec) and value.domain is not None:
        numeric = value.type in {ColumnType.INTEGER, ColumnType.NUMBER}
        texts = value.domain.range if value.domain.range is not None else value.domain.values or ()
        listed = [_Bare(text) if numeric and _PLAIN_NUMBER.fullmatch(text) else text for text in texts]
        ranged = value.type in RANGED and len(texts) == 2
        if ranged == (value.domain.range is not None):
            found["domain"] = listed
    return found


def _default(field: FieldInfo) -> object:
    return field.get_default(call_default_factory=True)


def _number(number: Decimal) -> str:
    """One text for one number: 0.20 and 0.2 are the same."""
    text = f"{number.normalize():f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def canonical(policy: Policy) -> str:
    """Return the resolved policy as JSON with one spelling for every value; equal policies give equal texts.

    Order is kept where it means something (columns, lists); numbers are texts of their exact decimals.
    """

    def spelled(value: object) -> object:
        if isinstance(value, Decimal):
            return {"exact": _number(value)}
        if isinstance(value, dict):
            return {key: spelled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [spelled(item) for item in value]
        return value

    return json.dumps(spelled(plain_values(policy)), ensure_ascii=True, separators=(",", ":"))


_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
#: Compiled where YAML is written, and not by whoever digests a policy.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
_WIDTH = 110


def yaml_text(text: str) -> str:
    """Return ``text`` so that every YAML reader, 1.1 or 1.2, reads it as this text.

    >>> yaml_text("age"), yaml_text("NO"), yaml_text("08")
    ('age', '"NO"', '"08"')
    """
    if _BARE.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub(_ESCAPED, lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, int | _Bare):
        return str(value)
    return yaml_text(str(value))


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_text(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return _scalar(value)


def dump(policy: Policy, *, origin: Callable[[_Place], str | None] | None = None) -> str:
    """Return the policy as YAML: ``load(dump(p)) == p``.

    ``origin``: gives for a path of keys the comment that says where the value comes from, or None.
    """
    values = plain_values(policy)
    assert isinstance(values, dict)
    return "".join(f"{line}\n" for line in _lines(values, 0, (), origin or (lambda _: None)))


def yaml_of(values: Mapping[str, object]) -> str:
    r"""Return a policy that is written as mappings, sequences and values of Python as YAML; a float is its shortest decimal.

    >>> from datetime import date
    >>> yaml_of({"knows": ("age", "sex"), "highest_risk": 0.2, "next": date(2027, 1, 15)})
    'knows: [age, sex]\nhighest_risk: 0.2\nnext: "2027-01-15"\n'
    """
    return "".join(f"{line}\n" for line in _lines(_keyed(values), 0, (), lambda _: None))


def _keyed(values: Mapping[str, object]) -> dict[str, object]:
    return {str(key): _plain(item) for key, item in values.items()}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return _keyed(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float):
        return Decimal(repr(value)) if isfinite(value) else repr(value)
    return value


def _comment(origin: Callable[[_Place], str | None], path: _Place) -> str:
    text = origin(path)
    return f"  # {text}" if text else ""


def _lines(values: dict[str, object], depth: int, path: _Place, origin: Callable[[_Place], str | None]) -> Iterator[str]:
    indent = "  " * depth
    for key, value in values.items():
        here = (*path, key)
        flow = f"{indent}{yaml_text(key)}: {_flow(value)}"
        # with origins, every value of a mapping has a line of its own: each may come from another file
        several = isinstance(value, dict) and any(origin((*here, part)) for part in value)
        if not several and _is_flat(value) and (len(flow) <= _WIDTH or not isinstance(value, dict | list) or not value):
            yield flow + _comment(origin, here)
        elif isinstance(value, dict):
            yield f"{indent}{yaml_text(key)}:" + _comment(origin, here)
            yield from _lines(value, depth + 1, here, origin)
        elif isinstance(value, list):
            yield f"{indent}{yaml_text(key)}:" + _comment(origin, here)
            yield from _item_lines(value, depth + 1, here, origin)


def _item_lines(values: list[object], depth: int, path: _Place, origin: Callable[[_Place], str | None]) -> Iterator[str]:
    indent = "  " * depth
    for number, value in enumerate(values):
        here = (*path, number)
        if isinstance(value, dict) and value:
            lines = list(_lines(value, depth + 1, here, origin))
            yield f"{indent}- {lines[0].lstrip()}"
            yield from lines[1:]
        else:
            yield f"{indent}- {_flow(value)}" + _comment(origin, here)


def _is_flat(value: object) -> bool:
    """One level of scalars, or less."""
    if isinstance(value, dict):
        return len(value) <= 8 and not any(
            isinstance(item, dict | list) and item for item in value.values() if not _is_scalars(item)
        )
    if isinstance(value, list):
        return _is_scalars(value)
    return True


def _is_scalars(value: object) -> bool:
    return isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)
