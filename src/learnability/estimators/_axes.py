"""Axes for the Displays."""

from __future__ import annotations

from typing import Any

__all__ = ["new_axes"]


def new_axes(ax: Any = None) -> Any:
    """The given axes, or those of a new figure that no window shows."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(3.6, 2.8)).subplots()
