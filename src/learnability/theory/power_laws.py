"""Learning curves of kernels and random features whose spectrum is a power law.

The kernel has eigenvalues xi_k = k^-alpha (capacity alpha > 1), the target has coefficients
f_k = k^(-alpha r - 1/2) (source r > 0), and there are label noise sigma^2, n samples, p random
features and a ridge lambda. With nu the effective ridge and s_k = xi_k / (xi_k + nu), the
deterministic equivalents are, for the kernel,

    n = sum_k s_k + lambda / nu,  Y = sum_k s_k^2 / n,
    bias = nu^2 sum_k f_k^2 / (xi_k + nu)^2 / (1 - Y),  variance = sigma^2 Y / (1 - Y),

and for random features, with T = sum_k s_k^2 and chi = sum_k xi_k / (xi_k + nu)^2 / (p - T),

    (n - S) (p - S) nu = lambda p,  S = sum_k s_k,  q = 1 - S / p,
    Y = (p / n) [(1 - q)^2 + q^2 T / (p - T)],
    bias = nu^2 [sum_k f_k^2 / (xi_k + nu)^2 + chi sum_k f_k^2 xi_k / (xi_k + nu)^2] / (1 - Y).

With p = n^q and lambda = n^(1 - l) (lambda / n = n^-l) both are powers of n with exponents

    e = min(1, q, l / alpha),  variance: 1 - e,
    bias: min(2 alpha e min(r, 1), 2 alpha e min(r, 1/2) + q - e),

the second term for random features only. At p = n with l > alpha, the interpolation peak, both
exponents are smaller by (l - alpha) / 2.

References
----------
Defilippis, Loureiro, Misiakiewicz, NeurIPS 2024, arXiv:2405.15699; Cui, Loureiro, Krzakala,
Zdeborova, NeurIPS 2021 (kernels).
"""

from __future__ import annotations

import math
from dataclasses import MISSING
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import learnability
from learnability.errors import LearnabilityError, refuse
from learnability.fields import Declared, Number, declare, number, record
from learnability.theory._power_law_sums import power_law
from learnability.theory.equivalent import fit

if TYPE_CHECKING:
    import xarray

__all__ = ["Exponents", "Optimum", "Parts", "ScalingLaws", "scaling_laws"]

_POSITIVE = Declared(Number(above=0), "A size or its growth.")
_NOT_NEGATIVE = Declared(Number(at_least=0), "A ridge or its decay.")


class Exponents(NamedTuple):
    """Powers of 1/n; `risk` is the smaller of the two, or that of the bias without noise."""

    bias: float
    variance: float
    risk: float


class Optimum(NamedTuple):
    """The best decay of the ridge, the risk's exponent there, and the least width that has it.

    Attributes
    ----------
    ell : float
        The decay of the ridge, lambda / n = n^-ell.
    exponent : float
        The risk decays as n^-exponent.
    width : float
        The exponent q of the fewest features p = n^q that reach it.
    """

    ell: float
    exponent: float
    width: float


class Parts(NamedTuple):
    """Excess risk and its parts, with the effective ridge."""

    bias: float
    variance: float
    effective_ridge: float

    @property
    def risk(self) -> float:
        """Bias and variance."""
        return self.bias + self.variance


