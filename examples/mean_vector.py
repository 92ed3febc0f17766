"""A learner in sixty lines: the mean vector, which is Hebb's rule.

The estimate is w = (1/n) sum_i y_i x_i. With c_1 = E[y z] the vector of first Hermite coefficients,
its projection on the hidden directions is c_1, and what is left of it is noise of squared length
E[y^2] d / n. In high dimension the cosine with the direction of c_1 is therefore

    cosine = |c_1| / sqrt(|c_1|^2 + E[y^2] / alpha).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from learnability.fields import flag, record
from learnability.labels.hermite import expand
from learnability.learners.base import Found, Learner, Question, Side, Support


@record
class MeanVector(Learner):
    """The mean of labels times inputs, the simplest learner of all."""

    name: ClassVar[str] = "mean-vector"
    supports: ClassVar[Support] = Support(inputs=("isotropic",))
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What the mean vector finds.",
            ("overlap", "cosine", "subspace_overlap"),
            simulate=Side(needs=("d", "alpha")),
            predict=Side(needs=("alpha",)),
        ),
    )

    centred: bool = flag(True, help="The mean of the labels is subtracted from them.")

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """The mean vector of one sample."""
        X, y, W, _ = target.sample(seed, d=at["d"], alpha=at["alpha"])
        w = (y - y.mean() if self.centred else y) @ X / len(y)
        overlap = (w @ W.T)[None]
        cosine = overlap / np.linalg.norm(w)
        return Found(
            {"overlap": overlap, "cosine": cosine, "subspace_overlap": np.sum(cosine**2) / target.r}
        )

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """The cosine in high dimension."""
        c = np.asarray(expand(target.link, 1).tensors[1]).ravel()
        power = target.label_variance + (0.0 if self.centred else target.label_mean**2)
        length = np.sqrt(c @ c + power / at["alpha"])
        overlap = np.broadcast_to(c, (len(length), 1, target.r))
        cosine = overlap / length[:, None, None]
        captured = (cosine**2).sum(axis=(1, 2)) / target.r
        return Found({"overlap": overlap, "cosine": cosine, "subspace_overlap": captured})
