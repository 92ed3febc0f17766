"""Mean-field Langevin dynamics on labels +1 and -1, such as parities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import choice, number, record, whole
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.meanfield._langevin import LOSSES, Settings, advance, outputs, start
from learnability.results.schema import Status
from learnability.targets.base import checked_memory, checked_sizes

__all__ = ["MeanFieldLangevin"]

_FRESH = 2000  # Number of fresh samples on which accuracies are measured.
_STILL = 0.005
"""A run still moves if the mean train losses of its last two quarters differ by more than this."""


@record
class MeanFieldLangevin(Learner):
    """A wide network of two layers, trained on all samples by noisy gradient descent.

    The output is the mean of N neurons scale (tanh(w.x + b) + 2 tanh c) / 3, and neurons begin as
    N(0, 1 / (2 lambda_1)). Labels are +1 and -1, such as those of a parity of signs,
    `MultiIndex("z1*z2", inputs=Signs(0.5))`. The defaults are made for inputs of a length of order
    one, as signs are; Gaussian inputs have the length sqrt(d) and need another `confinement`.

    A run ends as "learned" when the accuracy on 2000 fresh samples reaches `target_accuracy`, as
    "stationary" when the loss on the samples moved by less than 0.005 over the last half, and as
    "moving" otherwise.

    References
    ----------
    Suzuki, Wu, Oko, Nitanda, NeurIPS 2023; Nitanda, Oko, Suzuki, Wu, ICLR 2024.
    """

    name: ClassVar[str] = "mean-field-langevin"
    numerics_version: ClassVar[int] = 1
    supports: ClassVar[Support] = Support(
        targets=("multi-index", "hierarchical"),
        inputs=("isotropic", "spiked", "power-law", "signs"),
    )
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "The accuracies of the trained network.",
            (
                "misclassification",
                "accuracy",
                "train_accuracy",
                "train_loss",
                "iterations",
                "accuracy_trace",
                "status",
            ),
            simulate=Side(needs=("d", "alpha")),
            reason="No theory of noisy gradient descent at finite width and time is known; "
            "`simulate` runs it.",
        ),
    )

    width: int = whole(500, help="Number N of neurons.")
    scale: float = number(15.0, above=0, help="The largest output.")
    loss: str = choice(
        "logistic", LOSSES, help="The loss log(1 + exp(-y f)), or the squared one (f - y)^2 / 2."
    )
    step: float = number(1.0, above=0, help="The size of a step.")
    temperature: float | None = number(
        None, above=0, optional=True,
        help="The temperature lambda; 0.1 / d by default, which worked for d from 20 to 60. Ten "
        "times more is too hot to learn; ten times less memorises three signs.",
    )  # fmt: skip
    confinement: float = number(
        0.1, above=0, help="The ridge on a neuron v is lambda times this lambda_1 times |v|^2."
    )
    steps: int = whole(4000, help="The largest number of steps.")
    looks: int = whole(16, help="Number of evenly spaced measurements of the accuracies.")
    target_accuracy: float = number(
        0.99, above=0.5, at_most=1,
        help="A run ends at the first measurement with this accuracy on fresh samples.",
    )  # fmt: skip

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse labels that are not +1 and -1, and runs that do not fit into memory."""
        values = target.label_values
        if values is None or not set(values) <= {-1.0, 1.0}:
            advice = ", or give `inputs=Signs()` for a parity" if target.inputs.normal else ""
            raise LearnabilityError(
                f"{self.name} learns labels +1 and -1 without noise, but those of {target.link!r} "
                f"with {target.inputs.kind} inputs are others: take their sign{advice}."
            )
        d = at["d"]
        most = max(checked_sizes(1, None, d, float(a), np.float32)[0] for a in at["alpha"])
        needed = 4.0 * (most + _FRESH) * (2 * self.width + d)
        checked_memory("The neurons at all samples", needed)

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Train one network and measure it along the way."""
        import jax

        d, looks = at["d"], self._looks()
        temperature = 0.1 / d if self.temperature is None else self.temperature
        train = target.sample(seed, d=d, alpha=at["alpha"], dtype=np.float32)
        fresh = next(islice(target.batches(seed, _FRESH, d, first=1, dtype=np.float32), 1))
        values = (self.scale, self.step, temperature, self.confinement)
        with np.errstate(over="ignore"):  # What single precision does not hold diverges.
            settings = Settings(*(np.float32(value) for value in values))
        neurons: Any = start(seed, self.width, d, self.confinement)
        key, run = jax.random.key(seed), advance(self.loss)
        trace, losses, now = np.full(len(looks), np.nan), [], 0
        for k, then in enumerate(looks):
            neurons = run(neurons, key, train.X, train.y, now, int(then), settings)
            now = int(then)
            weights = np.asarray(neurons)
            f, g = (outputs(weights, part.X, self.scale) for part in (train, fresh))
            finite = bool(np.isfinite(weights).all() and np.isfinite(f).all())
            trace[k] = np.mean(np.sign(g) == fresh.y) if finite else math.nan
            losses.append(self._loss(f, train.y) if finite else math.nan)
            if trace[k] >= self.target_accuracy or not finite:
                break
        accuracy = float(trace[len(losses) - 1])
        found = {
            "accuracy": accuracy,
            "misclassification": 1 - accuracy,
            "train_accuracy": float(np.mean(np.sign(f) == train.y)) if finite else math.nan,
            "train_loss": losses[-1],
            "iterations": now,
            "accuracy_trace": trace,
            "status": str(self._ended(accuracy, losses)),
        }
        return Found(found, {"look": looks}, {"temperature": temperature})

    def _looks(self) -> NDArray[np.int64]:
        """Return steps at which accuracies are measured."""
        return np.unique(np.rint(np.linspace(0, self.steps, self.looks + 1)[1:]).astype(int))

    def _loss(self, f: Any, y: Any) -> float:
        if self.loss == "squared":
            return float(np.mean((f - y) ** 2) / 2)
        return float(np.mean(np.logaddexp(0.0, -y * f)))

    def _ended(self, accuracy: float, losses: list[float]) -> Status:
        """Return how a run ended, from its last accuracy and its losses."""
        if not np.isfinite(losses[-1]):
            return Status.DIVERGED
        if accuracy >= self.target_accuracy:
            return Status.LEARNED
        quarter = max(len(losses) // 4, 1)
        earlier, later = losses[-2 * quarter : -quarter], losses[-quarter:]
        still = bool(earlier) and abs(np.mean(later) - np.mean(earlier)) < _STILL
        return Status.STATIONARY if still else Status.MOVING