@record
class ScalingLaws:
    """The learning curves of one power law."""

    alpha: float = declare(
        MISSING, Number(above=1),
        "Capacity: the eigenvalues are k^-alpha, and above 1 the kernel has a trace.",
    )  # fmt: skip
    r: float = declare(
        MISSING, Number(above=0), "Source: the target has coefficients k^(-alpha r - 1/2)."
    )
    noise: float = number(0.0, at_least=0, help="Variance of the label noise.")

    def at(
        self, n: float, ridge: float, width: float | None = None, levels: int | None = None
    ) -> Parts:
        """Return bias and variance at given sizes.

        Parameters
        ----------
        n : float
            Samples.
        ridge : float
            lambda of the summed loss sum_i (y_i - f(x_i))^2 + lambda |f|^2, at least 0.
        width : float, optional
            Random features; None for the kernel.
        levels : int, optional
            Number of eigenvalues; None for infinitely many.

        Returns
        -------
        Parts
        """
        n = _POSITIVE.read("n", n)
        p = math.inf if width is None else _POSITIVE.read("width", width)
        ridge = _NOT_NEGATIVE.read("ridge", ridge)
        if ridge == 0 and (n == p or (levels is not None and levels <= min(n, p))):
            raise LearnabilityError(
                "`ridge` is 0, but there are as many samples as features, or no more eigenvalues "
                "than both: give a ridge above 0."
            )
        found = fit(power_law(self.alpha, self.r, levels), n, p, ridge)
        share = found.variance
        return Parts(found.bias / (1 - share), self.noise * share / (1 - share), found.ridge)

    def curve(self, n: ArrayLike, ell: float, q: float | None = None) -> xarray.Dataset:
        """Return learning curves along lambda / n = n^-ell and p = n^q.

        Parameters
        ----------
        n : sequence of float
            Samples.
        ell : float
            Decay of the ridge, at least 0.
        q : float, optional
            Growth of the number of random features; None for the kernel.

        Returns
        -------
        xarray.Dataset
            `bias`, `variance` and `risk` (their sum, the excess over the noise) by `n`; the
            attributes `bias_exponent`, `variance_exponent` and `risk_exponent`.
        """
        import xarray

        try:
            sizes = np.atleast_1d(np.asarray(n, dtype=float)).ravel().tolist()
        except (TypeError, ValueError):
            raise refuse("n", n, "one number above 0, or a list of them,") from None
        powers = self.exponents(ell, q)
        found = [self.at(m, m ** (1 - ell), None if q is None else m**q) for m in sizes]
        return xarray.Dataset(
            {name: ("n", [getattr(one, name) for one in found]) for name in Exponents._fields},
            {"n": sizes},
            {
                "alpha": self.alpha,
                "r": self.r,
                "noise": self.noise,
                "ell": ell,
                "q": "kernel" if q is None else q,
                **{f"{name}_exponent": value for name, value in powers._asdict().items()},
                "version": learnability.__version__,
            },
        )

    def exponents(self, ell: float, q: float | None = None) -> Exponents:
        """Return exponents of bias, variance and risk as n grows.

        Parameters
        ----------
        ell : float
            lambda / n = n^-ell, at least 0.
        q : float, optional
            p = n^q random features, above 0; None for the kernel.
        """
        ell = _NOT_NEGATIVE.read("ell", ell)
        width = math.inf if q is None else _POSITIVE.read("q", q)
        alpha, r = self.alpha, self.r
        e = min(1.0, width, ell / alpha)
        bias = min(2 * alpha * e * min(r, 1.0), 2 * alpha * e * min(r, 0.5) + width - e)
        variance = 1 - e
        if width == 1 and ell > alpha:
            bias, variance = bias - (ell - alpha) / 2, variance - (ell - alpha) / 2
        return Exponents(bias, variance, min(bias, variance) if self.noise else bias)

    def optimal(self) -> Optimum:
        """Return the best ridge: the decay, the exponent that it reaches, and the fewest features.

        Without noise no ridge is best: the kernel reaches 2 alpha min(r, 1) for every l >= alpha.
        """
        alpha, r = self.alpha, self.r
        bias, half = 2 * alpha * min(r, 1.0), 2 * alpha * min(r, 0.5)
        if not self.noise:
            return Optimum(alpha, bias, 1.0 + bias - half)
        ell = alpha / (bias + 1)
        return Optimum(ell, bias / (bias + 1), (1 + bias - half) / (bias + 1))


def scaling_laws(alpha: float, r: float, *, noise: float = 0.0) -> ScalingLaws:
    """Return learning curves of kernels and random features with power-law spectra.

    Parameters
    ----------
    alpha : float
        Capacity, above 1: eigenvalues k^-alpha.
    r : float
        Source, above 0: target coefficients k^(-alpha r - 1/2).
    noise : float
        Variance of the label noise.

    Returns
    -------
    ScalingLaws
        With `at`, `curve`, `exponents` and `optimal`.

    Examples
    --------
    >>> law = scaling_laws(1.5, 0.75, noise=0.25)
    >>> [round(x, 4) for x in law.optimal()]
    [0.4615, 0.6923, 0.5385]
    >>> round(law.at(1e6, ridge=1e3).risk, 6)
    5.2e-05
    """
    return ScalingLaws(alpha, r, noise)
