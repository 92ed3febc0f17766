"""A linear model with a convex loss, run by scikit-learn and predicted by its asymptotics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from learnability.errors import LearnabilityError
from learnability.fields import choice, number, record
from learnability.gaussian.quadrature import rules_for
from learnability.gaussian.sections import Section
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.linear._asymptotics import Fit, LabelNodes, fit_at
from learnability.learners.linear.losses import LOSSES, Loss
from learnability.learners.measurement import fresh_error, subspace_overlap
from learnability.statuses import Status
from learnability.targets.base import Target

__all__ = ["LinearModel"]


@record
class LinearModel(Learner):
    """The linear model u = w.x / sqrt(d) + b of least regularised loss.

    It minimises sum_i loss(y_i, u_i) + ridge |w|^2 / 2, with half the squared error, Huber's loss
    (of scikit-learn, with a fitted scale), or, for labels of two values, the logistic or the
    hinge loss. The intercept b carries no penalty. A linear model finds directions only through
    E[y z], so it shows what the simplest method makes of a target.

    References
    ----------
    Thrampoulidis, Abbasi, Hassibi, IEEE Trans. Inf. Theory 64 (2018); Aubin, Krzakala, Lu,
    Zdeborova, NeurIPS 2020.

    Examples
    --------
    >>> theory = LinearModel(loss="logistic", ridge=0.1).predict("sign(z)", alpha=[1.0, 4.0])
    >>> theory.misclassification.values.round(3)
    array([0.265, 0.114])
    """

    name: ClassVar[str] = "linear-model"
    numerics_version: ClassVar[int] = 1
    supports: ClassVar[Support] = Support(
        inputs=("isotropic", "spiked", "power-law", "signs"),
        laws=("finite", "counts", "normal", "latent"),
    )
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What the fit finds, and its errors.",
            (
                "overlap", "cosine", "subspace_overlap", "error", "train_error",
                "misclassification", "status",
            ),
            simulate=Side(needs=("d", "alpha")),
            predict=Side(needs=("alpha",), inputs=("isotropic",)),
        ),
    )  # fmt: skip

    loss: str = choice("squared", tuple(LOSSES), help="What is summed over the samples.")
    ridge: float = number(1.0, above=0, help="Penalty on the squared length of the weights.")

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse a loss for two labels if there are not exactly two."""
        labels = target.label_values
        if LOSSES[self.loss].classifies and (labels is None or len(labels) != 2):
            found = "infinitely many" if labels is None else len(labels)
            raise LearnabilityError(
                f"The loss {self.loss!r} was asked for labels of {found} values, but it is a loss "
                "for two labels: take 'squared' or 'huber'."
            )

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Return one fit of samples by scikit-learn."""
        import warnings

        from sklearn.exceptions import ConvergenceWarning

        d, loss = at["d"], LOSSES[self.loss]
        X, y, W, _ = target.sample(seed, d=d, alpha=at["alpha"])
        if loss.classifies and len(np.unique(y)) < 2:
            raise LearnabilityError(
                f"All {len(y)} labels of seed {seed} are equal: a loss of two labels needs both."
            )
        model = loss.estimator(self.ridge)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(X / np.sqrt(d), _signs(target, y) if loss.classifies else y)
        stopped = any(issubclass(w.category, ConvergenceWarning) for w in caught)
        w = np.ravel(model.coef_) / np.sqrt(d)
        b = float(np.ravel(model.intercept_)[0])
        overlap = (w @ W.T)[None]
        length = max(float(np.linalg.norm(w)), 1e-300)
        seen: dict[str, Any] = {
            "overlap": overlap,
            "cosine": overlap / length,
            "subspace_overlap": subspace_overlap(w[None], W),
            "status": Status.STOPPED if stopped else Status.CONVERGED,
        }
        if loss.classifies:
            seen["misclassification"] = _wrong(target, seed, d, w, b)
        else:
            error = fresh_error(target, seed, d, lambda Z: (Z @ w + b)[None])
            seen |= {"error": error[0], "train_error": np.mean((y - X @ w - b) ** 2)}
        return Found(seen)

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Return the fixed point by alpha; its standard error is that of the quadrature."""
        loss = LOSSES[self.loss]
        rules = _rules(target, loss)
        fits: list[Fit | None] = [None] * len(at["alpha"])
        each: list[dict[str, Any]] = []
        for nodes in reversed(rules):  # The coarse rule comes first and gives a good start.
            fits = [
                fit_at(loss, nodes, float(alpha), self.ridge, start)
                for alpha, start in zip(at["alpha"], fits, strict=True)
            ]
            each.insert(0, _observed(loss, nodes, [fit for fit in fits if fit is not None]))
        values = {name: each[0][name] for name in each[0]}
        names = [name for name in values if name != "status"]
        if len(each) > 2:  # The rules are randomised: take their mean and its standard error.
            for name in names:
                found = np.array([one[name] for one in each])
                values[name] = found.mean(axis=0)
                values[f"{name}_stderr"] = found.std(axis=0, ddof=1) / np.sqrt(len(each))
        else:
            for name in names:
                values[f"{name}_stderr"] = np.abs(each[0][name] - each[1][name])
        lost = np.any([one["status"] != str(Status.CONVERGED) for one in each], axis=0)
        if not lost.any():
            return Found(values)
        values["status"] = np.where(lost, str(Status.STOPPED), values["status"])
        for name in [name for name in values if name != "status"]:
            values[name][lost] = np.nan
        return Found(values, attrs={"note": _NOT_FOUND})


