"""Ridge regression and its leave-one-out predictions."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.learners.deep._leave_one_out import RIDGES, fit_by_leave_one_out


@pytest.mark.parametrize(("n", "p"), [(60, 12), (20, 40)])
def test_leaving_out_is_fitting_again(n: int, p: int) -> None:
    rng = np.random.default_rng(1)
    F, y = rng.standard_normal((n, p)), rng.standard_normal((2, n))
    y[0] += F[:, 0]
    fit = fit_by_leave_one_out(lambda: [F[:9], F[9:]], y)
    scale = np.trace(F.T @ F) / p
    best = []
    for k in range(2):
        left = y[k] - y[k].mean()
        errors, predictions = [], []
        for ridge in RIDGES * scale:
            out = []
            for i in range(n):
                G, v = np.delete(F, i, 0), np.delete(left, i)
                out.append(F[i] @ np.linalg.solve(G.T @ G + ridge * np.eye(p), G.T @ v))
            predictions.append(np.array(out) + y[k].mean())
            errors.append(np.mean((left + y[k].mean() - predictions[-1]) ** 2))
        best.append(int(np.argmin(errors)))
        assert fit.ridge[k] == pytest.approx(RIDGES[best[k]] * scale)
        np.testing.assert_allclose(fit.left_out[k], predictions[best[k]], atol=1e-8)
    direct = np.linalg.solve(F.T @ F + fit.ridge[0] * np.eye(p), F.T @ (y[0] - y[0].mean()))
    np.testing.assert_allclose(fit.weights[0], direct, atol=1e-9)
    np.testing.assert_allclose(fit(F)[:, 0], F @ direct + y[0].mean(), atol=1e-9)


def test_no_ridge_on_dependent_features() -> None:
    F = np.ones((30, 2))
    y = np.arange(30.0)[None]
    with pytest.raises(LearnabilityError, match="`ridge` is 0"):
        fit_by_leave_one_out(lambda: [F], y, 0.0)
    with pytest.raises(LearnabilityError, match="not all finite"):
        fit_by_leave_one_out(lambda: [F * np.inf], y, 1.0)
    independent = np.random.default_rng(0).standard_normal((30, 2))
    assert fit_by_leave_one_out(lambda: [independent], y, 0.0).ridge == (0.0,)
