"""The grand staircase by SGD: He4(z1) + sign(z1 z2 z3) is learned only with repetition.

Plain steps see nothing below order three. With extragradient steps z1, visible to a function of
the labels at order two, comes first and opens z2 and z3.

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480; Arnaboldi, Dandi,
Krzakala, Pesce, Stephan, arXiv:2405.15459.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from learnability.figures._sgd_staircase import FULL, QUICK, shares, two_panels

if TYPE_CHECKING:
    import xarray

    from learnability.figures._online import OnlineSize

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "He4(z1)/sqrt(24) + sign(z1*z2*z3)"


def compute(size: OnlineSize) -> xarray.Dataset:
    """Shares of the three directions under both rules."""
    return shares(LINK, size, step=0.3, look_ahead=0.5)


def picture(data: xarray.Dataset) -> Any:
    """Two panels of shares against steps / (d log d)."""
    return two_panels(data)
