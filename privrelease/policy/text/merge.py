"""How policies are put together: mappings merge key by key, everything else is replaced.

``extends: [a.yaml, b.yaml]`` reads a, then b over it, then the file itself over both; each may extend others. Every value keeps the
place it was written at. A list is one value: it replaces the list below it.
"""

from __future__ import annotations

from privrelease.policy.text.nodes import Entry, Mapping, Node

__all__ = ["merged"]


def merged(below: Node, above: Node) -> Node:
    """Return ``above`` laid over ``below``."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    entries = dict(below.entries)
    for key, entry in above.entries.items():
        lower = entries.get(key)
        if lower is None:
            entries[key] = entry
        else:
            both = isinstance(lower.value, Mapping) and isinstance(entry.value, Mapping)
            # an element that both hold stands where it was declared first; a value stands where it was written last
            place = lower.location if both else entry.location
            entries[key] = Entry(key, place, merged(lower.value, entry.value))
    size = 1 + sum(entry.value.size for entry in entries.values())
    return Mapping(entries, above.location, size)
