"""Mean-field Langevin dynamics on sparse parities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.meanfield._langevin import LOSSES, Settings, advance, outputs, start
from learnability.learners.networks.activations import checked_positive, is_number
from learnability.learners.protocol import checked_alphas, checked_seeds, dataset
from learnability.progress import tracked
from learnability.targets.protocol import checked_memory, checked_sizes
from learnability.targets.sparse_parity import SparseParity

if TYPE_CHECKING:
    import xarray

__all__ = ["MeanFieldLangevin"]

_FRESH = 2000  # Samples on which accuracies are measured, in each look.
_STILL = 0.005
"""A path whose mean train loss of the last two quarters differs by more still moves."""


@dataclass(frozen=True)
class MeanFieldLangevin:
    """A wide network of two layers, trained on all samples by noisy gradient descent.

    Parameters
    ----------
    width : int
        Number N of neurons scale (tanh(w.x + b) + 2 tanh c) / 3, of which the mean is taken.
    scale : float
        Largest output.
    loss : {"logistic", "squared"}
        log(1 + exp(-y f)), or (f - y)^2 / 2.
    step : float
        Step size.
    temperature : float, optional
        lambda; the default is 0.1 / d, which worked for d from 20 to 60. Ten times more is too
        hot to learn; ten times less memorises three signs.
    confinement : float
        lambda_1: the ridge is lambda lambda_1 |v|^2, and neurons begin as N(0, 1 / (2 lambda_1)).
    steps : int
        Most steps.
    looks : int
        How often accuracies are measured along the way, evenly.
    target_accuracy : float
        A run ends at the look at which its accuracy on fresh samples is that high.

    References
    ----------
    Suzuki, Wu, Oko, Nitanda, NeurIPS 2023; Nitanda, Oko, Suzuki, Wu, ICLR 2024.
    """

    width: int = 500
    scale: float = 15.0
    loss: str = "logistic"
    step: float = 1.0
    temperature: float | None = None
    confinement: float = 0.1
    steps: int = 4000
    looks: int = 16
    target_accuracy: float = 0.99

    def __post_init__(self) -> None:
        for name in ("width", "steps", "looks"):
            value = getattr(self, name)
            if not is_number(value) or value != int(value) or value < 1:
                raise LearnabilityError(
                    f"`{name}` was given as {value!r}, but a whole number from 1 is accepted."
                )
            object.__setattr__(self, name, int(value))
        for name in ("scale", "step", "confinement"):
            object.__setattr__(self, name, checked_positive(name, getattr(self, name)))
        if self.temperature is not None:
            checked_positive("temperature", self.temperature)
        if self.loss not in LOSSES:
            raise LearnabilityError(
                f"`loss` was given as {self.loss!r}, but {', '.join(LOSSES)} are accepted."
            )
        if not is_number(self.target_accuracy) or not 0.5 < self.target_accuracy <= 1:
            raise LearnabilityError(
                f"`target_accuracy` was given as {self.target_accuracy!r}, but a number above 1/2 "
                "and up to 1 is accepted."
            )

    def simulate(
        self,
        target: SparseParity | Link | str,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """Train on n = alpha d samples.

        Parameters
        ----------
        target : SparseParity, Link or str
            The parity; a product such as "z1*z2*z3" stands for an isotropic one.
        d : int
            Dimension, at least the number of signs.
        alpha : float or sequence of float
            Samples over dimension.
        seeds : int or sequence of int
            Number of runs, or their seeds.

        Returns
        -------
        xarray.Dataset
            By alpha and seed: `accuracy` on 2000 fresh samples, `misclassification` (1 less it),
            `train_accuracy`, `train_loss`, `iterations`, `accuracy_trace` by `look` (NaN after
            the end) and `status`: "learned" (the target accuracy was reached), "stationary"
            (the training loss moved by less than 0.005 over the last half), or "moving" (all
            steps were taken and it still moves).
        """
        parity = _checked_parity(target)
        alphas, chosen = checked_alphas(alpha), checked_seeds(seeds)
        sizes = [
            checked_sizes(parity.k, None, d, float(a), np.float32)[0] for a in np.atleast_1d(alphas)
        ]
        needed = 4.0 * (max(sizes) + _FRESH) * (2 * self.width + d)
        checked_memory("The neurons at all samples", needed)
        tasks = [(n, seed) for n in sizes for seed in chosen]
        found = [self._run(parity, n, int(d), seed) for n, seed in tracked(tasks, "Langevin")]
        variables: dict[str, tuple[tuple[str, ...], Any]] = {}
        for name in found[0]:
            values = np.array([run[name] for run in found])
            values = values.reshape(len(sizes), len(chosen), *values.shape[1:])
            axes = ("alpha", "seed", "look")[: values.ndim]
            variables[name] = (axes, values)
        looks = self._looks()
        return dataset(
            self, parity, "simulate", alphas, variables,
            {"seed": ("seed", chosen), "look": ("look", looks)},
            d=int(d), anisotropy=parity.anisotropy, temperature=self._temperature(int(d)),
        )  # fmt: skip

    def predict(self, target: Any, *, alpha: ArrayLike) -> xarray.Dataset:
        """Raise an error: no theory of this learner at finite width and time is known."""
        raise LearnabilityError(
            "Mean-field Langevin dynamics has no theory at finite width and time that could be "
            "predicted with: `simulate` runs it."
        )

    def _temperature(self, d: int) -> float:
        return 0.1 / d if self.temperature is None else float(self.temperature)

    def _looks(self) -> Any:
        return np.unique(np.rint(np.linspace(0, self.steps, self.looks + 1)[1:]).astype(int))

    def _run(self, parity: SparseParity, n: int, d: int, seed: int) -> dict[str, Any]:
        import jax

        train = parity.sample(seed, n=n, d=d, dtype=np.float32)
        fresh = next(islice(parity.batches(seed, _FRESH, d, first=1, dtype=np.float32), 1))
        settings = Settings(
            *(
                np.float32(value)
                for value in (self.scale, self.step, self._temperature(d), self.confinement)
            )
        )
        neurons: Any = start(seed, self.width, d, self.confinement)
        key, run = jax.random.key(seed), advance(self.loss)
        looks = self._looks()
        trace, losses, now = np.full(len(looks), np.nan), [], 0
        for k, then in enumerate(looks):
            neurons = run(neurons, key, train.X, train.y, now, int(then), settings)
            now = int(then)
            weights = np.asarray(neurons)
            f, g = (outputs(weights, part.X, self.scale) for part in (train, fresh))
            trace[k] = np.mean(np.sign(g) == fresh.y)
            losses.append(self._loss(f, train.y))
            if trace[k] >= self.target_accuracy or not np.isfinite(weights).all():
                break
        quarter = max(len(losses) // 4, 1)
        earlier, later = losses[-2 * quarter : -quarter], losses[-quarter:]
        if not np.isfinite(losses[-1]):
            status = "diverged"
        elif trace[len(losses) - 1] >= self.target_accuracy:
            status = "learned"
        else:
            still = bool(earlier) and abs(np.mean(later) - np.mean(earlier)) < _STILL
            status = "stationary" if still else "moving"
        accuracy = float(trace[len(losses) - 1])
        return {
            "accuracy": accuracy,
            "misclassification": 1 - accuracy,
            "train_accuracy": float(np.mean(np.sign(f) == train.y)),
            "train_loss": losses[-1],
            "iterations": now,
            "accuracy_trace": trace,
            "status": status,
        }

    def _loss(self, f: Any, y: Any) -> float:
        if self.loss == "squared":
            return float(np.mean((f - y) ** 2) / 2)
        return float(np.mean(np.logaddexp(0.0, -y * f)))


def _checked_parity(target: Any) -> SparseParity:
    """A parity, or the product of signs that a link is; or a sentence."""
    if isinstance(target, SparseParity):
        return target
    link = getattr(target, "link", target)
    link = link if isinstance(link, Link) else Link(link)
    if link != SparseParity(link.r).link or bool(getattr(target, "noise", 0.0)):
        raise LearnabilityError(
            f"The target was given as {target!r}, but mean-field Langevin dynamics runs on a "
            "SparseParity, or a product such as z1*z2*z3 without noise."
        )
    return SparseParity(link.r)
