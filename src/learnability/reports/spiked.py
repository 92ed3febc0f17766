"""What spikes of the inputs add to the report on a multi-index target.

Let theta = d^gamma_2, <mu, w> = d^-gamma_1, and k the information exponent. For one spike and one
hidden direction a random start has the correlation rho_0 ~ d^(-x / 2) with the label,

    x = 1 (gamma_2 < gamma_1), 1 - 2 (gamma_2 - gamma_1) (up to gamma_2 = 2 gamma_1), 1 - gamma_2,

never below 0. One-pass SGD with whitened, normalised steps then takes d^(1 + (k - 2) x) samples;
the flow on n samples is known to succeed with d^(1 + (k - 1) x), an upper bound for another
algorithm. An aligned kernel sees degree k at n ~ d^(k (1 - gamma_2)). Spikes that do not grow with
d leave all exponents as they are, however many there are; for several spikes or directions that
grow with d the exponents are not known here.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023 (the upper bound); Ba, Erdogdu,
Suzuki, Wang, Wu, NeurIPS 2023 (kernels, one step).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from learnability.reports.costs import Cost
from learnability.reports.multi_index import Hardness, multi_index_hardness
from learnability.targets import Target

__all__ = ["SpikedHardness", "spiked_hardness", "start_exponent"]


@dataclass(frozen=True, eq=False)
class SpikedHardness(Hardness):
    """The report of the same label on isotropic inputs, with what the spikes add.

    Attributes
    ----------
    spike_exponent, alignment_exponent : float or None
        The exponents gamma_2 and gamma_1; 0 where numbers are given, None for spikes of different
        exponents.
    start_exponent : float or None
        The exponent x: random weights have a correlation d^(-x / 2) with the label; None where it
        is not known.
    kernel_exponent : float or None
        Power of d of the samples with which a kernel learns the lowest degree of the label; None
        where it is not known.
    """

    spike_exponent: float | None = 0.0
    alignment_exponent: float | None = 0.0
    start_exponent: float | None = 1.0
    kernel_exponent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, names and numbers, ready for JSON; infinities become None."""
        return {
            **super().to_dict(),
            "spike_exponent": self.spike_exponent,
            "alignment_exponent": self.alignment_exponent,
            "start_exponent": self.start_exponent,
            "kernel_exponent": self.kernel_exponent,
        }


def start_exponent(spike: float, alignment: float) -> float:
    """Return x of random weights, from gamma_2 and gamma_1."""
    if spike < alignment:
        return 1.0
    return max(1 - 2 * (spike - alignment) if spike < 2 * alignment else 1 - spike, 0.0)


def spiked_hardness(target: Target) -> SpikedHardness:
    """Report on a multi-index target with spiked inputs; `hardness` calls it.

    Parameters
    ----------
    target : Target
        A MultiIndex with inputs of kind "spiked".
    """
    plain = multi_index_hardness(target)
    inputs: Any = target.inputs
    exponents = np.ravel(0.0 if inputs.exponent is None else inputs.exponent)
    shared = {field.name: getattr(plain, field.name) for field in fields(plain)}
    shared["notes"] = (*plain.notes, _ISOTROPIC)
    if inputs.count == 1 and target.r == 1:
        return _single(shared, float(exponents[0]), inputs)
    alike = bool(np.all(exponents == exponents[0]))
    added: dict[str, Any] = {
        "spike_exponent": float(exponents[0]) if alike else None,
        "alignment_exponent": inputs.alignment_exponent or 0.0,
    }
    k = plain.information_exponent
    if not exponents.any():
        shared["notes"] += (_BOUNDED,)
        return SpikedHardness(**shared, **added, kernel_exponent=None if k is None else float(k))
    unknown = ("costs", "start_exponent", "kernel_exponent")
    shared |= {"costs": (), "undecided": (*plain.undecided, *unknown)}
    shared["notes"] += (_SEVERAL,)
    return SpikedHardness(**shared, **added, start_exponent=None)


def _single(shared: dict[str, Any], gamma: float, inputs: Any) -> SpikedHardness:
    """Return the report for one spike of exponent gamma_2 and one hidden direction."""
    gamma_1 = inputs.alignment_exponent or 0.0
    orthogonal = not np.any(inputs.alignment)
    x = 1.0 if orthogonal else start_exponent(gamma, gamma_1)
    sees = not orthogonal and gamma >= 2 * gamma_1
    k = shared["information_exponent"]
    kernel = None if k is None else float(k) * (max(1 - gamma, 0.0) if sees else 1.0)
    if k is not None:
        shared["costs"] += _costs(k, x, kernel)
        shared["notes"] += ("The last rows of the costs are with the spike.",)
    shared["notes"] += _notes(k, gamma, x, sees, orthogonal)
    return SpikedHardness(
        **shared,
        spike_exponent=gamma,
        alignment_exponent=gamma_1,
        start_exponent=x,
        kernel_exponent=kernel,
    )


_ISOTROPIC = "Thresholds and staircases are those of isotropic inputs."
_BOUNDED = "A spike that does not grow with d changes constants, not exponents."
_SEVERAL = (
    "What spikes that grow with d add is known for one spike and one hidden direction only: the "
    "costs on these inputs are not decided."
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
        Cost(
            "flow on n samples (at most)",
            "the hidden direction",
            upper,
            0,
            None,
            "mousavi2023",
            "upper",
        ),
    )


def _notes(k: int | None, gamma: float, x: float, sees: bool, orthogonal: bool) -> tuple[str, ...]:
    if orthogonal:
        return ("The spike is orthogonal to the hidden direction and does not help.",)
    if gamma == 0:
        return (_BOUNDED,)
    found = [
        f"Random weights have a correlation of order d^-{x / 2:.3g} with the label, "
        + ("as without a spike." if x == 1 else "instead of d^-0.5 without a spike.")
    ]
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
    return tuple(found)


def _degree(gamma: float) -> int:
    """Return the largest l with l (1 - gamma) <= 1."""
    return int(1 / (1 - gamma) + 1e-9)
