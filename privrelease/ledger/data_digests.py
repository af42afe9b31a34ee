"""Comparison of two states of data by their keyed digests (``key:digest``, joined by commas)."""

from __future__ import annotations

__all__ = ["differ", "digests_of"]


def digests_of(content: str | None) -> tuple[tuple[str, ...], ...]:
    """Return the parts of a content: (key id, digest) of each file; a content without keys is one digest under the empty key.

    >>> digests_of("k1:aa,k1:bb")
    (('k1', 'aa'), ('k1', 'bb'))
    """
    if not content:
        return ()
    return tuple(tuple(part.split(":", 1)) if ":" in part else ("", part) for part in content.split(","))


def differ(before: str | None, after: str | None) -> bool:
    """Return True if two contents under the same keys differ, in whatever order their files are; under other keys no one can
    tell.

    >>> differ("k1:aa", "k1:bb"), differ("k1:aa", "k2:bb"), differ("k1:aa", "k1:aa"), differ("k1:aa,k1:bb", "k1:bb,k1:aa")
    (True, False, False, False)
    """
    one, other = digests_of(before), digests_of(after)
    if not one or not other:
        return False
    if {part[0] for part in one} != {part[0] for part in other}:
        return False
    return sorted(one) != sorted(other)
