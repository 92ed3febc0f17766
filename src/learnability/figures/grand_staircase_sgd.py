"""The grand staircase by SGD: He4(z1) + sign(z1 z2 z3) is learned only with repetition.

Plain steps see nothing in times of order d log d; steps that use a sample twice see functions of
the label, find z1, and then z2 and z3.

References
----------
Troiani, Dandi, Defilippis, Zdeborova, Loureiro, Krzakala, arXiv:2405.15480; Arnaboldi, Dandi,
Krzakala, Pesce, Stephan, arXiv:2405.15459.
"""

from __future__ import annotations

from learnability.figures._sgd_staircase import FULL, QUICK, Staircase

__all__ = ["FULL", "QUICK", "compute", "picture"]

_FIGURE = Staircase(
    link="He4(z1)/sqrt(24) + sign(z1*z2*z3)",
    activation="sin(0.6 - z)",
    step=0.1,
    look_ahead=0.5,
    last=200.0,
)
compute, picture = _FIGURE.compute, _FIGURE.picture
