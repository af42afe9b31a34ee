"""Sections that a microdata release has nothing for: said with the reason, or left out where they do not apply at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.view import Absent

if TYPE_CHECKING:
    from privrelease.report.view import Context

__all__ = ["build_attacks", "build_synthesis"]


def build_attacks(context: Context) -> Absent:
    """Say that no attack was tried: a reader would otherwise take the risk figures for one."""
    return Absent(context.catalogue.text("attacks.absent"))


def build_synthesis(context: Context) -> None:
    """Leave the section of synthetic releases out."""
    del context
