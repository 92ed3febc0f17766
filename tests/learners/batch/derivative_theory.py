"""Mean-field theory of one neuron in its usual form, with derivatives of the force.

Correlation C, response R and the kernels alpha E[G G], alpha E[dG_t / d xi^s], the derivatives of
each sample by their recursion. Right for smooth activations; `curvature` leaves out what a kink
adds to sigma''. A second route to what the library computes without derivatives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learnability.gaussian.rules import sobol_normals

Function = Callable[[np.ndarray], np.ndarray]


def derivative_theory(
    link: Function,
    activation: tuple[Function, Function, Function],
    *,
    alpha: float,
    step: float,
    steps: int,
    seed: int,
    log2_points: int = 15,
) -> tuple[np.ndarray, np.ndarray]:
    """Overlaps m_t and lengths C(t, t) along the steps, from Q = 1 and m = 0.

    Half the squared loss, no ridge; `activation` is sigma with its first two derivatives.
    """
    value, slope, curvature = activation
    points = sobol_normals(steps + 2, log2_points, seed).T
    z, y = points[0], link(points[0])
    count = steps + 1
    C, R, kernel, gamma = (np.zeros((count, count)) for _ in range(4))
    m = np.zeros(count)
    C[0, 0] = 1.0
    force = np.zeros((count, len(z)))
    derivative = np.zeros((count, count, len(z)))
    for t in range(steps):
        L = np.linalg.cholesky(C[: t + 1, : t + 1] - np.outer(m[: t + 1], m[: t + 1]))
        h = L[t] @ points[1 : t + 2] + m[t] * z + R[t, :t] @ force[:t]
        residual = value(h) - y
        force[t] = residual * slope(h)
        second = slope(h) ** 2 + residual * curvature(h)
        for s in range(t + 1):
            derivative[t, s] = second * (float(s == t) + R[t, s:t] @ derivative[s:t, s])
            gamma[t, s] = alpha * derivative[t, s].mean()
            kernel[t, s] = kernel[s, t] = alpha * np.mean(force[t] * force[s])
        pull = alpha * np.mean(force[t] * z)
        rest = pull - gamma[t, : t + 1] @ m[: t + 1]
        m[t + 1] = m[t] - step * pull
        for s in range(t + 1):
            inner = gamma[t, s + 1 : t + 1] @ R[s + 1 : t + 1, s]
            R[t + 1, s] = R[t, s] - step * (float(s == t) + inner)
        for s in range(t + 2):
            change = gamma[t, : t + 1] @ C[: t + 1, s] + rest * m[s] + R[s, :s] @ kernel[t, :s]
            C[t + 1, s] = C[s, t + 1] = C[t, s] - step * change
    return m, np.diag(C)
