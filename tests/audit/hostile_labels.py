"""Reports on functions and laws nobody listed, held against samples: a second route to each.

`python -m tests.audit.hostile_labels [first last]` prints one line for each case and the sums. For
every step of the grand staircase the operator is estimated anew from samples of the label, cut
into cells of the label by its quantiles, with the directions of the report as the known ones. A
report is wrong when a direction of the first moment shows in samples and not in it, when a
direction that it calls trivial has no first moment, or when an alpha is off by more than four
standard errors of the samples, three of its own errors, and what finer cells of the label change.
Cases, seeds and the criterion were fixed before the first run.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.labels import Link
from learnability.labels.channel import Channel
from learnability.reports import Hardness, hardness

__all__ = ["CASES", "judged"]

Array = NDArray[np.float64]

BLOCKS = 8
STRATA = 48

TEXTS = (
    # one variable: jumps, high frequencies, heavy tails, poles, steps
    "sign(z - 1.7)",
    "sign((z - 0.3)*(z + 0.31))",
    "sign(z*(z**2 - 0.04))",
    "floor(2*z + 0.3)",
    "round(z**2)",
    "mod(z, 0.5)",
    "mod(abs(z), 1)",
    "floor(abs(z))*sign(z)",
    "floor(3*cos(z))",
    "sign(sin(7*z))",
    "cos(4*z + 0.2)",
    "1/(1 + 4*z**2)",
    "z/(1 + z**2)",
    "1/(z - 0.5)",
    "exp(z**2/4.1)",
    "exp(2*abs(z))",
    "z**2*exp(-z**2/2)",
    "z**4 - 6*z**2 + 1e-3*z",
    "1e6 + z**2",
    "-1e5 + abs(abs(z) - 1)",
    "tanh(50*(abs(z) - 1))",
    "sinh(z)*cosh(z/2) - 3*z",
    "where(z > 2.5, 1, 0) + where(z < -2.5, 1, 0)",
    "atan(20*z**2 - 10)",
    # two variables: curved boundaries and others
    "sign(z2 - cos(3*z1))",
    "sign(z1**2 + 4*z2**2 - 1)",
    "sign(z1*z2 - z1 + 0.2)",
    "sign(z2 - z1**3 + z1)",
    "sign(z1**4 + z2**4 - 1)",
    "sign(exp(z1) - z2**2)",
    "floor(z1*z2)",
    "floor(z1**2 + z2**2)",
    "round(z1)*sign(z2)",
    "mod(z1 + z2, 2)",
    "sign(sin(3*z1)*sin(3*z2))",
    "z1/(1 + z2**2)",
    "z1*z2/(1 + z1**2 + z2**2)",
    "abs(z1)*exp(-z2**2)",
    "max(z1, 2*z2) - min(z1, z2)",
    "sqrt(z1**2 + 0.01*z2**2)",
    "atan(z2/z1)",
    "z1**2 + 1e-3*z2",
    "sign(z1*z2*(z1**2 - z2**2))",
    "sign(z1**2 - z2**2) + 0.5*sign(z1*z2)",
    # three and four
    "sign(z1**2 + z2**2 - 2*z3**2 + 0.5)",
    "sign(z1*z2 + z3)",
    "sign(z3 - z1*z2 - 0.5*z1)",
    "sign(z1*z2*z3 - 0.2)",
    "max(abs(z1), abs(z2), abs(z3))",
    "floor(z1**2) + sign(z1*z2*z3)",
    "z1*z2 + z2*z3 + z3*z1",
    "abs(z1) + sign(z2*z3)*z1**2",
    "sign(z1*z2) + sign(z3*z4)",
    "sign(z1*z2*z3*z4) + z1**2",
    "sign(z1**2 + z2**2 - z3**2 - z4**2)",
    # laws
    "flip(sign(z1*z2), 0.1 + 0.3*step(z1))",
    "flip(sign(z), 0.5*exp(-z**2))",
    "flip(sign(z1*z2*z3), sigmoid(z1**2 - 3))",
    "flip(sign(z**2 - 1), 0.5/(1 + z**2))",
    "poisson(exp(z))",
    "poisson(exp(z1*z2/4))",
    "poisson(2*step(z1*z2))",
    "bernoulli(sigmoid(50*z))",
    "bernoulli(sigmoid(30*(z**2 - 1)))",
    "bernoulli(sigmoid(20*z1*z2))",
    "bernoulli(0.5 + 0.49*sin(5*z))",
    "bernoulli(exp(-z1**2 - z2**2))",
    "categorical(exp(-z1**2), 1 - exp(-z1**2) - step(z2)*(1 - exp(-z1**2)),"
    " step(z2)*(1 - exp(-z1**2)))",
    "categorical(0.2 + 0.2*step(z1*z2), 0.6 - 0.2*step(z1*z2), 0.2)",
    "sign(z1*z2 + 0.3*xi)",
    "sign(z1**2 - 1 + abs(z2)*xi)",
    "z1*z2*exp(0.5*xi)",
    "(z1 + 0.5*xi)**2 + z2**2",
    "abs(z + 0.5*xi)",
    "floor(z**2 + 0.5*xi)",
    "z*xi1 + 0.3*xi2**2",
    "sign(z1 + xi)*z2**2",
)

FUNCTIONS: tuple[tuple[str, Callable[[Array], Array], int], ...] = (
    ("sign(z2 - z1^2/2) callable", lambda z: np.sign(z[..., 1] - z[..., 0] ** 2 / 2), 2),
    ("argmax of three", lambda z: np.argmax(z[..., :3], axis=-1).astype(float), 3),
    ("argmax of |z|", lambda z: np.argmax(np.abs(z[..., :3]), axis=-1).astype(float), 3),
    ("median of three", lambda z: np.median(z[..., :3], axis=-1), 3),
    ("norm", lambda z: np.linalg.norm(z, axis=-1), 3),
    ("angle", lambda z: np.arctan2(z[..., 1], z[..., 0]), 2),
    ("rank of z1", lambda z: (z[..., :1] > z[..., 1:]).sum(axis=-1) + 0.0, 3),
    ("rounded product", lambda z: np.round(z[..., 0] * z[..., 1], 1), 2),
)


def _turn(angle: float, r: int) -> Array:
    found = np.eye(r)
    c, s = math.cos(angle), math.sin(angle)
    found[:2, :2] = [[c, -s], [s, c]]
    return found


NEAR = (1e-7, 1e-4, 3e-3, 0.02, math.pi / 4 - 1e-3, math.pi / 2 - 1e-5, math.pi / 2 - 0.03)
TURNED = (
    "sign(z1*(z2 - 1))", "abs(z1) + 2*sign(z2)", "sign(z1**2 - 1) + 2*sign(z1*z2)",
    "sign(z1*z2*z3)", "z1*z2", "sign(z1**2 + 4*z2**2 - 1)", "sign(abs(z1) + abs(z2) - 1)",
    "sign(z1*z2) + 0.5*sign(z1)", "max(z1, z2)", "floor(z1)*sign(z2)",
    "flip(sign(z1*z2), 0.2)", "bernoulli(sigmoid(9*z1*z2))",
)  # fmt: skip


def _cases() -> dict[str, Callable[[], Link]]:
    found: dict[str, Callable[[], Link]] = {text: lambda t=text: Link(t) for text in TEXTS}
    for name, function, r in FUNCTIONS:
        found[name] = lambda f=function, m=r: Link(f, r=m)
    for k, text in enumerate(TURNED):
        for j in (k % len(NEAR), (k + 3) % len(NEAR)):
            found[f"{text} turned by {NEAR[j]:.8g}"] = lambda t=text, a=NEAR[j]: Link(t).rotate(
                _turn(a, Link(t).r)
            )
    return found


CASES = _cases()


def _cells(y: Array, bins: int) -> Array:
    values = np.unique(y[:4096])
    if len(values) < 400 and np.isin(y, values).mean() > 0.98:
        return np.asarray(np.unique(y, return_inverse=True)[1])
    edges = np.quantile(y, np.linspace(0, 1, bins + 1)[1:-1])
    return np.searchsorted(edges, y)


def _between_blocks(cells: Array, features: Array) -> tuple[Array, Array]:
    """Return E[E[f|cell] E[f|cell]^T] from pairs of different blocks, whole and by left-out."""
    count, n = int(cells.max()) + 1, len(cells)
    block = np.arange(n) % BLOCKS
    sums = np.array([np.bincount(block * count + cells, f, BLOCKS * count) for f in features])
    sums = sums.reshape(len(features), BLOCKS, count)
    mass = np.maximum(np.bincount(cells, minlength=count), 1) / n

    def cross(keep: list[int]) -> Array:
        part = sums[:, keep]
        total = part.sum(axis=1)
        pairs = np.einsum("ac,bc,c->ab", total, total, 1 / mass)
        pairs -= np.einsum("akc,bkc,c->ab", part, part, 1 / mass)
        m, each = len(keep), n / BLOCKS
        return pairs / (m * (m - 1) * each**2)

    everything = list(range(BLOCKS))
    left = [cross([k for k in everything if k != j]) for j in everything]
    return cross(everything), np.array(left)


def _operator(second: Array, m: int) -> Array:
    """The symmetric matrix of M -> E[G M G] from E[G_ab G_cd], flat indices."""
    T = second.reshape(m, m, m, m)
    basis = []
    for a in range(m):
        for b in range(a, m):
            E = np.zeros((m, m))
            E[a, b] = E[b, a] = 1.0 if a == b else math.sqrt(0.5)
            basis.append(E)
    images = [np.einsum("abcd,bc->ad", T, E) for E in basis]
    return np.array([[float((E * image).sum()) for image in images] for E in basis])


def _sampled(link: Link, noise: float, U: Array, seed: int, logn: int, bins: int) -> Any:
    """Return (K1, F, their errors): eigen-information about the complement of U."""
    rng = np.random.default_rng([77, seed])
    channel, r = Channel(link, noise), link.r
    frame = np.linalg.svd(np.vstack([U, np.zeros((1, r))]))[2]
    V = frame[len(U) :]
    m = len(V)
    strata = STRATA if len(U) else 1
    grids = []
    if len(U):
        from scipy.stats import norm, qmc

        points = (
            qmc.Sobol(len(U), seed=5).random(64)[:strata]
            if len(U) > 1
            else ((np.arange(strata) + 0.5)[:, None] / strata)
        )
        grids = list(norm.ppf(points))
    whole, left = [], []
    for s in range(strata):
        n = 2**logn // strata
        free = rng.standard_normal((n, m))
        z = free @ V + (grids[s] @ U if len(U) else 0.0)
        y = channel.sample(z, rng)
        products = [free[:, a] * free[:, b] - (a == b) for a in range(m) for b in range(m)]
        features = np.array([*free.T, *products])
        full, parts = _between_blocks(_cells(y, bins if strata == 1 else bins // 4), features)
        whole.append(full)
        left.append(parts)
    matrix, parts = np.mean(whole, axis=0), np.mean(left, axis=0)

    def tops(K: Array) -> tuple[float, float]:
        F = _operator(K[m:, m:], m)
        return float(np.linalg.eigvalsh(K[:m, :m])[-1]), float(np.linalg.eigvalsh(F)[-1])

    value = np.array(tops(matrix))
    others = np.array([tops(K) for K in parts])
    error = np.sqrt((BLOCKS - 1) * others.var(axis=0))
    return value, error


def judged(report: Hardness, number: int, logn: int = 21) -> tuple[list[str], str]:
    """Return what is wrong with a report, and the report in one line."""
    link = report.target.link
    told, wrong = [], []
    U = np.zeros((0, link.r))
    dropped = link.r - len(report.relevant)
    if dropped:
        told.append(f"{dropped} irrelevant")
    for k, step in enumerate(report.staircase):
        told.append(f"{step.kind} {len(step.directions)} {step.alpha} +- {step.alpha_error}")
        if step.kind is None or len(U) > 2:
            break
        (first, second), (e1, e2) = _sampled(link, report.target.noise, U, number, logn, 400)
        (f1, s1), (d1, d2) = _sampled(link, report.target.noise, U, number, logn, 1600)
        slack1 = 4 * max(e1, d1) + 2 * abs(first - f1)
        seen1 = f1 > slack1
        if step.kind != "trivial" and seen1 and f1 > 1e-4:
            wrong.append(f"step {k + 1} {step.kind}: E[z|y]^2 = {f1:.3g}({d1:.1g})")
        if step.kind == "trivial" and not seen1 and d1 < 1e-6:
            told.append(f"(weak: {f1:.2g}({d1:.1g}))")
        if step.kind == "easy" and step.alpha is not None:
            lam = 1 / step.alpha
            own = lam * (step.alpha_error or 0.0) / step.alpha
            slack = 4 * max(e2, d2) + 3 * own + 2 * abs(second - s1)
            told.append(f"[samples {1 / s1:.6g}({d2 / s1**2:.1g}; {slack / s1**2:.1g})]")
            if abs(lam - s1) > slack:
                wrong.append(f"step {k + 1}: alpha {step.alpha:.6g} against {1 / s1:.6g}")
        if step.kind == "hard" and s1 > 4 * max(e2, d2) + 2 * abs(second - s1) and s1 > 1e-4:
            wrong.append(f"step {k + 1} hard: lambda = {s1:.3g}({d2:.1g})")
        U = np.vstack([U, step.directions])
    if report.undecided:
        told.append("undecided: " + "; ".join(report.undecided))
    return wrong, " | ".join(told)


def main(first: int = 0, last: int | None = None) -> int:
    """Judge the cases of these numbers; return how many reports are wrong."""
    names = list(CASES)[first:last]
    bad = 0
    start = time.process_time()
    np.sort(np.random.default_rng(0).standard_normal(10**7))
    unit = time.process_time() - start
    for number, name in enumerate(names, first):
        start = time.process_time()
        report_cost = -1.0
        try:
            report = hardness(CASES[name]())
            report_cost = (time.process_time() - start) / unit
            wrong, told = judged(report, number)
        except LearnabilityError as refusal:
            wrong, told = [], f"refused: {refusal}"
        bad += bool(wrong)
        mark = "WRONG " + "; ".join(wrong) if wrong else "ok"
        print(f"{number} {name} | {mark} | {told} | {report_cost:.1f} units", flush=True)
    print(f"{len(names)} cases, {bad} wrong, unit {unit:.2f} s")
    return bad


if __name__ == "__main__":
    sys.exit(int(main(*map(int, sys.argv[1:3])) > 0))
