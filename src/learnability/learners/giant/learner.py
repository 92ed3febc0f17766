"""Giant steps on the first layer, then ridge regression on the second."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from learnability.errors import LearnabilityError
from learnability.fields import choice, declare, flag, number, numbers, record, whole
from learnability.labels.fields import AsLink, function
from learnability.labels.laws import EVERY_LAW
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.base.support import check_support
from learnability.learners.giant._gradient import (
    check_gradient,
    measured_gradient,
    predicted_gradient,
)
from learnability.learners.giant._network import SecondLayer
from learnability.learners.giant._runs import check_memory, compared, finished
from learnability.learners.giant._spectra import measured_spectra, predicted_spectra
from learnability.learners.giant._theory import best_ridges, predicted, predicted_finite
from learnability.learners.giant._training import step_size

__all__ = ["GiantSteps"]

_ONE_STEP = {
    "steps": "the limit of large d is known after one step; give `d`",
    "bias": "the limit of large d is known without biases; give `d`",
    "update": "the limit of large d is known for steps that add to the weights; give `d`",
}
_LIMIT = Side(inputs=("isotropic",), fixed=_ONE_STEP)
"""The targets and fields for which the limit of large d is known."""
_BEFORE = dict.fromkeys(
    ("steps", "step", "reuse", "ridge", "update"), "the first gradient does not depend on it"
)
_NO_RIDGE = {"ridge": "spectra do not depend on it"}
_RUNS: dict[str, Callable[..., Found]] = {
    "values": finished,
    "controls": compared,
    "gradient": measured_gradient,
    "spectrum": measured_spectra,
}


@record
class GiantSteps(Learner):
    """A few large-batch gradient steps on the first layer, then ridge regression on the second.

    The network is f(x) = p^-1 sum_j a_j sigma(w_j . x + b_j) with rows w_j drawn from N(0, I_d / d)
    and a_j of any law. A step adds `step` g_j to w_j, where
    g_j = a_j (1/n) sum_i (y_i - f(x_i)) sigma'(w_j . x_i + b_j) x_i. The readout then minimises
    sum_i (y_i - p^(-1/2) a . sigma(W x_i + b))^2 + ridge |a|^2 on fresh samples.

    Notes
    -----
    Without `d` the errors are those of one step on a target with a linear part, with n, p and the
    batch proportional to d, for init="ones" (or "signs" with an odd activation). Neurons share the
    samples of their batch, which is taken into account exactly (bulk="batch"); their spread of
    lengths is that of one first layer in dimension 500. With bulk="independent" they are taken as
    independent beyond the spike and of one length, as in the literature, which holds in good
    approximation for activations with E[sigma''] = 0 and batches that are not small.

    With `d` the first layers of the seeds are trained, and the errors are those of their readouts:
    any activation, second layer, number of steps, small or large, and inputs. They are exact as d
    grows with n and p proportional to it; at d = 400 within about 2 %.

    References
    ----------
    Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Dandi, Krzakala, Loureiro, Pesce, Stephan,
    JMLR 25 (2024); Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro, arXiv:2402.04980.
    """

    name: ClassVar[str] = "giant-steps"
    numerics_version: ClassVar[int] = 7
    supports: ClassVar[Support] = Support(
        inputs=("isotropic", "spiked", "power-law", "signs"), laws=EVERY_LAW
    )
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "Errors after the steps, and what the first layer has learned.",
            ("error", "train_error", "status", "spike", "alignment", "bulk", "spread"),
            simulate=Side(
                needs=("d", "alpha"),
                observables=(
                    "overlap", "cosine", "subspace_overlap", "overlap_trace", "gradient_cosine",
                ),
            ),
            predict=Side(
                needs=("alpha",), takes=("d", "parameters", "bulk"), seeds=True,
                inputs=("isotropic", "spiked", "power-law"),
            ),
        ),
        Question(
            "controls",
            "The same with permuted labels in the steps, and without a step.",
            (
                "error", "train_error", "status", "permuted_error", "none_error",
                "label_correlation",
            ),
            simulate=Side(needs=("d", "alpha")),
            reason="controls are runs, with which those on the true labels are compared.",
        ),
        Question(
            "gradient",
            "Alignment and singular values of the first gradient.",
            (
                "gradient_alignment", "gradient_correlation", "singular_values",
                "singular_alignment",
            ),
            simulate=Side(needs=("d",), takes=("control",), fixed=_BEFORE),
            predict=Side(
                needs=("d",), seeds=True, inputs=("isotropic", "spiked"), fixed=_BEFORE
            ),
            axes=(),
        ),
        Question(
            "spectrum",
            "Spectra of the first layer and of its features, before and after the steps.",
            ("outlier", "outlier_alignment"),
            simulate=Side(
                needs=("d", "alpha"),
                observables=("layer_singular_values", "layer_alignment", "feature_eigenvalues"),
                fixed=_NO_RIDGE,
            ),
            predict=Side(
                needs=("d", "alpha"), takes=("points",),
                observables=("edge", "left", "right", "layer_density", "feature_density"),
                inputs=("isotropic",), fixed={**_ONE_STEP, **_NO_RIDGE},
            ),
        ),
        Question(
            "best-ridge",
            "The ridge of the smallest error, and that error.",
            ("best_ridge", "error"),
            predict=Side(
                needs=("alpha",), takes=("parameters", "bulk"), inputs=("isotropic",),
                fixed={**_ONE_STEP, "ridge": "it is what this question determines"},
            ),
            reason="give several values of `ridge` to `simulate`, and take the best.",
        ),
    )  # fmt: skip

    width: float = number(1.0, above=0, unit="p/d", help="Neurons per dimension of the inputs.")
    activation: AsLink = function("relu(z)", help="The function sigma, which is continuous.")
    batch: float = number(
        4.0, above=0, unit="n/d", help="Samples of one step per dimension of the inputs."
    )
    steps: int = whole(1, at_most=10_000, help="Number of steps.")
    step: float | None = number(
        None, above=0, optional=True, unit="eta/p", when={"update": ("add",)},
        help="Size of a step; by default d^((l - 1) / 2) with l the leap of the target, which "
        "needs batches of order d^l.",
    )  # fmt: skip
    init: str | tuple[float, ...] = declare(
        "ones", SecondLayer(),
        "The second layer a before the steps: all 1, signs at random, signs of pairs of equal "
        "neurons (symmetric, so that f is 0), gaussian, or numbers that the neurons take in turn.",
    )  # fmt: skip
    reuse: bool = flag(False, help="Every step is taken on the same batch instead of a fresh one.")
    ridge: float | tuple[float, ...] = numbers(
        0.01, at_least=0, help="Ridge of the readout, or several."
    )
    bias: float = number(
        0.0, at_least=0,
        help="Standard deviation of the biases b_j, which stay as they were drawn.",
    )  # fmt: skip
    update: str = choice(
        "add", ("add", "replace"),
        help="A step adds to the weights, or replaces every w_j by g_j, scaled so that w_j . x has "
        "unit variance.",
    )  # fmt: skip

    def check(self) -> None:
        """Refuse `reuse` with a single step.

        Raises
        ------
        LearnabilityError
            When `reuse` does not act.
        """
        if self.reuse and self.steps == 1:
            raise LearnabilityError(
                "`reuse` was given as True, but it acts only with `steps` above 1, and `steps` "
                "is 1."
            )

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse what does not fit into memory, unknown leaps, and arguments that exclude others.

        Raises
        ------
        LearnabilityError
            The message says what to give instead.
        """
        if verb == "simulate" and "alpha" in at:
            check_memory(self, at["d"], at["alpha"])
            if self.update == "add":
                step_size(self, target, at["d"])
        if verb == "predict" and question == "values" and "d" not in at:
            check_support(self, _LIMIT, "predict giant-steps without `d`", target)
        if verb == "predict" and question == "values" and "d" in at:
            for name in ("parameters", "bulk"):
                if name in at:
                    raise LearnabilityError(
                        f"`{name}` and `d` were both given, but with `d` the first layers of runs "
                        "are taken as they are: leave out one."
                    )
        if verb == "predict" and question == "gradient":
            check_gradient(self, target, at["d"])

    def run_seed(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Answer for one seed: its first layer is trained once for all alphas."""
        return _RUNS[question](self, target, at, seed)

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Answer by theory, in the limit or given first layers and training sets of seeds."""
        if question == "gradient":
            return predicted_gradient(self, target, at, seeds)
        if question == "spectrum":
            return predicted_spectra(self, target, at)
        if question == "best-ridge":
            return best_ridges(self, target, at)
        if "d" in at:
            return predicted_finite(self, target, at, [0] if seeds is None else seeds)
        if seeds is not None:
            raise LearnabilityError(
                "`seeds` was given without `d`, but the limit of large d does not depend on seeds: "
                "give `d` for the errors of first layers in that dimension."
            )
        return predicted(self, target, at)