_NOT_FOUND = (
    "The fixed point was not found where the status is stopped, as happens for a tiny ridge near "
    "the number of samples at which the fit becomes perfect: give a larger `ridge`."
)


def _observed(loss: Loss, nodes: LabelNodes, fits: Sequence[Fit]) -> dict[str, Any]:
    """Return the observables of fits at several ratios of samples."""
    m = np.array([fit.m for fit in fits])[:, None, :]
    length = np.sqrt(np.maximum([fit.q for fit in fits], 1e-300))
    cosine = m / length[:, None, None]
    found: dict[str, Any] = {
        "overlap": m,
        "cosine": cosine,
        "subspace_overlap": (cosine**2).sum(axis=(1, 2)) / m.shape[-1],
        "status": np.array([fit.status for fit in fits]),
    }
    errors = np.array([fit.error(loss, nodes) for fit in fits])
    if loss.classifies:
        return found | {"misclassification": errors}
    train = np.array([fit.train_error(loss, nodes) for fit in fits])
    return found | {"error": errors, "train_error": train}


def _rules(target: Target, loss: Loss) -> list[LabelNodes]:
    """Return quadratures of the joint law of (z, y): two of different order, or randomised ones."""
    channel = target.channel
    law = channel.law
    core = law.core if law is not None and law.integrated_by_core else channel.link
    section = Section.whole(core)
    found = []
    for rule in rules_for(section, constant=core.r > 1)[0]:
        z, weights = rule.inner[0], rule.inner_weights[0]
        if law is None or core is not channel.link:  # The label is a function of all coordinates.
            y = section(z)
            z = z[:, : target.r]
        else:
            labels, chances = np.array(getattr(law, "labels", ())), law.profile(z)
            joint = weights[:, None] * chances
            node, label = np.nonzero(joint > 1e-16)
            z, y, weights = z[node], labels[label], joint[node, label]
        y = _signs(target, y) if loss.classifies else y
        found.append(LabelNodes(z, y, weights, channel.noise))
    return found


def _signs(target: Target, y: Any) -> Any:
    """Return the labels of two values as -1 and 1."""
    low, high = target.label_values or (-1.0, 1.0)
    return np.where(np.asarray(y) > 0.5 * (low + high), 1.0, -1.0)


def _wrong(target: Target, seed: int, d: int, w: Any, b: float) -> float:
    """Return the share of wrong labels on fresh samples."""
    batch = next(target.batches(seed, 10_000, d, first=1, dtype=np.float32))
    return float(np.mean(np.sign(batch.X @ w + b) != _signs(target, batch.y)))
