"""Catalogue of codes: the meaning, cause and remedy of every finding and error, one TOML file per family (``en/codes/P.toml``).

Codes are append-only: P policy, D data and environment, DP differential privacy, A audit, L ledger, R release, C command line. A family is
read when one of its codes is asked for. ``privrelease explain`` prints the catalogue, and ``docs/codes.md`` is made of it.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["FAMILIES", "Code", "code_of", "every_code", "nearest_codes"]

#: Families of codes, by the letters that they begin with, in the order in which they are listed.
FAMILIES: Final[dict[str, str]] = {
    "P": "Policy",
    "D": "Data and environment",
    "DP": "Differential privacy",
    "A": "Audit",
    "L": "Ledger of privacy budgets",
    "R": "Release",
    "C": "Command line",
}


@dataclass(frozen=True, slots=True)
class Code:
    """One code. ``meaning``: a clause without a full stop; ``cause`` and ``remedy``: sentences; ``check``: the id of the audit's check that
    reports it, empty where there is none.
    """

    name: str
    meaning: str
    cause: str
    remedy: str
    check: str = ""

    @property
    def family(self) -> str:
        """Return the letters that the code begins with.

        >>> code_of("DP105").family
        'DP'
        """
        return self.name.rstrip("0123456789")


@cache
def _family(letters: str) -> Mapping[str, Code]:
    """Return the codes of one family, empty for letters that are none."""
    if letters not in FAMILIES:
        return {}
    import tomllib

    text = files("privrelease.texts").joinpath("en", "codes", f"{letters}.toml").read_text(encoding="utf-8")
    return {name: Code(name, **entry) for name, entry in sorted(tomllib.loads(text).items())}


def code_of(name: str) -> Code:
    """Return a code by its name, or by the id of its check in reports; upper and lower case are one. Raises KeyError for an unknown one.

    >>> code_of("p403").meaning
    "a path outside the policy's folder and the data root"
    >>> code_of("AUDIT-ORDER").name
    'A215'
    """
    wanted = name.strip().upper()
    found = _family(wanted.rstrip("0123456789")).get(wanted)
    if found is None:
        found = next((code for code in _family("A").values() if code.check and code.check.upper() == wanted), None)
    if found is None:
        raise KeyError(name)
    return found


def every_code() -> Iterator[Code]:
    """Yield every code, by family and number."""
    for letters in FAMILIES:
        yield from _family(letters).values()


def nearest_codes(name: str, most: int = 3) -> tuple[str, ...]:
    """Return the names that an unknown one may have meant: those spelled alike, else the nearest numbers of its family.

    >>> nearest_codes("audit-odrer", 1), nearest_codes("P499", 1), nearest_codes("zebra")
    (('AUDIT-ORDER',), ('P501',), ())
    """
    wanted = name.strip().upper()
    letters = wanted.rstrip("0123456789")
    number = wanted.removeprefix(letters)
    if number and letters in FAMILIES:
        return tuple(sorted(_family(letters), key=lambda one: abs(int(one.removeprefix(letters)) - int(number)))[:most])
    names = [one for code in every_code() for one in (code.name, code.check.upper()) if one]
    return tuple(get_close_matches(wanted, names, n=most, cutoff=0.7))
