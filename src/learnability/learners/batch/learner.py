"""Gradient descent on one batch, read again at every step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from learnability.errors import LearnabilityError, refuse
from learnability.fields import choice, declare, number, numbers, record, whole
from learnability.inputs import Isotropic
from learnability.labels.fields import AsLink, function
from learnability.labels.laws import EVERY_LAW
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.batch._descent import Covariance, descend
from learnability.learners.batch._generalisation import error_path, field_covariance
from learnability.learners.batch._mean_field import mean_field, planned
from learnability.learners.batch._network import LOSSES, Network
from learnability.learners.batch._observables import PATHS, observables
from learnability.learners.networks.starts import OrderParameters, Start, start_of, weights_at
from learnability.progress import tracked
from learnability.targets.base import checked_sizes
from learnability.targets.multi_index import MultiIndex

__all__ = ["BatchGD"]

Array = NDArray[np.float64]
_SAMPLES = 2**20
"""Points of the theory by default."""


@record
class BatchGD(Learner):
    """Full-batch gradient descent on the first layer of sum_j a_j sigma(w_j . x).

    All n samples are read at every step: W <- (1 - step ridge) W - (step / d) sum_i G_i x_i^T, with
    G_i the derivative of the loss of sample i in the fields W x_i. The first step sees what a
    fresh batch would show; from the second on the network has met its samples before. Runs take
    inputs of any Gaussian law; the theory, dynamical mean-field theory, is that of isotropic ones.

    References
    ----------
    Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala, arXiv:2402.03220.

    Examples
    --------
    >>> learner = BatchGD(steps=2, activation="tanh(z)")
    >>> theory = learner.predict("He3(z)", alpha=3.0, samples=2**14)
    >>> theory.overlap_trace.squeeze().values.round(1) + 0.0
    array([ 0. ,  0. , -0.1])
    """

    name: ClassVar[str] = "batch-gd"
    numerics_version: ClassVar[int] = 2
    supports: ClassVar[Support] = Support(
        inputs=("isotropic", "spiked", "power-law"), laws=EVERY_LAW
    )
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What gradient descent reaches, and its path to there.",
            (
                "overlap", "cosine", "subspace_overlap", "error", "train_error", "status",
                "overlap_trace", "gram_trace", "error_trace", "train_error_trace",
            ),
            simulate=Side(needs=("d", "alpha")),
            predict=Side(needs=("alpha",), takes=("samples",), inputs=("isotropic",)),
        ),
    )  # fmt: skip

    steps: int = whole(6, help="Number of iterations.")
    step: float = number(0.2, above=0, unit="1/d", help="Size of a step.")
    width: int = whole(1, help="Number of neurons p.")
    activation: AsLink = function(
        "relu(z)", help="The function sigma; the theory needs one that JAX can trace."
    )
    loss: str = choice("squared", LOSSES, help="Half the squared error, or -f y.")
    ridge: float = number(
        0.0, at_least=0,
        help="Ridge of the first layer: (d / 2) ridge |W|^2 is added to the sum of the losses.",
    )  # fmt: skip
    second_layer: float | tuple[float, ...] | None = numbers(
        None, distinct=False, optional=True,
        help="The fixed weights a, one number for all or one for each neuron; by default "
        "1 / sqrt(p) with signs that alternate.",
    )  # fmt: skip
    start: tuple[Any, Any] | None = declare(
        None, OrderParameters(),
        "W W^T and W W*^T of the first weights, of shapes (p, p) and (p, r), met exactly at every "
        "d; by default orthonormal rows without overlap.", optional=True,
    )  # fmt: skip

    def check(self) -> None:
        """Refuse an activation without a gradient, and a second layer of another width.

        Raises
        ------
        LearnabilityError
            When one of them was given.
        """
        if self.activation.derivative().polynomial == {}:
            raise LearnabilityError(
                f"`activation` was given as {self.activation!r}, but its derivative is zero "
                "wherever it exists, so that no gradient moves the weights: take a smooth one."
            )
        layer = self.second_layer
        if isinstance(layer, tuple) and len(layer) != self.width:
            raise refuse(
                "second_layer", layer,
                f"a finite number for all neurons, or a list of {self.width} of them,",
            )  # fmt: skip

    @property
    def network(self) -> Network:
        """What is trained."""
        layer = self.second_layer
        if layer is None:
            layer = tuple((-1) ** j / math.sqrt(self.width) for j in range(self.width))
        elif not isinstance(layer, tuple):
            layer = (layer,) * self.width
        return Network(self.activation, layer, self.loss)

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse a start of other sizes, and a dimension without room for the neurons."""
        self._start(target)
        if verb == "predict":
            return
        for alpha in at["alpha"]:
            checked_sizes(target.r, None, at["d"], float(alpha), np.float32)
        if at["d"] < target.r + self.width:
            raise LearnabilityError(
                f"`d` was given as {at['d']!r}, but {self.width} neurons and {target.r} hidden "
                f"directions need at least {target.r + self.width}."
            )

    def _start(self, target: MultiIndex) -> Start:
        """Return the order parameters of the first weights; their rest has random directions."""
        p, r = self.width, target.r
        if self.start is None:
            return Start(np.eye(p), np.zeros((p, r)))
        return start_of(self.start, p, Isotropic().frame(r, r))

    def run(self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int]) -> Found:
        """Run gradient descent on samples, in float32."""
        tasks = [(float(alpha), seed) for alpha in at["alpha"] for seed in seeds]
        with ThreadpoolController().limit(limits=1, user_api="blas"):  # More are not faster.
            runs = [
                self._run(target, at["d"], *task) for task in tracked(tasks, "gradient descent")
            ]
        paths = {
            name: np.array([run[name] for run in runs]).reshape(
                len(at["alpha"]), len(seeds), *runs[0][name].shape
            )
            for name in PATHS
        }
        return self._found(paths, replicates=False)

    def _run(self, target: MultiIndex, d: int, alpha: float, seed: int) -> dict[str, Array]:
        """Return one run on one sample."""
        X, y, W, _ = target.sample(seed, d=d, alpha=alpha, dtype=np.float32)
        if not np.isfinite(y).all():
            raise LearnabilityError(
                f"{target.link!r} gives labels that are not finite: gradient descent cannot run."
            )
        covariance: Covariance | None = field_covariance(target, seed, d)
        path = descend(
            X,
            y,
            self.network,
            weights_at(np.random.default_rng([seed, 3]), W, self._start(target)),
            W,
            step=self.step,
            ridge=self.ridge,
            steps=self.steps,
            covariance=covariance,
        )
        error = error_path(target.channel, self.network, path.field_gram, path.field_overlap, seed)
        return {**path._asdict(), "error": error}

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Dynamical mean-field theory: what gradient descent does in the limit of large d."""
        plan = planned(at.get("samples", _SAMPLES), self.width, target.r, self.steps)
        found = [
            mean_field(
                target.channel,
                self.network,
                alpha,
                self._start(target),
                step=self.step,
                ridge=self.ridge,
                steps=self.steps,
                plan=plan,
            )
            for alpha in tracked(at["alpha"].tolist(), "mean-field theory")
        ]
        paths = {name: np.array([getattr(one, name) for one in found]) for name in PATHS}
        samples = plan.replicates * 2**plan.log2_block
        return self._found(paths, replicates=True, samples=samples)

    def _found(self, paths: dict[str, Array], *, replicates: bool, **about: Any) -> Found:
        """Return the answer of paths (alpha, seed, time, ...); for theory a seed is a replicate."""
        values, lost = observables(paths, replicates)
        if lost is not None:
            about["note"] = (
                f"The weights grew without bound, the first by iteration {lost}: take a `step` "
                f"smaller than {self.step:g}."
            )
        return Found(values, {"time": np.arange(self.steps + 1)}, about)
