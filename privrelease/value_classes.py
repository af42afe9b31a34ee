"""Frozen dataclasses that are made faster: the same classes as those of the standard library, in a tenth of the time.

Every command makes hundreds of classes of values before it does anything, and :func:`dataclasses.dataclass` compiles five methods of each. Here ``__init__``
is made when the first value is, from code that classes with as many fields share; the others are shared by all classes and know the fields. What is not a plain ``frozen=True, slots=True``, or inherits fields,
is left to the standard library.
"""

from __future__ import annotations

import dataclasses
import reprlib
from dataclasses import FrozenInstanceError
from functools import cache, partial
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **given: bool) -> Any:  # noqa: ANN401 -- as the standard library's
        """Make a class of values; arguments and results are those of :func:`dataclasses.dataclass`.

        >>> @dataclass(frozen=True, slots=True)
        ... class Place:
        ...     file: str
        ...     line: int = 0
        >>> Place("a.yaml", 3)
        Place(file='a.yaml', line=3)
        >>> Place("a.yaml") == Place("a.yaml", 0)
        True
        """

        def made(one: type) -> type:
            return _made(one, **given) if _is_plain(one, given) else dataclasses.dataclass(one, **given)

        return made if cls is None else made(cls)


__all__ = ["dataclass"]

C = TypeVar("C", bound=type)
_PLAIN = frozenset({"frozen", "slots", "eq"})


def _is_plain(cls: type, given: dict[str, bool]) -> bool:
    """Return True for a frozen class with slots that inherits no fields and writes none of the methods that are made here."""
    own = cls.__dict__
    return (
        given.keys() <= _PLAIN
        and given.get("frozen", False)
        and given.get("slots", False)
        and not any(getattr(base, "__dataclass_fields__", None) is not None for base in cls.__bases__)
        and not any(
            name in own for name in ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__slots__", "__getstate__")
        )
        and not any("InitVar" in str(one) or "KW_ONLY" in str(one) for one in own.get("__annotations__", {}).values())
    )


class _Field:
    """A field as most are, an argument with a default or without: what is asked of :class:`dataclasses.Field` when a class is made."""

    __slots__ = ("default", "name", "type")

    default_factory = dataclasses.MISSING
    init = repr = compare = True
    kw_only = False

    def __init__(self, name: str, kind: object, default: object) -> None:
        self.name, self.type, self.default = name, kind, default


_Fields = tuple[Any, ...]  # of the above, or of the standard library's


