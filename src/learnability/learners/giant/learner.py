"""Giant steps on the first layer, then ridge regression on the second."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.giant._network import INITS
from learnability.learners.giant._parameters import checked_parameters
from learnability.learners.giant._runs import simulated, trained
from learnability.learners.giant._spectra import predicted_bulk, predicted_spectrum, spectra
from learnability.learners.giant._spiked_runs import (
    predict_gradient_on_spikes,
    simulate_on_spikes,
)
from learnability.learners.giant._theory import (
    best_ridge,
    check_limit,
    limit,
    predicted,
    predicted_finite,
)
from learnability.learners.giant._training import Training
from learnability.learners.networks.activations import (
    checked_activation,
    checked_positive,
    checked_ridge,
    is_number,
)
from learnability.learners.protocol import checked_alphas, checked_seeds, checked_target
from learnability.targets.multi_index import MultiIndex
from learnability.targets.spiked_index import SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["GiantSteps"]


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
            `alignment`, `bulk` and `spread` as in `predict`. For a SpikedIndex see
            the guide "structured data": errors also of the controls, `permuted_error` (labels
            permuted in the step) and `none_error` (no step), `label_correlation` rho^2 of the
            neurons by `control`, and the observables of `predict_gradient`.
        """
        if isinstance(target, SpikedIndex):
            return simulate_on_spikes(self, target, d, alpha, seeds)
        target = checked_target(target)
        self._check_bias()
        return simulated(self, target, d, checked_alphas(alpha), checked_seeds(seeds))

    def predict(
        self,
        target: MultiIndex | Link | str,
        *,
        alpha: ArrayLike,
        parameters: Sequence[float] | None = None,
        bulk: str = "independent",
    ) -> xarray.Dataset:
        """The errors after one step in the limit of large d, with n, p and the batch in proportion.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; it needs a linear part.
        alpha : float or sequence of float
            Samples of the readout over dimension.
        parameters : (spike, alignment, bulk) or (spike, alignment, bulk, spread), optional
            Of a first layer, such as those that a run reports, instead of those of the limit. The
            spread of the lengths of the rows is 0 (one length, as in the literature) if it is not
            given, and 2 for independent normal entries.
        bulk : {"independent", "batch"}
            Law of the neurons beyond the spike: as in the literature, or with what they share
            because they saw the same batch, which small batches and large steps show.

        Returns
        -------
        xarray.Dataset
            `error`, `train_error` and `status` of the fixed point by alpha and, if there are
            several, ridge; `spike`, `alignment`, `bulk` and `spread`. Without a ridge, the limit
            of small ones, infinite at the interpolation peak.

        Notes
        -----
        With bulk="independent" neurons are taken as independent beyond the spike and of one length,
        as in the literature. After a step that holds in good approximation for activations with
        E[sigma''] = 0, such as odd ones, and batches that are not small; others are refused unless
        `parameters` are given. bulk="batch" has no such limits for init="ones"; its spread is that
        of one first layer in dimension 500. `predict_finite` covers all signs.
        """
        if isinstance(target, SpikedIndex):
            raise LearnabilityError(
                "The errors after a step on spiked data have no known formula: `simulate` measures "
                "them, and `predict_gradient` predicts the step itself."
            )
        target, alphas = checked_target(target), checked_alphas(alpha)
        self._check_bias()
        check_limit(self, bulk, independent=parameters is not None)
        given = limit(self, target, bulk) if parameters is None else checked_parameters(parameters)
        return predicted(self, target, alphas, given, bulk)

    def predict_finite(
        self,
        target: MultiIndex | Link | str,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """The errors given the first layers of runs: any activation and any signs.

        The first layer is trained as in `simulate`, and the errors of the readout, on average over
        its samples, are those of the limit of large n, p and d.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from; it needs a linear part.
        d : int
            Dimension, at least r.
        alpha : float or sequence of float
            Samples of the readout over dimension.
        seeds : int or sequence of int
            Number of first layers, or their seeds.

        Returns
        -------
        xarray.Dataset
            `error`, `train_error` and `status` of the fixed point by alpha, seed and, if there are
            several, ridge; `spike`, `alignment`, `bulk` and `spread` of each first layer.
        """
        target = checked_target(target)
        self._check_bias()
        return predicted_finite(self, target, d, checked_alphas(alpha), checked_seeds(seeds))

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
        return best_ridge(self, checked_target(target), float(alpha))

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
        return spectra(self, checked_target(target), d, alpha, seed)

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
        return predicted_spectrum(self, checked_target(target), d)

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
        return predicted_bulk(self, checked_target(target), checked_alphas(alpha), points)

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
        return trained(self, checked_target(target), d, seed)
