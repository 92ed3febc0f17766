"""Overlap and CPU time of the estimators on planted problems, with all peers in the same run.

Overlap is |P P*|_F^2 / r. The method was developed on seeds below 100; seeds here begin at 1000.
Peers: SIR, SAVE, DR, pHd, outer product of gradients, kernel gradient product (RFM, bandwidth and
ridge tuned by leave-one-out), PLS and an early-stopped network (its gradient product).
Time is CPU seconds of one thread.

    python benchmarks/bench_estimators.py [--rows NAME,...] [--seeds 10] [--slow]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.neural_network import MLPRegressor

from learnability.estimators import (
    GradientSubspace,
    MessagePassingSubspace,
    MomentSubspace,
    subspace_overlap,
)

LINKS: dict[str, tuple[int, Any]] = {
    "z1+z1z2": (2, lambda z: z[0] + z[0] * z[1]),
    "z1^2-z2^2": (2, lambda z: z[0] ** 2 - z[1] ** 2),
    "z1z2z3": (3, lambda z: z[0] * z[1] * z[2]),
    "sign(z1z2)": (2, lambda z: np.sign(z[0] * z[1])),
    "|z|": (1, lambda z: np.abs(z[0])),
    "z1^2+sign(z1z2z3)": (3, lambda z: z[0] ** 2 + np.sign(z[0] * z[1] * z[2])),
    "tanh(z1)+z2^2": (2, lambda z: np.tanh(z[0]) + z[1] ** 2),
    "He3(z1)": (1, lambda z: z[0] ** 3 - 3 * z[0]),
    "z1+He3(z1)z2": (2, lambda z: z[0] + (z[0] ** 3 - 3 * z[0]) * z[1]),
}
FIVE = ["z1^2-z2^2", "He3(z1)", "z1+He3(z1)z2", "tanh(z1)+z2^2", "sign(z1z2)"]
# Name -> dimension, samples over dimension, links.
ROWS: dict[str, tuple[int, float, list[str]]] = {
    "d200": (200, 5, FIVE),
    "d50-10": (50, 10, list(LINKS)),
    "d50-5": (50, 5, list(LINKS)),
    "phase": (500, 2, ["|z|"]),
    "stairs": (50, 50, ["z1^2+sign(z1z2z3)"]),
    "parity5": (500, 5, ["sign(z1z2)"]),
    "parity8": (500, 8, ["sign(z1z2)"]),
    "time": (200, 20, ["tanh(z1)+z2^2"]),
}


class Pls:
    """Partial least squares."""

    def __init__(self, r: int) -> None:
        self.r = r

    def fit(self, X: Any, y: Any) -> Pls:
        self.components_ = PLSRegression(self.r).fit(X, y).x_rotations_.T
        return self


class Network:
    """Gradient product of an early-stopped network of 128 neurons."""

    def __init__(self, r: int) -> None:
        self.r = r

    def fit(self, X: Any, y: Any) -> Network:
        net = MLPRegressor(128, early_stopping=True, max_iter=200, random_state=0)
        net.fit(X, (y - y.mean()) / y.std())
        W, a = net.coefs_[0], net.coefs_[1][:, 0]
        gradient = ((X @ W + net.intercepts_[0] > 0) * a) @ W.T
        self.components_ = np.linalg.svd(gradient, full_matrices=False)[2][: self.r]
        return self


def finders(r: int, seed: int, *, slow: bool) -> dict[str, Any]:
    """The method and its peers."""
    found: dict[str, Any] = {
        "message passing": MessagePassingSubspace(r, random_state=seed),
        "SIR": MomentSubspace("sir", r),
        "SAVE": MomentSubspace("save", r, clip=False),
        "DR": MomentSubspace("dr", r, clip=False),
        "pHd": MomentSubspace("phd", r, clip=False),
        "PLS": Pls(r),
        "RFM": GradientSubspace("agop", r, random_state=seed),
    }
    if slow:
        found["OPG"] = GradientSubspace("opg", r, n_anchors=100, random_state=seed)
        found["MLP"] = Network(r)
    return found


def planted(link: str, d: int, n: int, seed: int) -> tuple[Any, Any, Any]:
    """Rows, targets and hidden directions."""
    r, g = LINKS[link]
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((d, r)))[0].T
    X = rng.standard_normal((n, d))
    return X, g((X @ W.T).T), W


def main() -> None:
    """Print one line a link and method: mean overlap, its smallest, CPU seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="time")
    parser.add_argument("--links", default="")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="methods, separated by commas")
    parser.add_argument("--slow", action="store_true", help="OPG and MLP too")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for row in chosen.rows.split(","):
        d, alpha, links = ROWS[row]
        links = chosen.links.split(";") if chosen.links else links
        means = defaultdict(list)
        for link in links:
            overlap, cpu = defaultdict(list), defaultdict(list)
            for seed in range(1000, 1000 + chosen.seeds):
                X, y, W = planted(link, d, round(alpha * d), seed)
                for name, finder in finders(len(W), seed, slow=chosen.slow).items():
                    if chosen.only and name not in chosen.only.split(","):
                        continue
                    start = time.process_time()
                    found = finder.fit(X, y).components_
                    cpu[name].append(time.process_time() - start)
                    overlap[name].append(subspace_overlap(found, W))
            print(f"{row} d={d} alpha={alpha:g} {link}")
            for name, values in overlap.items():
                means[name].append(np.mean(values))
                print(
                    f"    {name:<16} {np.mean(values):.3f}  least {min(values):.3f}  "
                    f"above .9: {np.mean(np.array(values) > 0.9):.0%}  "
                    f"{np.mean(cpu[name]):.2f} CPU s",
                    flush=True,
                )
        if len(links) > 1:
            print(row, "mean:", {name: round(float(np.mean(v)), 3) for name, v in means.items()})


if __name__ == "__main__":
    main()
