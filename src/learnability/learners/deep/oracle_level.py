"""The true features of a level are given to the layers above: the setting of theorem 2.

How a layer finds many features at once is proved only if the features below it are given. The
theorem for general depth is about the last layers, given h*_(L-1), which this first layer provides.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961, theorem 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import record, whole
from learnability.learners.deep.first_layer import OracleFirstLayer, spread_in_span
from learnability.learners.deep.samples import Samples

__all__ = ["OracleLevel"]


@record
class OracleLevel:
    """The true features of a level of the tree, or neurons over them, as a first layer."""

    level: int | None = whole(
        None, optional=True,
        help="Level of the features, 1 for the directions; the default is the one below the last "
        "features.",
    )  # fmt: skip
    width: int | None = whole(
        None, optional=True, help="Number of neurons; None for the features themselves."
    )

    def learn(self, samples: Samples) -> NDArray[np.float32]:
        """Return weights (directions, d), which are the true ones; see `RandomFirstLayer.learn`."""
        return OracleFirstLayer(None).learn(samples)

    def lifted(self, samples: Samples) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Return the map of variables (n, r N) to features (n, r level's size), or to neurons.

        Parameters
        ----------
        samples : Samples
            The samples of the run.

        Raises
        ------
        LearnabilityError
            When the tree has no such level below its last features.
        """
        here = samples.target.at(samples.d)
        level = here.depth - 2 if self.level is None else self.level
        if level > here.depth - 2:
            raise LearnabilityError(
                f"`level` was given as {level}, but a tree of depth {here.depth} has levels up to "
                f"{here.depth - 2} below its last features."
            )
        size = here.r * here.sizes[level - 1]
        rows = spread_in_span(samples.seed, self.width, np.eye(size, dtype=np.float32))
        axes = np.eye(here.r * here.sizes[0], dtype=np.float32)

        def features(z: NDArray[Any]) -> NDArray[Any]:
            found = here.features(z, axes)[level - 1].reshape(len(z), size)
            return np.asarray(found @ rows.T, dtype=z.dtype)

        return features
