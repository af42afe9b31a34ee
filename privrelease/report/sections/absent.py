"""Sections that no release fills yet: left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.report.view.page import Context

__all__ = ["build_synthesis"]


def build_synthesis(context: Context) -> None:
    """Leave the section of synthetic releases out."""
    del context
