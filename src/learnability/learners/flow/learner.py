"""Gradient flow of one neuron, run by gradient descent and solved as an ODE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import choice, flag, number, record, whole
from learnability.gaussian.sections import Section
from learnability.inputs import Frame
from learnability.labels.fields import AsLink, function
from learnability.labels.link import Link
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.flow._descent import Rule, descend_fresh, descend_reused
from learnability.learners.flow._equations import FLOWS, geometry, solve
from learnability.learners.flow._landscape import landscape, recovery
from learnability.learners.measurement import overlaps_in_frame
from learnability.learners.networks.population import Population
from learnability.learners.networks.starts import random_start, start_of
from learnability.progress import tracked
from learnability.results.schema import Status
from learnability.targets.base import checked_memory
from learnability.targets.multi_index import MultiIndex

__all__ = ["GradientFlow"]

Array = NDArray[np.float64]
_PATHS = ("overlap", "spike_overlap", "length", "correlation", "error")
_RECOVERED = 0.5
_EXACT, _CERTAIN = 1e-6, 0.02
"""Shares of starts decided by rounding: the largest that counts as none, and that is accepted."""
_SPHERE = {"flow": "the answer is known for the flow on the sphere"}


@record
class GradientFlow(Learner):
    """One neuron sigma(w.x) that descends the squared loss E(sigma(w.x) - y)^2.

    The flow is on the unit sphere ("spherical"), or of the output sigma(w.x / tau), tau^2 =
    w^T Sigma w ("normalised"), or the latter with Sigma^-1 in front of the gradient ("whitened").
    Runs are gradient descent; on fresh batches they cost the same in every dimension. Isotropic
    inputs and any number of spikes are the same flow in more or fewer coordinates. A start is
    (Q, M) = (|w|^2, <w, w*>), with spikes (Q, M, S), S = <w, mu>; by default it is random.

    References
    ----------
    Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.

    Examples
    --------
    >>> from learnability import SpikedIndex
    >>> target = SpikedIndex("He3(z)/sqrt(6)", spike=10.0)
    >>> found = GradientFlow("tanh(z)").predict(target, question="landscape")
    >>> found.maxima.values.round(4)
    array([0.2139,    nan])
    """

    name: ClassVar[str] = "gradient-flow"
    numerics_version: ClassVar[int] = 2
    supports: ClassVar[Support] = Support(inputs=("isotropic", "spiked"), most_directions=1)
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "path",
            "The weights along the flow.",
            (*_PATHS, *(f"{name}_trace" for name in _PATHS), "status"),
            simulate=Side(needs=("d", "time"), takes=("start",)),
            predict=Side(needs=("time",), takes=("d", "start"), seeds=True),
            axes=(),
        ),
        Question(
            "landscape",
            "Where the spherical flow turns and ends along a spike that is the hidden direction "
            "and grows, as S = theta <w, w*>^2.",
            predict=Side(
                observables=("maxima", "minima"), inputs=("spiked",), fixed=_SPHERE, limit=True
            ),
            axes=(),
            reason="it is a property of the loss in the population, which `predict` gives.",
        ),
        Question(
            "recovery-probability",
            "The share of random starts from which the spherical flow ends at a correlation of at "
            "least `overlap`, 0.5 by default, with the argument of the label.",
            predict=Side(
                needs=("d",),
                takes=("overlap",),
                observables=("recovery_probability", "status"),
                fixed=_SPHERE,
            ),
            axes=(),
            reason="it is a property of the flow in the population, which `predict` gives.",
        ),
    )

    activation: AsLink = function("relu(z)", help="The function sigma, which is continuous.")
    flow: str = choice("spherical", FLOWS, help="Which gradient is followed.")
    step: float = number(0.02, above=0, help="Step of the descent, in units of time.")
    batch: int = whole(20_000, help="Samples of a step.")
    reuse: bool = flag(
        False, help="Whether every step uses the same samples: the flow on n samples."
    )

    def check(self) -> None:
        """Refuse an activation that jumps.

        Raises
        ------
        LearnabilityError
            When there is a jump, which a derivative does not see.
        """
        z = Section.whole(self.activation).breakpoints
        if len(jumps := z[_jumps(self.activation, z)]):
            raise LearnabilityError(
                f"`activation` was given as {self.activation!r}, which jumps at {jumps[0]:.6g}, "
                "but a continuous function is accepted: no gradient sees a jump."
            )

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse a random start without a dimension, too small ones, and too many samples."""
        _population(target.link, self.activation)
        if question == "path" and verb == "predict" and "d" not in at and "start" not in at:
            raise LearnabilityError(
                "predict gradient-flow needs `start`, or `d` for a random one; neither was given."
            )
        d = at.get("d", 2)
        frame = target.inputs.frame(1, d)
        if "d" in at and d < len(frame.scale) + 2:
            raise LearnabilityError(
                f"`d` was given as {d!r}, but a dimension from {len(frame.scale) + 2} is accepted."
            )
        if question != "path":
            aligned = frame.spikes == 1 and abs(frame.hidden[0, 0]) == 1
            if not aligned and (question == "landscape" or not frame.isotropic):
                raise LearnabilityError(
                    f"The {question} was asked for {target.inputs!r}, but it is known for one "
                    "spike that is the hidden direction, with alignment 1 in every dimension."
                )
        elif verb == "simulate":
            needed = 8.0 * self.batch * (3 * d if self.reuse else 4 * (len(frame.scale) + 1))
            checked_memory(f"{self.batch} samples per step", needed, "use a smaller `batch`")

    # ---- the path

    def run(self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int]) -> Found:
        """Run gradient descent in dimension d."""
        frame = target.inputs.frame(1, at["d"])
        steps = np.rint(at["time"] / self.step).astype(np.int64)
        descend = descend_reused if self.reuse else descend_fresh
        rule = Rule(self.flow, self.activation, self.step, self.batch)
        paths = [
            descend(target, at["d"], rule, self._start(frame, at, seed), steps, seed)
            for seed in tracked(list(seeds), self.name)
        ]
        return self._found(target, frame, np.array(paths), Status.FINISHED)

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Return the population flow, the landscape of its loss, or the chance of recovery."""
        if question == "landscape":
            return self._landscape(target)
        if question == "recovery-probability":
            return self._recovery(target, at["d"], at.get("overlap", _RECOVERED))
        if "start" in at and seeds is not None:
            raise LearnabilityError(
                "`seeds` was given beside `start`, but seeds are those of random starts: give one "
                "of the two."
            )
        frame = target.inputs.frame(1, at.get("d", 2))
        population = _population(target.link, self.activation)
        starts = [self._start(frame, at, seed) for seed in (seeds or [0])]
        paths = [solve(population, frame, self.flow, start, at["time"]) for start in starts]
        found = self._found(target, frame, np.array(paths), Status.SOLVED)
        if "start" not in at:
            return found
        return Found({name: values[0] for name, values in found.values.items()}, lead=())

    def _start(self, frame: Frame, at: Mapping[str, Any], seed: int) -> Array:
        """Return coordinates along the marked axes and the length of the rest."""
        if "start" in at:
            start = start_of(at["start"], 1, frame, self.flow == "spherical")
        else:
            start = random_start(seed, 1, frame, at["d"], True)
        return np.append(start.overlap[0], np.sqrt(max(start.rest.item(), 0.0)))

    def _found(self, target: MultiIndex, frame: Frame, paths: Array, fine: Status) -> Found:
        """Return the answer of paths (seeds, times, k + 1)."""
        length = np.sum(paths**2, axis=-1, keepdims=True)
        traces = overlaps_in_frame(paths[..., None, :-1], length, frame) | {"length": length}
        population = _population(target.link, self.activation)
        error = np.full(paths.shape[:2], np.nan)
        known = np.asarray(np.isfinite(paths).all(axis=-1))
        for place in zip(*np.nonzero(known), strict=True):
            rho, tau = geometry(frame, paths[place])
            error[place] = population.loss(rho, tau if self.flow == "spherical" else 1.0)
        traces["error"] = error + target.noise
        values: dict[str, Any] = {name: trace[:, -1] for name, trace in traces.items()}
        values |= {f"{name}_trace": trace for name, trace in traces.items()}
        values["status"] = np.where(known[:, -1], str(fine), str(Status.DIVERGED))
        return Found(values, lead=("seed",))

    # ---- the loss of the spherical flow

    def _landscape(self, target: MultiIndex) -> Found:
        found = landscape(_population(target.link, self.activation))
        count = max(len(found.maxima), len(found.minima))
        values = {"maxima": np.full(count, np.nan), "minima": np.full(count, np.nan)}
        for name in values:
            values[name][: len(getattr(found, name))] = getattr(found, name)
        about: dict[str, Any] = {"sign": found.sign}
        if not found.decided[1] >= 0.9e6:
            about["note"] = (
                f"Beyond S = {found.decided[1]:.3g} the loss is flat to rounding: extrema there "
                "are not known."
            )
        return Found(values, attrs=about)

    def _recovery(self, target: Any, d: int, correlation: float) -> Found:
        theta = float(target.inputs.frame(1, d).scale[0] ** 2 - 1)  # Along the only long axis.
        population = _population(target.link, self.activation)
        found = recovery(population, theta, d, correlation)
        certain = found.undecided <= _CERTAIN
        values: dict[str, Any] = {
            "recovery_probability": found.share if certain else np.nan,
            "status": str(Status.SOLVED if certain else Status.UNDECIDED),
        }
        if certain and found.undecided > _EXACT:
            half = 0.5 * found.undecided  # The share is between `share` and `share + undecided`.
            values["recovery_probability"] = found.share + half
            values["recovery_probability_stderr"] = half
        return Found(
            values,
            attrs={"overlap": correlation},
        )


def _jumps(activation: Link, z: Array) -> NDArray[np.bool_]:
    """Return where a function jumps: a smaller distance does not shrink the difference there."""
    near, wide = (
        np.abs(activation((z + e)[:, None]) - activation((z - e)[:, None])) for e in (1e-9, 1e-7)
    )
    return np.asarray((near > 0.5 * wide) & (wide > 1e-9 * (1 + np.abs(activation(z[:, None])))))


@lru_cache(maxsize=32)
def _population(link: Link, activation: Link) -> Population:
    """Return the averages of a link and an activation, which must have finite variances."""
    return Population(link, activation)
