"""A network and a kernel on spiked inputs, for a link whose lowest degree is below its highest.

The link is He2 + He5 of the coordinate along the spike. A kernel learns He5 only from a spike of
d^(4/5) on, while the step of a network needs the signal of He2 alone, and its neurons then fit all
of the link along one direction. The same steps with permuted labels show how much of that comes
from the labels and how much from the covariance of the inputs.

References
----------
Ba, Erdogdu, Suzuki, Wang, Wu, NeurIPS 2023.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.figures import spiked_one_step
from learnability.figures._literature import SpikeSize

if TYPE_CHECKING:
    import xarray

    from learnability.targets import MultiIndex

__all__ = ["FULL", "QUICK", "compute", "picture"]

LINK = "(He2(z)/sqrt(2) + He5(z)/sqrt(120))/sqrt(2)"
FULL = SpikeSize((1000,), 4, (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.85), 31)
QUICK = SpikeSize((600,), 2, (0.25, 0.4, 0.5, 0.6, 0.75, 0.85), 18)


def compute(
    size: SpikeSize, store: Path | None = None, target: MultiIndex | None = None
) -> xarray.Dataset:
    """Return errors and rho^2 with a step, permuted labels or no step, and the kernel's error.

    From a target of the user's own the link of one variable and the noise are used.
    """
    from learnability.targets import MultiIndex

    return spiked_one_step.compute(size, store, MultiIndex(LINK) if target is None else target)


def picture(data: xarray.Dataset) -> Any:
    """Draw errors on the left, rho^2 on the right."""
    return spiked_one_step.picture(data)
