"""Solutions of the equations of motion on spiked data, and what is reported of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.learners.online._equations import Equations
from learnability.learners.online._marked_runs import given_start, labelled_on_spikes
from learnability.learners.online._runs import Runs
from learnability.learners.online._starts import Start, random_start
from learnability.learners.protocol import dataset
from learnability.targets.spiked_index import Spike, SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["paths_on_spikes", "predicted_recovery_on_spikes"]

Array = NDArray[np.float64]
_STRONGEST = 0.1
"""(1 + theta) / d from which steps move the overlap with the spike by too much for equations."""


def _equations(
    learner: Any, target: SpikedIndex, d: int | None, seeds: list[int], start: Any
) -> tuple[Equations, Spike, list[Start], bool]:
    """The equations, the spike, the starts, and whether these are of seeds."""
    if d is None:
        raise LearnabilityError(
            "Spiked data have a spike in each dimension: give `d` to predict for."
        )
    spike = target.at(d)
    if learner.normalisation != "none" and learner.rule != "plain":
        raise LearnabilityError(
            f"`rule` was given as {learner.rule!r} with normalisation="
            f"{learner.normalisation!r}, but normalised steps use a sample once: rule='plain'."
        )
    if (1 + spike.strength) / d > _STRONGEST:
        raise LearnabilityError(
            f"The equations of motion were asked for with a spike of (1 + theta) / d = "
            f"{(1 + spike.strength) / d:.3g}, but they are those of large d and hold below "
            f"{_STRONGEST:g}: use `simulate`, whose chain is exact at every d, or a larger `d`."
        )
    recipe = learner._recipe(target)
    made = Equations(
        recipe, target.noise, learner._rates, learner._schedule, spike, learner.normalisation
    )
    p = learner.width
    if start is not None:
        return made, spike, [given_start(start, p, spike, learner.spherical)], False
    return made, spike, [random_start(seed, p, 2, d, learner.spherical) for seed in seeds], True


def paths_on_spikes(
    learner: Any, target: SpikedIndex, d: int | None, times: Array, seeds: list[int], start: Any
) -> xarray.Dataset:
    """Solve from every start; the arguments are those of `predict`."""
    equations, spike, starts, seeded = _equations(learner, target, d, seeds, start)
    paths = [equations.solve(s, learner._second, np.atleast_1d(times)) for s in starts]
    rest, overlap, second = (np.array([path[k] for path in paths]) for k in range(3))
    lost = np.array([path.status == "diverged" for path in paths])
    found = Runs(rest, overlap, second, lost)
    return labelled_on_spikes(
        learner, target, "predict", times, found, seeds if seeded else None, spike,
        d=int(d or 0), method=equations.method,
    )  # fmt: skip


def predicted_recovery_on_spikes(
    learner: Any,
    target: SpikedIndex,
    d: int | None,
    last: float,
    seeds: list[int],
    start: Any,
    correlation: float,
) -> xarray.Dataset:
    """Time at which |rho| of a neuron first reaches a correlation, as `predict_recovery`."""
    equations, spike, starts, seeded = _equations(learner, target, d, seeds, start)
    found: Any = np.array(
        [equations.recovery(s, learner._second, last, correlation) for s in starts]
    )
    status = np.where(np.isfinite(found), "recovered", "stopped")
    axes: tuple[str, ...] = ("seed",)
    coordinates: dict[str, Any] = {"seed": ("seed", seeds)}
    if not seeded:
        axes, coordinates, found, status = (), {}, found[0], status[0]
    return dataset(
        learner, target, "predict_recovery", None,
        {"recovery_time": (axes, found), "status": (axes, status)}, coordinates,
        d=int(d or 0), spike=spike.strength, alignment=spike.alignment, method=equations.method,
    )  # fmt: skip
