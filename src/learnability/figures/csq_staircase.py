"""The staircase of plain SGD: He2(z1) + sign(z1 z2 z3), with and without repetition.

z1 is visible to plain steps and opens z2 and z3; steps that use a sample twice climb faster.

References
----------
Abbe, Boix-Adsera, Misiakiewicz, COLT 2023; Arnaboldi, Dandi, Krzakala, Pesce, Stephan,
arXiv:2405.15459.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from learnability.figures._sgd_staircase import FULL, QUICK, shares, two_panels

if TYPE_CHECKING:
    import xarray

    from learnability.figures._online import OnlineSize

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "He2(z1)/sqrt(2) + sign(z1*z2*z3)"


def compute(size: OnlineSize) -> xarray.Dataset:
    """Shares of the three directions under both rules."""
    return shares(LINK, size, step=0.3, look_ahead=0.3)


def picture(data: xarray.Dataset) -> Any:
    """Two panels of shares against steps / (d log d)."""
    return two_panels(data)
