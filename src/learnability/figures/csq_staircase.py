"""The staircase of plain SGD: He2(z1) + sign(z1 z2 z3), with and without repetition.

z1 is visible to plain steps and opens z2 and z3; steps that use a sample twice climb too.

References
----------
Abbe, Boix-Adsera, Misiakiewicz, COLT 2023; Arnaboldi, Dandi, Krzakala, Pesce, Stephan,
arXiv:2405.15459.
"""

from __future__ import annotations

from learnability.figures._sgd_staircase import FULL, QUICK, Staircase

__all__ = ["FULL", "QUICK", "compute", "picture"]

_FIGURE = Staircase(
    link="He2(z1)/sqrt(2) + sign(z1*z2*z3)",
    activation="-(z + 0.5)*exp(-z**2/2)",
    step=0.1,
    look_ahead=-0.2,
    last=80.0,
)
compute, picture = _FIGURE.compute, _FIGURE.picture
