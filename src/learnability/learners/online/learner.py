"""One-pass SGD on fresh samples, run at any dimension and predicted by its equations of motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError, refuse
from learnability.fields import choice, flag, number, numbers, record, whole
from learnability.inputs import Frame
from learnability.labels.fields import AsLink, AsOptionalLink, function
from learnability.labels.laws import EVERY_LAW
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.networks.starts import Start, random_start, start_of
from learnability.learners.online._equations import Equations
from learnability.learners.online._observables import (
    divergence,
    observed_runs,
    observed_solutions,
)
from learnability.learners.online._reuse import LOSSES, RULES
from learnability.learners.online._runs import Setting, recover, run
from learnability.learners.online._steps import NORMALISATIONS, Recipe
from learnability.progress import tracked
from learnability.results.schema import Status
from learnability.targets.base import checked_memory
from learnability.targets.multi_index import MultiIndex

__all__ = ["OnlineSGD"]

Array = NDArray[np.float64]
_OVERLAP = 0.5
"""The correlation that a recovery has to reach by default."""
_STRONGEST = 0.1
"""Above this variance of an input along a spike, divided by d, a step moves the overlap with it by
too much for equations of motion."""


@record
class OnlineSGD(Learner):
    """A network sum_j a_j sigma(w_j . x) that uses every sample in one step only.

    The rule says what a step does with its sample: "plain" takes one gradient; "extragradient" the
    gradient at a point moved by `look_ahead` down the gradient of the same sample; "repetition"
    `repetitions` steps on it; "sam" the gradient after a climb of length look_ahead / sqrt(d);
    "lookahead" `step` times the sum of gradients on `repetitions` fast steps of size `look_ahead`.

    The reduced engine is the exact Markov chain of the order parameters, in double precision and at
    a cost that does not depend on d; the full engine has all d coordinates, in single precision.

    A `start` is (Q, M), W W^T (p, p) and W W*^T (p, r) at time 0, or (Q, M, S) on inputs with
    spikes, S = W mu^T (p, spikes); without S the weights have no part along the spikes except that
    along the hidden directions. By default the rows of W are N(0, I_d / d), of unit length on the
    sphere. The equations of motion are those of large d: they need a `start`, or `d` for the random
    starts that runs with the same seeds have. On inputs with spikes they need d in any case, and
    hold where (1 + theta) / d is small; they are refused above 0.1.

    The question "recovery" asks for the first time at which the field w.x of a neuron has the
    correlation `overlap` (by default 1/2) with a hidden coordinate: for isotropic inputs the
    |cosine| with a hidden direction. For one neuron and one direction the attribute `scaling` of
    its prediction says how the number of steps from an overlap of order d^(-1/2) grows: "d",
    "d log d" or "d^(k-1)".

    References
    ----------
    Saad and Solla, Phys. Rev. E 52 (1995); Ben Arous, Gheissari, Jagannath, JMLR 22 (2021);
    Arnaboldi, Dandi, Krzakala, Pesce, Stephan, arXiv:2405.15459; Mousavi-Hosseini, Wu, Suzuki,
    Erdogdu, NeurIPS 2023 (normalised steps).

    Examples
    --------
    >>> learner = OnlineSGD(activation="tanh(z)", step=0.5)
    >>> theory = learner.predict("tanh(z)", time=4.0, start=(1.0, 0.1))
    >>> round(float(theory.overlap.squeeze()), 2)
    0.51
    """

    name: ClassVar[str] = "online-sgd"
    numerics_version: ClassVar[int] = 4
    supports: ClassVar[Support] = Support(inputs=("isotropic", "spiked"), laws=EVERY_LAW)
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "path",
            "Overlaps, lengths and errors at given times.",
            (
                "overlap", "cosine", "correlation", "spike_overlap", "subspace_overlap", "error",
                "gram", "second_layer", "status", "overlap_trace", "cosine_trace",
                "correlation_trace", "spike_overlap_trace", "error_trace", "gram_trace",
                "second_layer_trace",
            ),
            simulate=Side(needs=("d", "time"), takes=("start",)),
            predict=Side(needs=("time",), takes=("d", "start"), seeds=True),
            axes=(),
        ),
        Question(
            "recovery",
            "When a field first has a correlation with a hidden coordinate, `time` at the most.",
            ("recovery_time", "status"),
            simulate=Side(needs=("d", "time"), takes=("start", "overlap")),
            predict=Side(needs=("time",), takes=("d", "start", "overlap"), seeds=True),
            axes=(),
        ),
    )  # fmt: skip

    width: int = whole(1, help="Number of neurons p.")
    activation: AsLink = function("relu(z)", help="The function sigma.")
    loss: str = choice("squared", LOSSES, help="The loss is (f - y)^2 / 2, or -f y.")
    step: float = number(0.1, at_least=0, unit="1/d", help="Size of a step of the first layer.")
    rule: str = choice("plain", RULES, help="What a step does with its sample.")
    look_ahead: float = number(
        0.0, unit="1/d", when={"rule": ("extragradient", "sam", "lookahead")},
        help="Size of the moves within a step, of 1/sqrt(d) for sam; negative ones climb.",
    )  # fmt: skip
    repetitions: int = whole(
        2, when={"rule": ("repetition", "lookahead")}, help="How many times a step uses its sample."
    )
    batch: int = whole(1, help="Fresh samples per step.")
    spherical: bool = flag(
        False, help="Whether every neuron is brought back to unit length after every step."
    )
    second_layer: float | Sequence[float] = numbers(
        1.0, distinct=False,
        help="The weights a at the start, one number for all or one for each neuron.",
    )  # fmt: skip
    second_step: float = number(
        0.0, at_least=0, unit="1/d", help="Size of a step of the second layer; 0 keeps it fixed."
    )
    schedule: AsOptionalLink = function(
        None, optional=True,
        help='The steps have this factor, a function of the time steps / d such as "1/(1 + z)".',
    )  # fmt: skip
    engine: str = choice(
        "reduced", ("reduced", "full"), help="The chain of order parameters, or all coordinates."
    )
    normalisation: str = choice(
        "none", NORMALISATIONS, when={"rule": ("plain",)},
        help="The field is w.x, or w.x / tau with tau^2 = w^T Sigma w, whose gradient is taken "
        "times tau^2; whitened steps have Sigma^-1 in front of it.",
    )  # fmt: skip

    def check(self) -> None:
        """Refuse a second layer of another width.

        Raises
        ------
        LearnabilityError
            When there is not one weight for each neuron.
        """
        layer = self.second_layer
        if isinstance(layer, tuple) and len(layer) != self.width:
            raise refuse(
                "second_layer", layer, f"a number or one for each of the {self.width} neurons"
            )

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse starts that no weights have, too small dimensions, and too strong spikes."""
        d, frame = at.get("d"), _frame(target, at)
        if "start" in at:
            start_of(at["start"], self.width, frame, self.spherical)
        if verb == "simulate":
            self._check_room(frame, at["d"])
        elif d is None and "start" not in at:
            raise LearnabilityError(
                "The equations of motion need a start: give either `d`, for random weights in "
                "that dimension, or `start` = (Q, M)."
            )
        elif "start" in at and d is not None and not target.depends_on_dimension:
            raise LearnabilityError(
                "The equations of motion need one start: give either `d`, for random weights in "
                "that dimension, or `start` = (Q, M), not both."
            )
        elif d is not None and not frame.isotropic and max(frame.scale**2) / d > _STRONGEST:
            raise LearnabilityError(
                f"The equations of motion were asked for with a spike of (1 + theta) / d = "
                f"{max(frame.scale**2) / d:.3g}, but they are those of large d and hold below "
                f"{_STRONGEST:g}: use `simulate`, whose chain is exact at every d, or a larger `d`."
            )

    def _check_room(self, frame: Frame, d: int) -> None:
        least = self.width + len(frame.scale)
        if self.engine == "reduced" and d < least:
            raise LearnabilityError(
                f"`d` was given as {d!r}, but the reduced engine needs at least {least}: the "
                f"{self.width} neurons and {len(frame.scale)} axes that the target marks; "
                'engine="full" accepts less.'
            )

    # ---- runs

    def run(self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int]) -> Found:
        """Run SGD in dimension d, all seeds at once."""
        d, own, setting = at["d"], list(seeds), self._setting(target, at)
        if self.engine == "full":
            rows = len(own) * (self.width + len(setting.frame.scale)) + self.batch
            checked_memory(
                f"{len(own)} runs of all coordinates in dimension {d}", 12.0 * rows * d,
                'use fewer seeds, or engine="reduced"',
            )  # fmt: skip
        if question == "recovery":
            last = int(np.rint(float(at["time"].max()) * d))
            reached, lost = recover(setting, last, own, at.get("overlap", _OVERLAP))
            found = np.where(reached >= 0, reached / d, np.inf)
            return Found(_recovery(found, lost), attrs={"note": divergence(lost)})
        runs = run(setting, np.rint(at["time"] * d).astype(np.int64), own)
        values = observed_runs(target, setting.recipe, setting.frame, runs)
        return Found(values, attrs={"note": divergence(runs.diverged)})

    def _setting(self, target: MultiIndex, at: Mapping[str, Any]) -> Setting:
        """Return what is run in the dimension `d`, from a `start` or from random weights."""
        frame, start = _frame(target, at), None
        if "start" in at:
            start = start_of(at["start"], self.width, frame, self.spherical)
        recipe = self._recipe(target, frame)
        return Setting(
            recipe, self._rates, target, frame, at["d"], start, self._second, self.engine
        )

    # ---- theory

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Solve the equations of motion of the order parameters, from a given or random start."""
        frame = _frame(target, at)
        recipe = self._recipe(target, frame)
        equations = Equations(recipe, target.noise, self._rates, frame)
        starts = self._starts(frame, at, seeds)
        if question == "recovery":
            end, aim = float(at["time"].max()), at.get("overlap", _OVERLAP)
            ended = [
                equations.recovery(s, self._second, end, aim) for s in tracked(starts, "motion")
            ]
            times, diverged = (np.array(part) for part in zip(*ended, strict=True))
            values = _recovery_by_rule(times, diverged)
        else:
            found = [
                equations.solve(s, self._second, at["time"]) for s in tracked(starts, "motion")
            ]
            values = observed_solutions(target, recipe, frame, found)
            diverged = np.array([one.diverged for one in found])
        about = {"method": equations.method, "note": divergence(diverged)}
        if question == "recovery":
            about["scaling"] = equations.scaling(self._second)
        if "start" in at:
            return Found({name: value[0] for name, value in values.items()}, attrs=about, lead=())
        return Found(values, attrs=about, lead=("seed",))

    def _starts(
        self, frame: Frame, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> list[Start]:
        if "start" not in at:
            own, p = [0] if seeds is None else seeds, self.width
            return [random_start(seed, p, frame, at["d"], self.spherical) for seed in own]
        if seeds is not None:
            raise LearnabilityError(
                "`seeds` was given beside `start`, but the equations of motion from a given start "
                "have no randomness: leave out one."
            )
        return [start_of(at["start"], self.width, frame, self.spherical)]

    # ---- what the two share

    @property
    def _second(self) -> Array:
        return np.broadcast_to(np.asarray(self.second_layer, dtype=float), self.width).copy()

    @property
    def _rates(self) -> tuple[float, float, float]:
        return self.step, self.look_ahead, self.second_step

    def _recipe(self, target: MultiIndex, frame: Frame) -> Recipe:
        return Recipe(
            target.link,
            target.channel.core,
            target.noise > 0,
            self.activation,
            self.loss,
            self.rule,
            self.repetitions,
            self.width,
            self.batch,
            self.spherical,
            self.second_step > 0,
            self.schedule,
            self.normalisation,
            frame.isotropic and not frame.spikes,
        )


def _frame(target: MultiIndex, at: Mapping[str, Any]) -> Frame:
    """Return the marked axes; where inputs do not depend on the dimension, any will do."""
    return target.inputs.frame(target.r, at.get("d", target.r))


def _recovery_by_rule(times: Array, lost: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the times (seeds, rules of the averages) as one of each, with its standard error.

    Where some rules have a time and others have none, the errors of the averages decide whether
    there is one: it is no number then.
    """
    reached = np.isfinite(times)
    some = reached.any(axis=1) & ~reached.all(axis=1)
    values = _recovery(np.where(some, np.nan, times.mean(axis=1)), lost)
    values["status"] = np.where(some, str(Status.UNDECIDED), values["status"])
    rules = times.shape[1]
    whole = reached.all(axis=1)
    error = np.full(len(times), np.nan)
    error[whole] = times[whole].std(axis=1, ddof=1) / np.sqrt(rules) if rules > 1 else 0.0
    return values | {"recovery_time_stderr": error}


def _recovery(times: Array, lost: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the times with the status of each."""
    words = (str(status) for status in (Status.RECOVERED, Status.DIVERGED, Status.STOPPED))
    recovered, diverged, stopped = words
    status = np.where(np.isfinite(times), recovered, np.where(lost, diverged, stopped))
    return {"recovery_time": times, "status": status}
