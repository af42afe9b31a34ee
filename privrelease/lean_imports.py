"""Libraries loaded without other libraries that they only look for, and that nothing here uses.

pyarrow asks for pandas, and goes on without, which would cost every run a third of a CPU second; and it wraps all of its functions. Great Expectations imports altair and scipy's statistics for
two expectations that few policies have: they are loaded when one of these is evaluated. sqlglot parses twenty templates of functions of other
databases when its dialect is loaded: each is parsed when it is used. numpy adds docstrings to what it has in C. pydantic reads how packages describe themselves, to look for plugins. All of them define a hundred dataclasses, whose
five methods the standard library compiles although few are called. Whoever imports such a library afterwards, or had it before, is not touched, but
by what :func:`own_process` allows.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import sys
import warnings
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from importlib.util import LazyLoader
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from importlib.machinery import ModuleSpec

    from sqlglot.expressions import Expr

__all__ = [
    "arrow_alone",
    "arrow_of_a_command",
    "database_alone",
    "dialect_alone",
    "later",
    "methods_later",
    "models_alone",
    "numbers_alone",
    "own_process",
    "silence",
    "version_of",
    "without",
]


class _Absent(MetaPathFinder):
    """Says of one module that it cannot be had."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for the module; leave all others to the next finder."""
        del path, target
        if fullname == self._name:
            message = f"{fullname} is not looked for now"
            raise ModuleNotFoundError(message, name=fullname)