def _made(cls: C, *, frozen: bool, slots: bool, eq: bool = True) -> C:
    """Return the class with its fields, methods and slots."""
    del frozen, slots  # both are asked for
    own = {name: value for name, value in cls.__dict__.items() if name not in {"__dict__", "__weakref__"}}
    fields = _plain_fields(own)
    if fields is None:
        described = _described(cls.__name__, own, eq=eq)
        fields = dataclasses.fields(described)
        own |= {name: described.__dict__[name] for name in (*_DESCRIPTION, "__match_args__")}
    else:
        later = partial(_described, cls.__name__, dict(own), eq=eq)
        own |= {name: _Description(name, later) for name in _DESCRIPTION}
        own["__match_args__"] = tuple(field.name for field in fields)
    for field in fields:
        own.pop(field.name, None)
    own |= {
        "__slots__": tuple(field.name for field in fields),
        "__init__": _Init(fields),
        "__repr__": _repr([field.name for field in fields if field.repr]),
        "__setattr__": _setattr,
        "__delattr__": _delattr,
        "__replace__": _replace,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
    if eq:
        of = _values_of([field.name for field in fields if field.compare])
        own |= {"__eq__": _eq(of), "__hash__": _hash(of)}
    made = type(cls)(cls.__name__, cls.__bases__, own)
    made.__qualname__ = cls.__qualname__
    own["__init__"].of = made
    for method in ("__repr__", "__eq__", "__hash__"):
        if method in own:
            own[method].__qualname__ = f"{cls.__qualname__}.{method}"
    return made


def _plain_fields(own: dict[str, Any]) -> _Fields | None:
    """Return the fields of a class from what it holds; None where one is more than an argument with a default that does not change."""
    annotations, missing = own.get("__annotations__", {}), dataclasses.MISSING
    fields = tuple(_Field(name, kind, own.get(name, missing)) for name, kind in annotations.items())
    plain = all(
        one.default is missing
        or (one.default.__class__.__hash__ is not None and one.default.__class__ is not dataclasses.Field)
        for one in fields
    )
    return fields if plain and not any("ClassVar" in str(one.type) for one in fields) else None


#: Attributes that the functions of the standard library read of a class of values.
_DESCRIPTION = ("__dataclass_fields__", "__dataclass_params__")


def _described(name: str, own: dict[str, Any], *, eq: bool) -> Any:  # noqa: ANN401 -- a class with the attributes above
    """Return a class with the same fields that the standard library has described. The docstring spares it the signature, which costs most."""
    annotations = own.get("__annotations__", {})
    held = {one: own[one] for one in ("__module__", "__annotations__", *annotations) if one in own}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(type(name, (), {**held, "__doc__": name}))
    params = made.__dataclass_params__
    params.init = params.repr = params.frozen = True  # as the standard library notes it
    params.eq = eq
    return made


class _Description:
    """An attribute that describes a class to the standard library, until it is read: few classes ever are."""

    __slots__ = ("_described", "_name")

    def __init__(self, name: str, described: Callable[[], Any]) -> None:
        self._name, self._described = name, described

    def __get__(self, value: object, owner: type | None = None) -> object:
        described = self._described()
        for cls in (type(value) if owner is None else owner).__mro__:
            if cls.__dict__.get(self._name) is self:  # no other thread was faster
                for name in _DESCRIPTION:
                    setattr(cls, name, getattr(described, name))
        return getattr(described, self._name)


class _Init:
    """The ``__init__`` of a class until it is asked for: compiled then, and put in its own place. Most commands make values of one class in three."""

    __slots__ = ("_fields", "of")

    def __init__(self, fields: _Fields) -> None:
        self._fields = fields
        self.of: type

    def __get__(self, value: object, owner: type | None = None) -> Callable[..., None]:
        cls = self.of
        init = _init(cls, self._fields)
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = init  # type: ignore[misc]  # of the class itself
        return init if value is None else init.__get__(value, owner)


def _init(cls: type, fields: _Fields) -> Callable[..., None]:
    """Make ``__init__``: arguments in the order of the fields, those that are by keyword alone last.

    Its code is that of every class with fields of the same kinds in the same order: written with a number for each field, compiled once, and
    given the names of the class.
    """
    known: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": dataclasses.MISSING}
    plain: list[str] = []
    named: list[str] = []
    body: list[str] = []
    defaults: list[object] = []
    named_defaults: dict[str, object] = {}
    for number, field in enumerate(fields):
        given, made = f"_{number}", field.default_factory is not dataclasses.MISSING
        if made:
            known[f"_made{number}"] = field.default_factory
        if field.init:
            (named if field.kw_only else plain).append(given)
            if (made or field.default is not dataclasses.MISSING) and not field.kw_only:
                defaults.append(field.default)
            elif made or field.default is not dataclasses.MISSING:
                named_defaults[field.name] = field.default
            body.append(f" _set(self, {given!r}, {f'_made{number}() if {given} is _MISSING else {given}' if made else given})")
        elif made:
            body.append(f" _set(self, {given!r}, _made{number}())")
        elif field.default is not dataclasses.MISSING:
            known[f"_default{number}"] = field.default
            body.append(f" _set(self, {given!r}, _default{number})")
    if getattr(cls, "__post_init__", None) is not None:
        body.append(" self.__post_init__()")
    arguments = ", ".join(("self", *plain, *(("*", *named) if named else ())))
    code = _code(f"def __init__({arguments}):\n" + ("\n".join(body) or " pass"))
    names = {f"_{number}": field.name for number, field in enumerate(fields)}
    init = FunctionType(
        code.replace(
            co_varnames=tuple(names.get(one, one) for one in code.co_varnames),
            co_consts=tuple(names.get(one, one) if isinstance(one, str) else one for one in code.co_consts),
        ),
        known,
        "__init__",
        tuple(defaults),
    )
    init.__kwdefaults__ = named_defaults or None
    init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return init


@cache
def _code(text: str) -> CodeType:
    """Compile a function of numbered fields."""
    found: dict[str, Any] = {}
    exec(text, {}, found)  # noqa: S102 -- written above, with no name of a class or field
    code: CodeType = found["__init__"].__code__
    return code


def _values_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _eq(of: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:  # noqa: N807, ANN401
        return of(self) == of(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(of: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807, ANN401
        return hash(of(self))

    return __hash__


def _repr(names: Sequence[str]) -> Callable[[Any], str]:
    @reprlib.recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807, ANN401
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _setattr(self: Any, name: str, value: object) -> None:  # noqa: ANN401
    del self, value
    message = f"cannot assign to field {name!r}"
    raise FrozenInstanceError(message)


def _delattr(self: Any, name: str) -> None:  # noqa: ANN401
    del self
    message = f"cannot delete field {name!r}"
    raise FrozenInstanceError(message)


def _replace(self: Any, /, **changes: object) -> Any:  # noqa: ANN401
    return dataclasses.replace(self, **changes)


def _getstate(self: Any) -> list[Any]:  # noqa: ANN401
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _setstate(self: Any, state: Sequence[Any]) -> None:  # noqa: ANN401
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
