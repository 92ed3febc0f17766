"""Learning curves of kernels and random features with power-law spectra, and their regimes.

On the left are bias and variance of the kernel at the best ridge and at a small one, and of random
features, from deterministic equivalents, with ridge regressions on Gaussian designs. On the right
is the exponent of the risk as a function of the decay l of the ridge and the growth q of the number
of features.

References
----------
Defilippis, Loureiro, Misiakiewicz, NeurIPS 2024, arXiv:2405.15699.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.drawing.marks import crosses
from learnability.progress import tracked

if TYPE_CHECKING:
    import xarray

    from learnability.theory.power_laws import ScalingLaws

__all__ = ["FULL", "QUICK", "compute", "design_risk", "picture"]


@dataclass(frozen=True)
class LawSize:
    """Samples of the runs, runs per number, eigenvalues of a design, points of lines and maps."""

    samples: tuple[int, ...]
    runs: int
    levels: int
    theory: int
    map: int


FULL = LawSize((50, 100, 200, 400, 800), 20, 20_000, 61, 121)
QUICK = LawSize((50, 100, 200), 8, 4000, 31, 41)
ALPHA, R, NOISE = 1.5, 0.75, 0.25
WIDTH = 0.4
"""The q of the random features in the left panel, below the smallest sufficient one."""


def design_risk(
    law: ScalingLaws, levels: int, n: int, ell: float, q: float | None, seed: int
) -> float:
    """Return the excess risk of ridge regression on one Gaussian design with a power-law spectrum.

    Parameters
    ----------
    law : ScalingLaws
        Spectrum, target and noise.
    levels : int
        Number of eigenvalues.
    n : int
        Number of samples.
    ell : float
        The ridge is n^(1 - ell).
    q : float or None
        The number of random features is n^q; None for the kernel.
    seed : int
        The seed of the design.
    """
    k = np.arange(1.0, levels + 1)
    root, f = k ** (-law.alpha / 2), k ** (-law.alpha * law.r - 0.5)
    ridge = n ** (1 - ell)
    rng = np.random.default_rng([seed, n])
    G = rng.standard_normal((n, levels))
    y = G @ f + math.sqrt(law.noise) * rng.standard_normal(n)
    G *= root
    if q is None:
        weights = root * (G.T @ np.linalg.solve(G @ G.T + ridge * np.eye(n), y))
    else:
        p = max(round(n**q), 1)
        F = rng.standard_normal((levels, p)) / math.sqrt(p)
        Phi = G @ F
        weights = root * (F @ np.linalg.solve(Phi.T @ Phi + ridge * np.eye(p), Phi.T @ y))
    return float(np.sum((weights - f) ** 2))


def compute(size: LawSize) -> xarray.Dataset:
    """Return curves of the kernel and of random features at the best ridge, runs, and the map."""
    import xarray

    from learnability.theory import scaling_laws

    law = scaling_laws(ALPHA, R, noise=NOISE)
    best = law.optimal()
    n = np.geomspace(30, 1e8, size.theory)
    curves = {
        "kernel": (best.ell, None),
        "features": (best.ell, WIDTH),
        "small ridge": (1.4 * ALPHA, None),
    }
    theory = [
        [law.curve(n, *c)[part].values for part in ("bias", "variance")] for c in curves.values()
    ]
    slopes = [law.exponents(*c).risk for c in curves.values()]
    runs = [
        [[design_risk(law, size.levels, n, ell, q, seed) for seed in range(size.runs)]
         for n in size.samples]
        for ell, q in tracked(list(curves.values()), "designs")
    ]  # fmt: skip
    ell, q = np.linspace(0, 2.2, size.map), np.linspace(0.05, 1.5, size.map)
    regime = [[law.exponents(float(x), float(y)).risk for x in ell] for y in q]
    return xarray.Dataset(
        {
            "theory_part": (("curve", "part", "n"), theory),
            "theory_exponent": ("curve", slopes),
            "runs_risk": (("curve", "runs_n", "seed"), runs),
            "theory_regime": (("q", "ell"), regime),
        },
        {
            "curve": list(curves), "part": ["bias", "variance"], "n": n,
            "runs_n": list(size.samples), "seed": np.arange(size.runs), "ell": ell, "q": q,
        },
        {
            "alpha": ALPHA, "r": R, "noise": NOISE,
            **{f"best_{k}": v for k, v in best._asdict().items()},
        },
    )  # fmt: skip


def picture(data: xarray.Dataset) -> Any:
    """Draw learning curves with their slopes, and the map of regimes with the optimum."""
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    n = data["n"].values
    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k, name in enumerate(data["curve"].values):
            risk = data["theory_part"][k].sum("part").values
            power = 0.0 - float(data["theory_exponent"][k])
            left.plot(n, risk, color=COLOURS[k], label=rf"{name}: $n^{{{power:.2f}}}$")
            left.plot(n, data["theory_part"][k, 0], color=COLOURS[k], lw=0.7, ls="--")
            left.plot(n, data["theory_part"][k, 1], color=COLOURS[k], lw=0.7, ls=":")
            crosses(left, data["runs_n"], data["runs_risk"][k], COLOURS[k])
        left.set(xscale="log", yscale="log", xlabel="$n$", ylabel="excess risk", ylim=(1e-9, 3))
        figure.legend(
            title="risk (dashed: bias, dotted: variance)", loc="outside lower center", ncols=3
        )
        shown = right.pcolormesh(
            data["ell"],
            data["q"],
            data["theory_regime"],
            cmap="viridis",
            shading="auto",
            rasterized=True,
        )
        figure.colorbar(shown, ax=right, label="exponent of the risk")
        right.plot(
            data.attrs["best_ell"], data.attrs["best_width"], "*", color="w", ms=9, mec="0.2"
        )
        right.set(
            xlabel=r"$\ell$, $\lambda/n = n^{-\ell}$",
            ylabel="$q$, $p = n^q$",
            title="star: best ridge, fewest features",
        )
        a, r = data.attrs["alpha"], data.attrs["r"]
        figure.suptitle(
            rf"$\alpha = {a:g}$, $r = {r:g}$, $\sigma^2 = {data.attrs['noise']:g}$; "
            f"crosses: {data.sizes['seed']} designs",
            fontsize=8,
        )
    return figure
