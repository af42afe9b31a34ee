"""Types of single values: from the text of the file to exact, typed values, once.

Every type takes what a file holds (:class:`~privrelease.policy.text.nodes.Plain`, :class:`~privrelease.policy.text.nodes.Quoted`) and what
Python code writes (``str``, ``int``, ``Decimal``); a ``float`` is refused everywhere, since 0.1 as a float is another number than the
0.1 that was written. Messages are written to follow the name of the key: ``highest_risk`` + ``must be in (0, 1], got 20``.
"""

import re
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema
from pydantic_core.core_schema import ValidationInfo, definitions_schema, with_info_plain_validator_function

from privrelease.policy.text.messages import CONTROL, TURNING, no_choice, problem, shown
from privrelease.policy.text.nodes import Plain
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from enum import StrEnum

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

__all__ = [
    "CHOICE",
    "DEFAULT_LOG",
    "IN_LEDGER",
    "NAMED",
    "WHEN_USED",
    "AnyText",
    "ColumnName",
    "Day",
    "Duration",
    "EnvironmentVariable",
    "Flag",
    "Frozen",
    "Identifier",
    "LabelText",
    "PathText",
    "Period",
    "Text",
    "as_text",
    "enumerated",
]

#: The log of publications of a policy that names none, next to it.
DEFAULT_LOG: Final = "publications.jsonl"
#: The name of a log that the ledger keeps, in place of a path.
IN_LEDGER: Final = "ledger"


class Frozen(BaseModel):
    """Base of every model of the policy: frozen, strict, no unknown key.

    The text under a field is its description in the JSON Schema. It is read when the schema is asked for, not at import (a fifth of
    the time that a command needs to start).
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


class _WhenUsed:
    """Lets a model inside another be made ready when a policy first has a value for it: most policies have few of the sections."""

    def __get_pydantic_core_schema__(self, source: type[BaseModel], handler: "GetCoreSchemaHandler") -> "CoreSchema":
        del handler  # would describe the whole model now

        def read(value: object, info: ValidationInfo) -> BaseModel:
            made: BaseModel = source.__pydantic_validator__.validate_python(value, context=info.context)
            return made

        return with_info_plain_validator_function(read, metadata={"model": source})

    def __get_pydantic_json_schema__(self, schema: "CoreSchema", handler: "GetJsonSchemaHandler") -> "JsonSchemaValue":
        model: type[BaseModel] = schema["metadata"]["model"]
        return handler(_defined(model.__pydantic_core_schema__, model))


def _defined(schema: "CoreSchema", model: type[BaseModel]) -> "CoreSchema":
    """Return the schema of a model with the reference by which a JSON Schema has a definition for it."""
    inner, others = (schema["schema"], schema["definitions"]) if schema["type"] == "definitions" else (schema, [])
    return definitions_schema(
        cast("CoreSchema", {**inner, "ref": f"{model.__module__}.{model.__qualname__}:{id(model)}"}), others
    )


#: For a model in a section that few policies have.
WHEN_USED = _WhenUsed()


def as_text(value: object) -> object:
    """Turn a scalar as written into a text; what is no scalar is refused."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        message = "needs a text, got nothing"
        raise problem(message, hint="quote it if the text `null` or an empty text is meant")
    message = f"needs a text, got {shown(value)}"
    raise problem(message)


def _choice(value: object) -> object:
    """Let a choice see a plain ``str``; what is no text is left to the choice's own message."""
    return str(value) if isinstance(value, str) else value


#: For a Literal: the text as written.
CHOICE = BeforeValidator(_choice)


def enumerated(kind: "type[StrEnum]") -> BeforeValidator:
    """Return the validator that turns a text into a member of ``kind``."""
    choices = [member.value for member in kind]

    def check(value: object) -> "StrEnum":
        if isinstance(value, str) and value in choices:
            return kind(str(value))
        if value is None:
            message, _ = no_choice(value, choices)
            message = message.replace("must be", "is not decided: write").replace(", got nothing", "")
            raise problem(message, code="P205")
        message, hint = no_choice(value, choices)
        raise problem(message, code="P202", hint=hint)

    return BeforeValidator(check)


_ANY_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}

#: Any text, also an empty one.
AnyText = Annotated[str, BeforeValidator(as_text), WithJsonSchema(_ANY_SCALAR)]