@contextmanager
def without(name: str) -> Iterator[None]:
    """Make ``import name`` fail inside, unless the module is loaded already.

    >>> with without("this"):
    ...     try:
    ...         import this
    ...     except ImportError as error:
    ...         print(error.name)
    this
    """
    finder = _Absent(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Later(MetaPathFinder):
    """Finds some modules, and lets each be executed when an attribute of it is asked for first (:class:`importlib.util.LazyLoader`)."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a module that is loaded later; None of all others."""
        if fullname not in self._names:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found


@contextmanager
def later(*names: str) -> Iterator[None]:
    """Let ``import name`` of these modules inside only find them: each is loaded when something of it is used, at any time.

    For modules that a library imports at its top and uses in a few of its functions.

    >>> import sys
    >>> with later("chunk_of_nothing"):
    ...     "chunk_of_nothing" in sys.modules
    False
    """
    finder = _Later(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Method:
    """A method of a dataclass until it is asked for: compiled then, and put in its own place."""

    def __init__(self, name: str, module: str | None, compiled: Callable[[], Callable[..., Any]]) -> None:
        self.__name__, self.__module__, self.__doc__ = name, module or "builtins", None
        self._compiled = cache(compiled)

    def __get__(self, value: object, owner: type | None = None) -> Callable[..., Any]:
        function = self._compiled()
        for one in (type(value) if owner is None else owner).__mro__:
            if one.__dict__.get(self.__name__) is self:
                function.__qualname__ = f"{one.__qualname__}.{self.__name__}"
                setattr(one, self.__name__, function)
        return function if value is None else function.__get__(value, owner)

    def __call__(self, *arguments: object) -> Any:  # noqa: ANN401 -- ``__repr__``, which the standard library wraps
        return self._compiled()(*arguments)


@contextmanager
def methods_later() -> Iterator[None]:
    """Let dataclasses that are defined inside compile each of their methods when it is called or looked at first.

    For libraries: a command makes values of few of their dataclasses. A class without a docstring gets one that leaves out its arguments. From
    Python 3.13 on the standard library compiles the methods of a class together, and is left as it is.

    >>> import dataclasses
    >>> with methods_later():
    ...
    ...     @dataclasses.dataclass
    ...     class Place:
    ...         line: int = 0
    >>> Place(3), Place() == Place(0)
    (Place(line=3), True)
    """
    if sys.version_info >= (3, 13):
        yield
        return
    library = vars(dataclasses)
    compiled, inspect = library["_create_fn"], library["inspect"]

    def method(name: str, *given: Any, globals: dict[str, Any] | None = None, **named: Any) -> _Method:  # noqa: A002, ANN401
        return _Method(name, (globals or {}).get("__name__"), lambda: compiled(name, *given, globals=globals, **named))

    library["_create_fn"] = method  # by which every method is compiled
    library["inspect"] = SimpleNamespace(**{**vars(inspect), "signature": lambda _cls: "(...)"})
    try:
        yield
    finally:
        library |= {"_create_fn": compiled, "inspect": inspect}


_process = SimpleNamespace(ours=False)


def own_process() -> None:
    """Declare that this process does nothing but run a command, and ends with it: only then are libraries loaded so that others would miss something."""
    _process.ours = True
    numbers_alone()


def arrow_of_a_command() -> None:
    """Load pyarrow leaner where the process is ours (:func:`own_process`); in a program that calls the command line, leave it as it is."""
    if _process.ours:
        arrow_alone()


@cache
def arrow_alone() -> None:
    """Load pyarrow and let it look for pandas, which it does once in two places, where there is none.

    For a process of our own only: what really needs pandas, such as ``to_pandas``, asks for it again and finds it, but marks of missing
    values that only pandas has stay strange to ``pyarrow.array``.
    """
    with without("pandas"):
        import pyarrow as pa

        pa.scalar(pa.array([0])[0].as_py())
    _functions_later()


def _functions_later() -> None:
    """Load pyarrow's functions over columns so that each of three hundred is wrapped when it is asked for."""
    if "pyarrow.compute" in sys.modules:
        return
    from pyarrow import _compute

    asked = _compute.function_registry
    registry = asked()
    named_twice = ["utf8_zero_fill"]  # by the module itself, when it is loaded
    at_once = SimpleNamespace(list_functions=lambda: named_twice, get_function=registry.get_function)
    _compute.function_registry = lambda: at_once
    try:
        with _without_descriptions():
            import pyarrow.compute as module
    finally:
        _compute.function_registry = asked

    def function(name: str) -> Any:  # noqa: ANN401 -- as the module's own
        short = name.removesuffix("_") if name in {"and_", "or_"} else name  # words of Python
        try:
            found = registry.get_function(short)
        except KeyError:
            found = None
        if found is None or found.kind == "hash_aggregate" or (found.kind == "scalar_aggregate" and not found.arity):
            message = f"module {module.__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        with _without_descriptions():
            wrapped = module._wrap_function(f"{short}_" if short in {"and", "or"} else short, found)  # noqa: SLF001
        vars(module).update({short: wrapped, wrapped.__name__: wrapped})
        return wrapped

    vars(module).update(function_registry=asked, __getattr__=function)


def numbers_alone() -> None:
    """Let numpy, when it is loaded, leave out the docstrings of what it has in C, which two modules of it add. For a process of our own only."""
    if "numpy" not in sys.modules:
        for name in ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars"):
            sys.modules[name] = ModuleType(name)


@cache
def models_alone() -> None:
    """Load pydantic, and what it looks for plugins with, without :mod:`importlib.metadata` and the readers of e-mail below it until it really looks."""
    name, loader = "importlib.metadata", "pydantic.plugin._loader"
    if name in sys.modules or loader in sys.modules:
        return
    stand_in = ModuleType(name)
    stand_in.entry_points = _entry_points  # type: ignore[attr-defined]
    sys.modules[name] = stand_in
    try:
        with methods_later():
            import_module(loader)
            import_module("pydantic.fields")
            import_module("pydantic.functional_serializers")
            import_module("pydantic.functional_validators")
    finally:
        del sys.modules[name]


def _entry_points(**wanted: str) -> object:
    from importlib.metadata import entry_points

    return entry_points(**wanted)


def version_of(distribution: str) -> str:
    """Return the version of a library as its module says, where that is loaded, else as its package does, which takes a file to read and parse.

    >>> import numpy
    >>> version_of("numpy") == numpy.__version__
    True
    """
    module = sys.modules.get(distribution)
    said = None if module is None else vars(module).get("__version__")
    if isinstance(said, str):
        return said
    from importlib.metadata import version

    return version(distribution)


@contextmanager
def _without_descriptions() -> Iterator[None]:
    """Let pyarrow make its functions without reading the descriptions of their options, which it copies into their docstrings alone."""
    name = "pyarrow.vendored.docscrape"
    if name in sys.modules:
        yield
        return
    silent = ModuleType(name)
    silent.NumpyDocString = lambda _text: {"Parameters": ()}  # type: ignore[attr-defined]
    sys.modules[name] = silent
    try:
        yield
    finally:
        del sys.modules[name]


class _Template:
    """A template of sqlglot's DuckDB generator, which is parsed when it is used: as an attribute of its class, or when a copy is asked for."""

    def __init__(self, sql: str) -> None:
        self._sql = sql

    def copy(self) -> Expr:
        """Return the parsed template."""
        from sqlglot import parse_one

        return parse_one(self._sql)

    def __get__(self, instance: object, owner: type | None = None) -> Expr:
        return self.copy()


@cache
def dialect_alone() -> None:
    """Load sqlglot's DuckDB dialect without parsing the templates by which it writes functions of other databases, none of which we have."""
    with methods_later():
        from sqlglot import exp

    if "sqlglot.generators.duckdb" in sys.modules:
        return
    parsed = exp.maybe_parse
    exp.maybe_parse = _Template  # type: ignore[assignment]  # for as long as the module is loaded
    try:
        import sqlglot.dialects.duckdb  # noqa: F401 -- for whoever asks for it afterwards
    finally:
        exp.maybe_parse = parsed


@cache
def database_alone() -> None:
    """Load DuckDB, whose steps of queries are forty dataclasses."""
    with methods_later():
        import duckdb  # noqa: F401 -- for whoever imports it afterwards


@contextmanager
def silence() -> Iterator[None]:
    """Let nothing of Great Expectations reach a terminal, a log or the network: its logs, warnings and error texts hold cells."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
