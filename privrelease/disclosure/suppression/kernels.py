"""The loops of the record search: the compiled ones where the extension is installed, else the plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.loops import extension

if TYPE_CHECKING or extension() is None:
    from privrelease.disclosure.suppression.plain.closing import close_classes, find_alternatives
    from privrelease.disclosure.suppression.plain.completion import complete_groups
    from privrelease.disclosure.suppression.plain.grouping import count_distinct, release_layer
    from privrelease.disclosure.suppression.plain.joint import restore_cells
    from privrelease.disclosure.suppression.plain.regrouping import regroup_cells
else:
    _compiled = extension()
    close_classes = _compiled.close_classes
    find_alternatives = _compiled.find_alternatives
    complete_groups = _compiled.complete_groups
    count_distinct = _compiled.count_distinct
    release_layer = _compiled.release_layer
    regroup_cells = _compiled.regroup_cells
    restore_cells = _compiled.restore_cells

__all__ = [
    "close_classes",
    "complete_groups",
    "count_distinct",
    "find_alternatives",
    "regroup_cells",
    "release_layer",
    "restore_cells",
]
