"""Plain gradient steps on a second layer, which show why it has a preconditioner.

With the features phi of the layer below, gradient descent on the squared error from zero weights,
with the step 1 / lambda_max of their Gram matrix, has learned after T steps the share
1 - (1 - lambda / lambda_max)^T of a direction of eigenvalue lambda. Features of degree j of N
variables have eigenvalues of order N^(-j): degree k takes of order N^k = d^(k epsilon) steps, the
condition number, where one preconditioned step is enough. All T steps are one filter of the
eigenvalues, so that their number costs nothing. As after the preconditioned step, all neurons learn
one function q. It is fitted on the first half of the samples, and later layers read the rest.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
Ali, Kolter, Tibshirani, AISTATS 2019 (gradient descent as a filter).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import number, record, whole
from learnability.labels.fields import AsLink, function
from learnability.learners.deep.stages import Blocks, Features, Trained, spread_over_neurons
from learnability.targets.base import checked_memory

__all__ = ["PlainSecondLayer"]


@record
class PlainSecondLayer:
    """Plain gradient steps on a layer whose weights start at zero, without a preconditioner."""

    width: int = whole(100, help="Number of neurons of the layer.")
    steps: int = whole(100, help="Number of steps, each of size 1 / lambda_max.")
    activation: AsLink = function("relu(z)", help="Activation of the layer below.")
    bias: float = number(
        2.0, above=0, help="Biases are uniform between plus and minus this number."
    )

    def learn(self, below: Blocks, y: NDArray[Any], seed: int, place: int) -> Trained:
        """Train on pre-activations of the layer below; see `PreconditionedSecondLayer.learn`."""
        from scipy.linalg import eigh

        features = Features(self.activation, self.bias, seed, place)
        phi = np.concatenate([features(u) for u in below()])
        half = len(phi) // 2
        checked_memory(f"Features of {len(phi)} samples", 8.0 * phi.shape[1] ** 2 + phi.nbytes)
        if half < 1 or not np.isfinite(phi).all():
            raise LearnabilityError(
                f"Plain steps need finite features of at least 2 samples, and {len(phi)} were "
                "given: use more samples, or an activation that does not overflow."
            )
        # The mean is taken out, as its eigenvalue would dwarf all others.
        centre, mean = phi[:half].mean(axis=0), float(y[:half].mean())
        centred = (phi[:half] - centre).astype(np.float64)
        values, vectors = eigh(centred.T @ centred, driver="evd")
        share = np.clip(values / values[-1], 1e-14, 1.0)
        # (1 - (1 - s)^T) / s without cancellation at small s.
        with np.errstate(divide="ignore"):
            filtered = -np.expm1(self.steps * np.log1p(-share)) / (share * values[-1])
        moments = centred.T @ (y[:half].astype(np.float64) - mean)
        weights = vectors @ (filtered * (vectors.T @ moments))

        def fitted(found: NDArray[Any]) -> NDArray[Any]:
            kind = found.dtype
            values = (found - centre.astype(kind)) @ weights.astype(kind) + kind.type(mean)
            return np.asarray(values, dtype=kind)[:, None]

        unseen = fitted(phi[half:])
        spread = spread_over_neurons(unseen, self.width, seed, place)
        return Trained(lambda u: fitted(features(u)), spread, spread(unseen), 0.0, half)
