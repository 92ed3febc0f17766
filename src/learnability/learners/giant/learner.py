"""Giant steps on the first layer, then ridge regression on the second."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from learnability.errors import LearnabilityError
from learnability.fields import choice, flag, number, numbers, record, whole
from learnability.labels.fields import AsLink, function
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.giant._gradient import (
    check_gradient,
    measured_gradient,
    predicted_gradient,
)
from learnability.learners.giant._network import INITS
from learnability.learners.giant._runs import check_memory, compared, finished
from learnability.learners.giant._spectra import measured_spectra, predicted_spectra
from learnability.learners.giant._theory import best_ridges, predicted, predicted_finite
from learnability.learners.giant._training import step_size

__all__ = ["GiantSteps"]

_ONE_STEP = {
    "steps": "exact errors and spectra are known after one step, and `hardness` has the staircase "
    "of later ones",
    "bias": "the theory knows neurons without biases",
    "update": "the theory knows steps that add to the weights",
}
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
    and a_j = +-1. A step adds `step` g_j to w_j, where
    g_j = a_j (1/n) sum_i (y_i - f(x_i)) sigma'(w_j . x_i + b_j) x_i. The readout then minimises
    sum_i (y_i - p^(-1/2) a . sigma(W x_i + b))^2 + ridge |a|^2 on fresh samples.

    Notes
    -----
    The theory of the errors is that of one step on a target with a linear part, with n, p and the
    batch in proportion to d. With bulk="independent" neurons are taken as independent beyond the
    spike and of one length, as in the literature. After a step that holds in good approximation for
    activations with E[sigma''] = 0, such as odd ones, and batches that are not small; others are
    refused unless `parameters` are given. bulk="batch" has no such limits for init="ones"; its
    spread is that of one first layer in dimension 500. With `d` the first layers of the seeds are
    trained, and the errors are those of their readouts, for any activation and any signs.

    References
    ----------
    Ba, Erdogdu, Suzuki, Wang, Wu, Yang, NeurIPS 2022; Dandi, Krzakala, Loureiro, Pesce, Stephan,
    JMLR 25 (2024); Cui, Pesce, Dandi, Krzakala, Lu, Zdeborova, Loureiro, arXiv:2402.04980.
    """

    name: ClassVar[str] = "giant-steps"
    numerics_version: ClassVar[int] = 2
    supports: ClassVar[Support] = Support(inputs=("isotropic", "spiked", "power-law", "signs"))
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
                inputs=("isotropic",), fixed=_ONE_STEP,
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
                fixed={**_ONE_STEP, "ridge": "it is what is looked for"},
            ),
            reason="give several values of `ridge` to `simulate`, and take the best.",
        ),
    )  # fmt: skip

    width: float = number(1.0, above=0, unit="p/d", help="Neurons per dimension of the inputs.")
    activation: AsLink = function("relu(z)", help="The function sigma, which is continuous.")
    batch: float = number(
        4.0, above=0, unit="n/d", help="Samples of one step per dimension of the inputs."
    )
    steps: int = whole(1, help="Number of steps.")
    step: float | None = number(
        None, above=0, optional=True, unit="eta/p", when={"update": ("add",)},
        help="Size of a step; by default d^((l - 1) / 2) with l the leap of the target, which "
        "wants batches of order d^l.",
    )  # fmt: skip
    init: str = choice(
        "ones", INITS,
        help="All a_j are 1, or signs at random, or pairs of equal neurons have opposite signs, so "
        "that f is 0 before the first step.",
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
        """Refuse a batch that is reused by one step.

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
            With what to give instead.
        """
        if verb == "simulate" and "alpha" in at:
            check_memory(self, at["d"], at["alpha"])
            if self.update == "add":
                step_size(self, target, at["d"])
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