def _filled(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and not text.strip():
        message = "must not be empty"
        raise problem(message)
    return text


#: A text with something in it.
Text = Annotated[str, BeforeValidator(_filled), WithJsonSchema({**_ANY_SCALAR, "pattern": r"\S"})]


def _some_signs(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and (not text or text in {"\n", "\r", "\r\n"}):
        message = "must be what stands between the fields of a line"
        raise problem(message, hint='write e.g. ";", or "\\t" for a tab')
    return text


#: Signs between fields of a line, a tab or a blank among them.
Separator = Annotated[str, BeforeValidator(_some_signs), WithJsonSchema({**_ANY_SCALAR, "pattern": "[^\r\n]"})]


def _shown_whole(value: object) -> object:
    text = _filled(value)
    if isinstance(text, str) and (CONTROL.search(text) or TURNING.search(text)):
        message = "holds a control character, or a sign that turns the direction of text"
        raise problem(message, hint="remove it: readers would not see it")
    return text


#: A part of labels: a text of which readers see every sign.
LabelText = Annotated[str, BeforeValidator(_shown_whole), WithJsonSchema({**_ANY_SCALAR, "pattern": r"\S"})]


def _column_name(value: object) -> object:
    text = _filled(value)
    if isinstance(text, str) and (CONTROL.search(text) or len(text) > 255):
        message = "is not a column name: no control characters, at most 255 characters"
        raise problem(message)
    return text


#: A column's name, exactly as in the source.
ColumnName = Annotated[str, BeforeValidator(_column_name), WithJsonSchema({**_ANY_SCALAR, "pattern": r"\S", "maxLength": 255})]


def _path(value: object) -> object:
    text = _filled(value)
    if isinstance(text, str) and (CONTROL.search(text) or len(text) > 1000):
        message = "is not a path: no control characters, at most 1000 characters"
        raise problem(message)
    if isinstance(text, str) and "://" in text:
        # not shown: an address may hold a password
        message = "must be a path of a file, not an address"
        raise problem(message)
    return text


#: A path of a file.
PathText = Annotated[
    str, BeforeValidator(_path), WithJsonSchema({**_ANY_SCALAR, "pattern": r"^(?!.*://).*\S", "maxLength": 1000})
]

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def _identifier(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and (not _IDENTIFIER.fullmatch(text) or ".." in text):
        message = f"is not a name: {shown(text)}"
        raise problem(message, hint="letters, digits, `-`, `_` and `.`, at most 64, starting with a letter or digit")
    return text


_IDENTIFIER_SCHEMA: dict[str, Any] = {**_ANY_SCALAR, "pattern": r"^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9_.-]{0,63}$"}

#: For mappings of names to values.
NAMED: dict[str, Any] = {"propertyNames": {"pattern": _IDENTIFIER_SCHEMA["pattern"]}}

#: The name of a dataset, threat, release or check; it may become part of a file name.
Identifier = Annotated[str, BeforeValidator(_identifier), WithJsonSchema(_IDENTIFIER_SCHEMA)]

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")


def _variable(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and not _VARIABLE.fullmatch(text):
        # the text is not shown: somebody may have written the secret itself
        message = "must be the name of an environment variable (capitals, digits, `_`)"
        raise problem(message, hint="secrets are named, never written in a policy")
    return text


#: The name of an environment variable that holds a secret; never the secret.
EnvironmentVariable = Annotated[
    str, BeforeValidator(_variable), WithJsonSchema({"type": "string", "pattern": "^[A-Z_][A-Z0-9_]{0,127}$"})
]


def _flag(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, Plain) and value in {"true", "True", "TRUE"}:
        return True
    if isinstance(value, Plain) and value in {"false", "False", "FALSE"}:
        return False
    message = f"must be true or false, got {shown(value)}"
    raise problem(message)


#: ``true`` or ``false``; ``yes``, ``on`` and their like are refused.
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]


def _day(value: object) -> date:
    if type(value) is date:
        return value
    text = _filled(value)
    try:
        if isinstance(text, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    message = f"must be a day as YYYY-MM-DD, got {shown(text)}"
    raise problem(message)


#: A calendar day, ``2027-01-15``.
Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})]

_DURATION = r"P(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+W)?(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?"


_LENGTHS: Final = {"Y": 365.2425, "M": 30.436875, "W": 7, "D": 1}
_SECONDS: Final = {"H": 3600, "M": 60, "S": 1}


@dataclass(frozen=True, slots=True)
class Period:
    """A length of time as it is written in ISO 8601, ``P10Y``."""

    text: str

    @property
    def days(self) -> float:
        """The length in days: years and months by their mean, hours and less as parts of a day.

        >>> Period("P2W").days, Period("P1DT12H").days, Period("P10Y").days > Period("P119M").days
        (14.0, 1.5, True)
        """
        day, _, time = self.text.removeprefix("P").partition("T")
        found = sum(int(number) * _LENGTHS[unit] for number, unit in re.findall(r"([0-9]+)([YMWD])", day))
        return found + sum(int(number) * _SECONDS[unit] for number, unit in re.findall(r"([0-9]+)([HMS])", time)) / 86400

    def __str__(self) -> str:
        return self.text


def _duration(value: object) -> Period:
    if isinstance(value, Period):
        return value
    text = _filled(value)
    if isinstance(text, str) and re.fullmatch(_DURATION, text):
        return Period(text)
    message = f"must be a duration such as P10Y (ISO 8601), got {shown(text)}"
    raise problem(message)


#: An ISO 8601 duration, ``P10Y``.
Duration = Annotated[
    Period,
    BeforeValidator(_duration),
    PlainSerializer(str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION}$"}),
]
