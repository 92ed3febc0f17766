"""What a spike in the inputs adds to the report of a single-index target.

theta = d^gamma_2, <mu, beta> = d^-gamma_1, k the information exponent. A random start has the
correlation rho_0 ~ d^(-x / 2) with the label,

    x = 1 (gamma_2 < gamma_1), 1 - 2 (gamma_2 - gamma_1) (up to gamma_2 = 2 gamma_1), 1 - gamma_2,

never below 0. One-pass SGD with whitened, normalised steps then takes d^(1 + (k - 2) x) samples;
the flow on n samples is known to succeed with d^(1 + (k - 1) x), an upper bound for another
algorithm.
An aligned kernel sees degree k at n ~ d^(k (1 - gamma_2)).

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023 (the upper bound); Ba, Erdogdu,
Suzuki, Wang, Wu, NeurIPS 2023 (kernels, one step).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from learnability.reports.costs import Cost
from learnability.reports.hardness import Hardness, hardness
from learnability.targets.multi_index import MultiIndex
from learnability.targets.spiked_index import SpikedIndex

__all__ = ["SpikedHardness", "spiked_hardness", "start_exponent"]


@dataclass(frozen=True)
class SpikedHardness(Hardness):
    """The report of the isotropic target, with what the spike adds.

    Attributes
    ----------
    spike_exponent, alignment_exponent : float
        gamma_2 and gamma_1; 0 where numbers are given.
    start_exponent : float
        x: the correlation of random weights with the label is of order d^(-x / 2).
    kernel_exponent : float or None
        Power of d of the samples with which a kernel learns the lowest degree of the label.
    """

    spike_exponent: float = 0.0
    alignment_exponent: float = 0.0
    start_exponent: float = 1.0
    kernel_exponent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, names and numbers, ready for JSON; infinities become None."""
        own = [field.name for field in fields(self)[-4:]]
        return {**super().to_dict(), **{name: getattr(self, name) for name in own}}


def start_exponent(spike: float, alignment: float) -> float:
    """x of random weights, from gamma_2 and gamma_1."""
    if spike < alignment:
        return 1.0
    return max(1 - 2 * (spike - alignment) if spike < 2 * alignment else 1 - spike, 0.0)


def spiked_hardness(target: SpikedIndex) -> SpikedHardness:
    """The report of spiked data.

    Parameters
    ----------
    target : SpikedIndex
        The target.
    """
    plain = hardness(MultiIndex(target.link, noise=target.noise))
    gamma = target.spike_exponent or 0.0
    gamma_1 = target.alignment_exponent or 0.0
    x = start_exponent(gamma, gamma_1)
    k = plain.information_exponent
    orthogonal = target.alignment == 0
    if orthogonal:
        x = 1.0
    sees = not orthogonal and gamma >= 2 * gamma_1
    kernel = None if k is None else float(k) * (max(1 - gamma, 0.0) if sees else 1.0)
    costs = plain.costs if k is None else (*plain.costs, *_costs(k, x, kernel))
    values = {field.name: getattr(plain, field.name) for field in fields(plain)}
    values |= {
        "target": target,
        "costs": costs,
        "notes": (*plain.notes, *_notes(k, gamma, gamma_1, x, sees, orthogonal)),
    }
    return SpikedHardness(
        **values,
        spike_exponent=gamma,
        alignment_exponent=gamma_1,
        start_exponent=x,
        kernel_exponent=kernel,
    )


def _costs(k: int, x: float, kernel: float | None) -> tuple[Cost, ...]:
    upper = 1 + (k - 1) * x
    online = 1 + max(k - 2, 0) * x
    return (
        Cost("kernel, with the spike", "the lowest-degree part of f", kernel, 0, None, "ba2023"),
        Cost(
            "one-pass SGD, whitened",
            "the hidden direction",
            online,
            int(k == 2),
            None,
            "mousavi2023",
        ),
        Cost("flow on n samples (at most)", "the hidden direction", upper, 0, None, "mousavi2023"),
    )


def _notes(
    k: int | None, gamma: float, gamma_1: float, x: float, sees: bool, orthogonal: bool
) -> list[str]:
    found = [
        "Thresholds and staircases are those of isotropic inputs; the last rows of the costs are "
        "with the spike."
    ]
    if orthogonal:
        return [*found, "The spike is orthogonal to the hidden direction and helps nobody."]
    if gamma == 0:
        return [*found, "A spike that does not grow with d changes constants, not exponents."]
    found.append(
        f"Random weights have a correlation of order d^-{x / 2:.3g} with the label, "
        + ("as without a spike." if x == 1 else "instead of d^-0.5 without a spike.")
    )
    if sees and k is not None and gamma < 1:
        found.append(
            f"With n ~ d samples and a ridge between 1 and n ((1 + theta)/d)^l a kernel learns "
            f"degrees up to {_degree(gamma)}, if it has them; at d below 10^4 the steps are smooth."
        )
    if sees and k is not None:
        enough = (k - 1) / (k + 1)
        word = "is enough" if gamma > enough else "is not enough"
        found.append(
            f"A giant step correlates with the label by its signal from gamma_2 = {enough:.3g} on: "
            f"{gamma:.3g} {word}. From 1/2 on any step does, also one on permuted labels."
        )
    return found


def _degree(gamma: float) -> int:
    """Largest l with l (1 - gamma) <= 1."""
    return int(1 / (1 - gamma) + 1e-9)
