"""The base of every model that is stored or published as JSON: strict, frozen, and described by its attributes' docstrings.

A model is made ready when it is first used: most commands touch a few of more than a hundred. Its attributes' docstrings are read from the
source only when somebody asks for the JSON Schema, where they are the properties' descriptions.
"""

import ast
import inspect
from itertools import pairwise
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

__all__ = ["Document", "attribute_docstrings", "optional_field"]


class Document(BaseModel):
    """A frozen value without unknown keys.

    >>> class Made(Document):
    ...     rows: int
    >>> Made.model_validate({"rows": 3}).rows
    3
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: "CoreSchema", handler: "GetJsonSchemaHandler") -> dict[str, Any]:
        """Describe each property by its attribute's docstring."""
        value = handler(core_schema)
        properties = handler.resolve_ref_schema(value).get("properties", {})
        for name, text in attribute_docstrings(cls).items():
            if name in properties:
                properties[name].setdefault("description", text)
        return value


def optional_field() -> Any:  # noqa: ANN401 -- as pydantic's Field, whose value is that of the annotated type
    """A field that only some documents have: it is not written where there is none."""
    return Field(default=None, exclude_if=lambda value: value is None)


def attribute_docstrings(model: type[Document]) -> dict[str, str]:
    """Return the docstrings below the attributes of a model and of what it extends, read from the source."""
    found: dict[str, str] = {}
    for part in reversed(model.__mro__):
        if not issubclass(part, Document) or part is Document:
            continue
        (body,) = ast.parse(dedent(inspect.getsource(part))).body
        assert isinstance(body, ast.ClassDef)
        for attribute, below in pairwise(body.body):
            if not (isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name)):
                continue
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
                found[attribute.target.id] = inspect.cleandoc(below.value.value)
    return found
