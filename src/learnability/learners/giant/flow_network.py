"""A first layer trained by a whitened flow on the samples, then ridge regression on the second."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import number, record, whole
from learnability.inputs.base import Directions
from learnability.labels.fields import AsLink, function
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.giant._given_layer import given_layer
from learnability.learners.giant._layer_errors import layer_errors
from learnability.learners.giant._network import Network
from learnability.learners.giant._sphere_flow import (
    Meeting,
    descend,
    flowed,
    meeting,
    pull_table,
    start_noise,
    whitening,
)
from learnability.learners.giant._subspace_chain import chain_bytes, chained_correlation
from learnability.learners.linear_algebra.ridge import fit_readout
from learnability.learners.measurement import fresh_error
from learnability.learners.networks.features import features, first_layer
from learnability.learners.networks.population import Population
from learnability.learners.networks.starts import start_of
from learnability.results.schema import Status
from learnability.targets.base import checked_memory, checked_sizes

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

__all__ = ["FlowNetwork"]

Array = NDArray[np.float64]

_FOLLOWED, _LOST_SHARE, _ARRIVED, _NEAR = 1 / 3, 0.05, 0.99, 0.1
"""The largest noise over pull at the start of a neuron that follows the population, the share of
neurons that may fail to, the correlation at which one has arrived, and the largest e^2 accepted."""
_LAST = 1 - 1e-9
_READOUT = ("width", "bias", "ridge")
_ALONE = "one neuron without a readout is run"


@record
class FlowNetwork(Learner):
    """Neurons that follow the flow with the inverse empirical covariance, then a ridge readout.

    Each of the `width` neurons descends the squared error of its own output sigma(w . x / tau),
    tau^2 = w^T S w, on n = alpha d samples with S^-1 in front of the gradient, S their empirical
    covariance. Biases are then drawn from N(0, bias^2), and the readout minimises
    sum_i (y_i - N^(-1/2) a . sigma(w_j . x_i / tau_j + b_j))^2 + ridge |a|^2 on the same samples.
    This is algorithm 1 of the reference.

    Notes
    -----
    Theory is the flow in the population, to the first order in d / n at its end, and the exact
    error of the readout given the neurons. It gives numbers where the noise of the first gradient
    is below a third of its signal for 95 % of the neurons, which is the condition of the theorem
    with a constant, and where these have arrived; elsewhere the answer is "undecided". No theory of
    the flow on few samples is known.

    References
    ----------
    Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023, algorithm 1 and theorem 7.
    """

    name: ClassVar[str] = "flow-network"
    numerics_version: ClassVar[int] = 3
    supports: ClassVar[Support] = Support(
        inputs=("isotropic", "spiked", "power-law"), most_directions=1
    )
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "Errors after the flow and the readout, and the correlations of the neurons.",
            ("error", "train_error", "correlation", "status"),
            simulate=Side(needs=("d", "alpha")),
            predict=Side(needs=("d", "alpha"), seeds=True),
        ),
        Question(
            "population",
            "The correlations of the neurons after the flow on infinitely many samples.",
            ("correlation",),
            predict=Side(needs=("d",), seeds=True),
            axes=(),
            reason="no run has infinitely many samples; give `alpha` for a run on n = alpha d.",
        ),
        Question(
            "neuron",
            "The correlation of one neuron after the flow on n samples, by an exact chain.",
            ("correlation",),
            simulate=Side(
                needs=("d", "alpha"), takes=("start",), fixed=dict.fromkeys(_READOUT, _ALONE)
            ),
            reason="no theory of the flow on few samples is known; `simulate` runs the chain, and "
            "`population` has infinitely many samples.",
        ),
    )

    width: int = whole(32, help="Number N of neurons.")
    activation: AsLink = function("relu(z)", help="The function sigma, which is continuous.")
    duration: float = number(10.0, above=0, help="Time of the flow.")
    step: float = number(0.05, above=0, help="Time of one step of the descent.")
    bias: float = number(1.0, at_least=0, help="Standard deviation of the biases of the readout.")
    ridge: float = number(0.01, above=0, help="Ridge of the readout.")

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse fewer samples than dimensions, runs without memory, and infinite variances."""
        Population(target.link, self.activation)
        if "alpha" not in at:
            return
        d = at["d"]
        for alpha in np.atleast_1d(at["alpha"]):
            n = checked_sizes(1, None, d, float(alpha), np.float32)[0]
            if n <= d:
                raise LearnabilityError(
                    f"`alpha` was given as {float(alpha):g}, but {self.name} needs more samples "
                    "than dimensions, an alpha above 1: the empirical covariance has no inverse."
                )
            if question == "neuron":
                checked_memory("The fields of all steps", chain_bytes(n, d, self._count()))
            else:
                checked_memory("White samples and fields", 8.0 * n * (2 * d + 2 * self.width))

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Run the flow on the samples, then fit the readout on the same ones."""
        d = at["d"]
        if question == "neuron":
            return self._one_neuron(target, at, seed)
        X, y, _, _ = target.sample(seed, d=d, alpha=at["alpha"], dtype=np.float32)
        root, inverse = whitening(X)
        U = _unit(first_layer(seed, self.width, d) @ root).astype(np.float32)
        G = X @ inverse.astype(np.float32)
        U = descend(U, G, y.astype(np.float32), self.activation, self.step, self._count())
        W, b = (U @ inverse).astype(np.float32), self._biases(seed)
        if not np.isfinite(W).all():
            lost = np.full((self.width, 1), np.nan)
            return self._found(math.nan, math.nan, lost, Status.DIVERGED)
        fitted = fit_readout(features(self.activation, X, W, b), y, [self.ridge])
        a = fitted.weights.astype(np.float32)
        error = fresh_error(
            target, seed, d, lambda Z: a @ features(self.activation, Z, W, b).T, first=1
        )
        rho = self._correlations(W.astype(float), target, target.inputs.directions(seed, 1, d))[0]
        return self._found(
            float(error[0]), float(fitted.train_error[0]), rho[:, None], Status.FINISHED
        )

    def _one_neuron(self, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Run one neuron by the chain, from `start` or from the random weights of this seed."""
        d = at["d"]
        n = checked_sizes(1, None, d, at["alpha"], np.float32)[0]
        if "start" in at:
            frame = target.inputs.frame(1, d)
            given = start_of(at["start"], 1, frame)
            C, rest = given.overlap[0] * frame.scale, float(given.rest[0, 0])
            rho = float(frame.to_label[0] @ C) / math.sqrt(max(rest + float(C @ C), 1e-300))
        else:
            directions = target.inputs.directions(seed, 1, d)
            rho = float(self._correlations(first_layer(seed, 1, d), target, directions)[0][0])
        rng = np.random.default_rng([seed, 18])
        found = chained_correlation(
            target.channel, self.activation, (n, d), rho, self.step, self._count(), rng
        )
        return Found({"correlation": np.array([[found]])})

    def _count(self) -> int:
        """Return the number of steps."""
        return max(round(self.duration / self.step), 1)

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Return the flow in the population, and the readout given its neurons."""
        d, chosen = at["d"], [0] if seeds is None else list(seeds)
        population = Population(target.link, self.activation)
        table, ends = pull_table(population), []
        for seed in chosen:
            directions = target.inputs.directions(seed, 1, d)
            start = self._correlations(first_layer(seed, self.width, d), target, directions)
            ends.append((start, flowed(table, start[0], self.duration), directions))
        if question == "population":
            return Found({"correlation": np.array([e[1][:, None] for e in ends])}, lead=("seed",))
        met = meeting(population, target.noise)
        rows = [
            [
                self._predicted(target, d, float(alpha), seed, table, met, *end)
                for seed, end in zip(chosen, ends, strict=True)
            ]
            for alpha in at["alpha"]
        ]
        names = ("error", "train_error", "correlation", "status")
        values = {
            name: np.array([[one[k] for one in row] for row in rows])
            for k, name in enumerate(names)
        }
        lost = (values["status"] == str(Status.UNDECIDED)).any()
        about = {"note": _UNDECIDED} if lost else {}
        return Found(values, attrs=about, lead=("alpha", "seed"))

    def _predicted(
        self,
        target: Any,
        d: int,
        alpha: float,
        seed: int,
        pulls: CubicSpline,
        met: Meeting,
        start: tuple[Array, Array, Array],
        end: Array,
        directions: Directions,
    ) -> tuple[float, float, Array, str]:
        """Return errors, correlations (N, 1) and status of one seed."""
        n = checked_sizes(1, None, d, alpha, np.float32)[0]
        noise = math.sqrt(d / n * start_noise(target.link, self.activation, target.noise))
        signal = np.abs(pulls(np.arctanh(start[0])))
        lost = (noise > _FOLLOWED * signal) | (np.abs(end) < _ARRIVED)
        squares = np.where(end > 0, met.plus, met.minus) * (d - 1) / n
        if lost.mean() > _LOST_SHARE or squares[~lost].max() > _NEAR:
            nothing = np.full((self.width, 1), math.nan)
            return math.nan, math.nan, nothing, str(Status.UNDECIDED)
        # Neurons of one sign share the part that the samples add to the direction of the label.
        rng = np.random.default_rng([seed, 17])
        label = start[1][0]
        beside: dict[float, Array] = {}
        for sign in (1.0, -1.0):
            other = rng.standard_normal(d)
            other -= label * (label @ other)
            beside[sign] = other / np.linalg.norm(other)
        shared = np.array([beside[1.0 if rho > 0 else -1.0] for rho in end])
        axis = label + np.sqrt(squares)[:, None] * shared
        axis /= np.linalg.norm(axis, axis=1, keepdims=True)
        inside = np.clip(end, -_LAST, _LAST)[:, None]
        U = _unit(inside * axis + np.sqrt(1 - inside**2) * start[2])
        W = target.inputs.apply(U, directions, -0.5)
        network = Network(W, np.ones(self.width, dtype=np.float32), self._biases(seed))
        layer = given_layer(network, self.activation, target, directions, paired=False)
        found = layer_errors(layer, n, self.ridge)
        return found.test, found.train, (U @ label)[:, None], found.status

    def _correlations(
        self, W: NDArray[Any], target: Any, directions: Directions
    ) -> tuple[Array, Array, Array]:
        """Return correlations (N,), and the label's direction and rests as white unit rows."""
        white = _unit(target.inputs.apply(np.asarray(W, dtype=float), directions, 0.5))
        label = _unit(target.inputs.apply(directions.hidden.astype(float), directions, 0.5))
        rho = (white @ label.T)[:, 0]
        return rho, label, _unit(white - rho[:, None] * label)

    def _biases(self, seed: int) -> NDArray[np.float32]:
        own = np.random.default_rng([seed, 14]).standard_normal(self.width)
        return (self.bias * own).astype(np.float32)

    def _found(self, error: float, train: float, rho: Array, status: Status) -> Found:
        return Found(
            {"error": error, "train_error": train, "correlation": rho, "status": str(status)}
        )


_UNDECIDED = (
    "Too few samples for the flow to be that of the population: the noise of the first gradient is "
    "above a third of its signal, the flow has not arrived, or its end is not of the first order "
    "in d / n. `simulate` runs it."
)


def _unit(rows: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300))
