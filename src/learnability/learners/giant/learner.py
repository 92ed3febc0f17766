"""Giant steps on the first layer, then ridge regression on the second."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.hardness.csq import leap_staircase
from learnability.learners.activations import (
    checked_activation,
    checked_positive,
    checked_ridge,
    is_number,
)
from learnability.learners.features import ROWS, features
from learnability.learners.fresh_samples import fresh_error
from learnability.learners.giant._conditional import features_given, labels_given
from learnability.learners.giant._network import (
    INITS,
    Parameters,
    blocks,
    drawn,
    measured,
    readout_data,
)
from learnability.learners.giant._parameters import (
    checked_parameters,
    linear_direction,
    one_step,
)
from learnability.learners.giant._spectrum import bulk_density, outlier
from learnability.learners.giant._spiked import covariance_density, errors
from learnability.learners.giant._spiked_runs import (
    predict_gradient_on_spikes,
    simulate_on_spikes,
)
from learnability.learners.giant._training import Training, leading, take_steps
from learnability.learners.protocol import (
    checked_alphas,
    checked_seeds,
    checked_target,
    dataset,
    subspace_overlap,
)
from learnability.learners.ridge import fit_readout
from learnability.links.hermite import expand
from learnability.links.link import Link
from learnability.progress import tracked
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_memory, checked_sizes
from learnability.targets.spiked_index import SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["GiantSteps"]

Array = NDArray[np.float64]

_TEST = 1_000_000  # Number of the target's first batch on which errors are measured.


@dataclass(frozen=True)
class GiantSteps:
    """A few large-batch gradient steps on the first layer, then ridge regression on the second.

    The network is f(x) = p^-1 sum_j a_j sigma(w_j . x) with rows w_j drawn from N(0, I_d / d) and
    a_j = +-1. A step moves w_j by `step` a_j (1/n) sum_i (y_i - f(x_i)) sigma'(w_j . x_i) x_i. The
    readout then minimises sum_i (y_i - p^(-1/2) a . sigma(W x_i))^2 + ridge |a|^2 on fresh samples.

    Parameters
    ----------
    width : float
        Neurons over dimension, p / d.
    activation : str, Link or callable
        The function sigma, continuous, such as "relu(z)".
    batch : float
        Samples of one step over dimension.
    steps : int
        Number of steps.
    step : float, optional
        Size eta of a step over p; eta / d of the literature is `step` times `width`. The default
        is d^((l-1)/2) with l the leap of the target, which wants batches of order d^l.
    init : {"ones", "signs", "symmetric"}
        All a_j = 1, signs at random, or pairs of equal neurons of opposite sign, so that f = 0
        before the first step.
    reuse : bool
        Take every step on the same batch instead of a fresh one.
    ridge : float or sequence of float
        Of the readout, at least zero.
    bias : float
        For a SpikedIndex: standard deviation of the biases b_j of sigma(w_j . x + b_j), which
        stay as they were drawn.

    References
    ----------
    Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Dandi, Krzakala, Loureiro, Pesce, Stephan,
    JMLR 25 (2024); Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro, arXiv:2402.04980.
    """

    width: float = 1.0
    activation: str | Link | Callable[[Any], Any] = "relu(z)"
    batch: float = 4.0
    steps: int = 1
    step: float | None = None
    init: str = "ones"
    reuse: bool = False
    ridge: float | tuple[float, ...] = 0.01
    bias: float = 0.0

    def __post_init__(self) -> None:
        if not is_number(self.bias) or not 0 <= self.bias < math.inf:
            raise LearnabilityError(
                f"`bias` was given as {self.bias!r}, but a finite number of at least 0 is accepted."
            )
        for name in ("width", "batch"):
            object.__setattr__(self, name, checked_positive(name, getattr(self, name)))
        if self.step is not None:
            object.__setattr__(self, "step", checked_positive("step", self.step))
        object.__setattr__(self, "activation", checked_activation(self.activation))
        object.__setattr__(self, "ridge", checked_ridge(self.ridge))
        if not is_number(self.steps) or self.steps != int(self.steps) or self.steps < 1:
            raise LearnabilityError(
                f"`steps` was given as {self.steps!r}, but a whole number from 1 is accepted."
            )
        object.__setattr__(self, "steps", int(self.steps))
        if self.init not in INITS:
            raise LearnabilityError(
                f"`init` was given as {self.init!r}, but {', '.join(INITS)} are accepted."
            )
        if not isinstance(self.reuse, bool):
            raise LearnabilityError(
                f"`reuse` was given as {self.reuse!r}, but True and False are accepted."
            )

    def simulate(
        self,
        target: MultiIndex | SpikedIndex | Link | str,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """Train on samples, in float32 and in blocks of rows.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from.
        d : int
            Dimension, at least r.
        alpha : float or sequence of float
            Samples of the readout over dimension.
        seeds : int or sequence of int
            Number of runs, or their seeds.

        Returns
        -------
        xarray.Dataset
            By alpha, seed and, if there are several, ridge: `error` on 10000 fresh samples,
            `train_error` and `status` ("solved", "least norm" or "diverged"). By seed: `overlap`
            and `cosine` (estimate, index) of the neurons with the hidden directions, the path
            `overlap_trace` (time, estimate, index) from 0 to the last step, `gradient_cosine` of
            each neuron's step (time from 1), `subspace_overlap` of the r leading directions of
            the whole update; after one step, if the target has a linear part, `spike`,
            `alignment` and `bulk` as in `predict`. For a SpikedIndex see
            the guide "structured data": errors also of the controls, `permuted_error` (labels
            permuted in the step) and `none_error` (no step), `label_correlation` rho^2 of the
            neurons by `control`, and the observables of `predict_gradient`.
        """
        if isinstance(target, SpikedIndex):
            return simulate_on_spikes(self, target, d, alpha, seeds)
        target = checked_target(target)
        self._check_bias()
        alphas, chosen = checked_alphas(alpha), checked_seeds(seeds)
        sizes = [
            checked_sizes(target.r, None, d, float(a), np.float32)[0] for a in np.atleast_1d(alphas)
        ]
        p, step = self._neurons(d), self._step_size(target, d)
        largest = 4.0 * max(sizes) * p + 12.0 * min(max(sizes), p) ** 2 + 12.0 * p * d
        checked_memory("The features of these samples", largest + 8.0 * ROWS * (p + d))
        found = [self._run(target, sizes, d, seed, step) for seed in tracked(chosen, "giant steps")]

        def stacked(name: str) -> Any:
            return np.array([getattr(run, name) for run in found])

        several = isinstance(self.ridge, tuple)
        axes = ("alpha", "seed", "ridge") if several else ("alpha", "seed")
        variables: dict[str, tuple[tuple[str, ...], Any]] = {}
        for name in ("error", "train_error", "status"):
            values = np.moveaxis(stacked(name), 1, 0)
            variables[name] = (axes, values if several else values[..., 0])
        paths = stacked("overlap_trace")
        variables |= {
            "overlap": (("seed", "estimate", "index"), paths[:, -1]),
            "cosine": (("seed", "estimate", "index"), stacked("cosine")),
            "subspace_overlap": (("seed",), stacked("subspace_overlap")),
            "overlap_trace": (("seed", "time", "estimate", "index"), paths),
            "gradient_cosine": (("seed", "step", "estimate", "index"), stacked("gradient_cosine")),
        }
        if found[0].parameters is not None:
            values = np.array([run.parameters for run in found])
            names = enumerate(("spike", "alignment", "bulk"))
            variables |= {name: (("seed",), values[:, k]) for k, name in names}
        coordinates: dict[str, Any] = {
            "seed": ("seed", chosen),
            "time": ("time", np.arange(self.steps + 1)),
            "step": ("step", np.arange(1, self.steps + 1)),
        }
        if isinstance(self.ridge, tuple):
            coordinates["ridge"] = ("ridge", list(self.ridge))
        return dataset(
            self, target, "simulate", alphas, variables, coordinates, d=int(d), step_size=step
        )

    def predict(
        self,
        target: MultiIndex | Link | str,
        *,
        alpha: ArrayLike,
        parameters: Sequence[float] | None = None,
    ) -> xarray.Dataset:
        """The errors after one step in the limit of large d, with n, p and the batch in proportion.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; it needs a linear part.
        alpha : float or sequence of float
            Samples of the readout over dimension.
        parameters : (spike, alignment, bulk), optional
            Of a first layer, such as those that a run reports, instead of those of the limit.

        Returns
        -------
        xarray.Dataset
            `error`, `train_error` and `status` of the fixed point by alpha and, if there are
            several, ridge; `spike`, `alignment` and `bulk`.

        Notes
        -----
        Beyond the spike, neurons are taken as independent of each other. After a step that holds
        for activations with E[sigma''] = 0, such as odd ones; others are refused unless
        `parameters` are given, which ask for independent neurons with that spike.
        """
        if isinstance(target, SpikedIndex):
            raise LearnabilityError(
                "The errors after a step on spiked data have no known formula: `simulate` measures "
                "them, and `predict_gradient` predicts the step itself."
            )
        target, alphas = checked_target(target), checked_alphas(alpha)
        self._check_bias()
        self._check_theory(parameters is not None)
        given = self._limit(target) if parameters is None else checked_parameters(parameters)
        direction = linear_direction(target)[1]
        inputs = features_given(self._link, given)
        labels = labels_given(target, direction, given.alignment, inputs.kappa)
        ridges = self.ridge if isinstance(self.ridge, tuple) else (self.ridge,)
        found = [
            [errors(inputs, labels, float(a), self.width, ridge) for ridge in ridges]
            for a in np.atleast_1d(alphas)
        ]
        several = isinstance(self.ridge, tuple)
        variables: dict[str, tuple[tuple[str, ...], Any]] = {}
        for k, name in enumerate(("error", "train_error", "status")):
            values = np.array([[one[k] for one in row] for row in found])
            axes = ("alpha", "ridge") if several else ("alpha",)
            variables[name] = (axes, values if several else values[:, 0])
        variables |= {name: ((), value) for name, value in given._asdict().items()}
        coordinates = {"ridge": ("ridge", list(ridges))} if several else None
        return dataset(self, target, "predict", alphas, variables, coordinates)

    def predict_gradient(
        self, target: SpikedIndex, *, d: int, seeds: int | Sequence[int] | None = None
    ) -> xarray.Dataset:
        """The first gradient on spiked data.

        Parameters
        ----------
        target : SpikedIndex
            Where the samples come from.
        d : int
            Dimension, which fixes the spike.
        seeds : int or sequence of int, optional
            Predict for the training sets of these seeds, from the coordinates of their samples
            along the spike; by default for a typical one.

        Returns
        -------
        xarray.Dataset
            `gradient_alignment`, sum_j <G_j, beta>^2 / sum_j |G_j|^2; `gradient_correlation`, the
            same of the fields G_j . x with the argument of the label; by `rank` the
            `singular_values` of G that are outliers and `singular_alignment` of their vectors.
        """
        if not isinstance(target, SpikedIndex):
            raise LearnabilityError(
                f"The target was given as {type(target).__name__}, but the gradient is predicted "
                "for a SpikedIndex: `predict_spectrum` has that of isotropic inputs."
            )
        return predict_gradient_on_spikes(self, target, d, seeds)

    def _check_bias(self) -> None:
        if self.bias:
            raise LearnabilityError(
                f"`bias` was given as {self.bias!r}, but biases belong to spiked data: give a "
                "SpikedIndex, or a shifted activation such as relu(z - 1)."
            )

    def best_ridge(self, target: MultiIndex | Link | str, *, alpha: float) -> tuple[float, float]:
        """The ridge at which the predicted error is smallest, between 1e-6 and 1e4, and that error.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; it needs a linear part.
        alpha : float
            Samples of the readout over dimension.
        """
        from scipy.optimize import minimize_scalar

        def error(log_ridge: float) -> float:
            learner = dataclasses.replace(self, ridge=math.exp(log_ridge))
            return float(learner.predict(target, alpha=float(alpha)).error)

        grid = np.linspace(math.log(1e-6), math.log(1e4), 24)
        k = int(np.clip(np.argmin([error(x) for x in grid]), 1, len(grid) - 2))
        found = minimize_scalar(error, bounds=(grid[k - 1], grid[k + 1]), method="bounded")
        return math.exp(float(found.x)), float(found.fun)

    def _limit(self, target: MultiIndex) -> Parameters:
        """Spike, alignment and bulk of one step, or a sentence."""
        if self.steps != 1:
            raise LearnabilityError(
                f"The theory was asked for {self.steps} steps, but exact errors and spectra are "
                "known after one: `hardness` has the staircase of later steps."
            )
        step = self._step_size(target, None)
        return one_step(target, self._link, self.init, step, self.batch)

    def _check_theory(self, independent: bool) -> None:
        """Refuse what the theory of the readout does not cover."""
        ridges = self.ridge if isinstance(self.ridge, tuple) else (self.ridge,)
        if min(ridges) <= 0:
            raise LearnabilityError(
                "`ridge` is 0, but the errors after a step are predicted for ridges above 0."
            )
        if not independent and expand(self._link, 2).is_zero(2) is not True:
            raise LearnabilityError(
                f"The errors after a step were asked for {self._link!r} with E[sigma''] != 0, "
                "whose neurons share more of the batch than one spike: use an activation such as "
                "tanh(z), or give `parameters` for independent neurons."
            )
        if self.init == "ones":
            return
        z = np.linspace(0.0, 6.0, 97)[:, None]
        odd = np.allclose(self._link(-z), -self._link(z), rtol=1e-9, atol=1e-12)
        if self.init == "symmetric" or not odd:
            raise LearnabilityError(
                f"The errors were asked for init={self.init!r} and {self._link!r}, but they are "
                "known for init='ones', and for init='signs' with an odd activation."
            )

    def spectrum(
        self, target: MultiIndex | Link | str, *, d: int, alpha: float = 4.0, seed: int = 0
    ) -> xarray.Dataset:
        """Spectra of one run before and after its steps.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from.
        d : int
            Dimension, at least r.
        alpha : float
            Samples over dimension of the covariance of the features.
        seed : int
            Of the run.

        Returns
        -------
        xarray.Dataset
            By time (0 and the number of steps): `singular_values` of W, largest first, `alignment`
            of each right singular vector with the hidden directions (squared length of the
            projection), and `feature_eigenvalues` of the sample covariance of sigma(W x).
        """
        target = checked_target(target)
        n, d = checked_sizes(target.r, None, d, alpha, np.float32)
        trained = self.train(target, d=d, seed=seed)
        values, alignment, eigenvalues = [], [], []
        for W in (trained.start, trained.network.W):
            _, s, right = np.linalg.svd(W, full_matrices=False)
            values.append(s)
            alignment.append(np.sum((right @ trained.hidden.T) ** 2, axis=1))
            F, _ = readout_data(W, self._link, blocks(target, seed, n, d, trained.used), n)
            F -= F.mean(axis=0)
            eigenvalues.append(np.linalg.eigvalsh(F.T @ F)[::-1] * (len(W) / n))
        return dataset(
            self,
            target,
            "spectrum",
            np.asarray(float(alpha)),
            {
                "singular_values": (("time", "rank"), values),
                "alignment": (("time", "rank"), alignment),
                "feature_eigenvalues": (("time", "neuron"), eigenvalues),
            },
            {"time": ("time", [0, self.steps])},
            d=d,
        )

    def predict_spectrum(self, target: MultiIndex | Link | str, *, d: int) -> xarray.Dataset:
        """The singular values of W after one step.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; it needs a linear part.
        d : int
            Dimension: the strength of the spike is sqrt(p) that of one neuron.

        Returns
        -------
        xarray.Dataset
            `outlier`, `edge` of the bulk (with which it agrees when the spike is too weak), squared
            overlaps `left` and `right` of its singular vectors with those of the spike, and
            `alignment`, that of the right one with the hidden directions.
        """
        target = checked_target(target)
        _, d = checked_sizes(target.r, None, d, self.batch, np.float32)
        given = self._limit(target)
        p = self._neurons(d)
        found = outlier(math.sqrt(p) * given.spike / given.bulk, p / d)
        return dataset(
            self,
            target,
            "predict_spectrum",
            np.asarray(self.batch),
            {
                "outlier": ((), given.bulk * found.value),
                "edge": ((), given.bulk * found.edge),
                "left": ((), found.left),
                "right": ((), found.right),
                "alignment": ((), given.alignment**2 * found.right),
            },
            d=d,
        )

    def predict_bulk(
        self, target: MultiIndex | Link | str, *, alpha: float = 4.0, points: int = 300
    ) -> xarray.Dataset:
        """Densities of the spectra of `spectrum` before and after one step, outliers left out.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; it needs a linear part.
        alpha : float
            Samples over dimension of the covariance of the features.
        points : int
            Number of points of each density.

        Returns
        -------
        xarray.Dataset
            By time (0 and 1): `layer_density` of the singular values of W by `singular_value`, and
            `feature_density` of the eigenvalues of the covariance by `eigenvalue`; eigenvalues
            that are zero because there are fewer samples than neurons are left out.
        """
        target, ratio = checked_target(target), checked_alphas(alpha)
        self._check_theory(False)
        after = self._limit(target)
        both = (Parameters(0.0, 0.0, 1.0), after)
        s = np.linspace(1e-3, 1.05 * after.bulk * (1 + math.sqrt(self.width)), points)
        layer = [bulk_density(s / one.bulk, self.width) / one.bulk for one in both]
        inputs = [features_given(self._link, one) for one in both]
        largest = max(
            float((one.linear**2 * one.bulk**2 * (1 + math.sqrt(self.width)) ** 2 + one.rest).max())
            for one in inputs
        )
        edge = largest * (1 + math.sqrt(self.width / float(ratio))) ** 2
        x = np.linspace(edge / points, edge, points)
        features = [covariance_density(one, float(ratio), self.width, x) for one in inputs]
        return dataset(
            self,
            target,
            "predict_bulk",
            ratio,
            {
                "layer_density": (("time", "singular_value"), layer),
                "feature_density": (("time", "eigenvalue"), features),
            },
            {
                "time": ("time", [0, 1]),
                "singular_value": ("singular_value", s),
                "eigenvalue": ("eigenvalue", x),
            },
        )

    def _neurons(self, d: int) -> int:
        p = max(round(self.width * d), 1)
        return 2 * max(round(p / 2), 1) if self.init == "symmetric" else p

    def _step_size(self, target: MultiIndex, d: int | None) -> float:
        """The size of a step over p, from the leap where it is not given; d may be endless."""
        if self.step is not None:
            return self.step
        orders = [s.order for s in leap_staircase(target.link).steps if s.order]
        if not orders:
            raise LearnabilityError(
                f"The leap of {target.link!r} is not known, so there is no default size of a step: "
                "give `step`."
            )
        if d is None and max(orders) > 1:
            raise LearnabilityError(
                f"The leap of {target.link!r} is {max(orders)}, so the default size of a step "
                "grows with d: give `step`."
            )
        return float(d) ** ((max(orders) - 1) / 2) if d is not None else 1.0

    def train(self, target: MultiIndex | Link | str, *, d: int, seed: int = 0) -> Training:
        """Take the steps, without the readout.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from.
        d : int
            Dimension, at least r.
        seed : int
            Of the run.

        Returns
        -------
        Training
        """
        target = checked_target(target)
        n, d = checked_sizes(target.r, None, d, self.batch, np.float32)
        network = drawn(self.init, seed, self._neurons(d), d)
        sizes = [self._step_size(target, d)] * self.steps
        return take_steps(target, self._link, network, sizes, n, seed, self.reuse)

    def _run(
        self, target: MultiIndex, sizes: Sequence[int], d: int, seed: int, step: float
    ) -> _Run:
        ridges = self.ridge if isinstance(self.ridge, tuple) else (self.ridge,)
        trained = self.train(target, d=d, seed=seed)
        W = trained.network.W
        p, shape = len(W), (len(sizes), len(ridges))
        length = np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-30)
        overlaps, cosine = trained.overlaps, trained.overlaps[-1] / length
        parameters = None
        if self.steps == 1 and expand(target.link, 1).is_zero(1) is False:
            parameters = measured(trained.network, linear_direction(target)[1] @ trained.hidden)
        if not np.isfinite(W).all():
            nothing = np.full(shape, np.nan)
            status = [["diverged"] * len(ridges)] * len(sizes)
            return _Run(
                nothing, nothing, status, overlaps, cosine, trained.cosines, np.nan, parameters
            )
        weights, train, status = [], [], []
        for n in sizes:
            batch = blocks(target, seed, n, d, trained.used)
            fitted = fit_readout(*readout_data(W, self._link, batch, n), ridges)
            weights.append(fitted.weights)
            train.append(fitted.train_error)
            status.append(list(fitted.status))
        A = np.concatenate(weights).astype(np.float32).reshape(-1, p)
        error = fresh_error(
            target, seed, d, lambda X: A @ features(self._link, X, W).T, first=_TEST
        )
        learned = leading(W - trained.start, min(target.r, p, d), seed)
        return _Run(
            error.reshape(shape),
            np.array(train),
            status,
            overlaps,
            cosine,
            trained.cosines,
            subspace_overlap(learned, trained.hidden),
            parameters,
        )

    @property
    def _link(self) -> Link:
        assert isinstance(self.activation, Link)
        return self.activation


class _Run(NamedTuple):
    error: Array
    train_error: Array
    status: list[list[str]]
    overlap_trace: NDArray[Any]
    cosine: NDArray[Any]
    gradient_cosine: NDArray[Any]
    subspace_overlap: float
    parameters: Any
