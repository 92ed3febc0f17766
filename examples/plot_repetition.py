"""
Why it helps to use a sample twice
==================================

One-pass SGD learns He3 in d^2 steps. A step that uses its sample twice sees more than correlations
with the label, and d steps are enough. Both run here as exact Markov chains of their order
parameters, at a cost that does not depend on the dimension.
"""

import numpy as np

import learnability as lb

times = np.linspace(0, 40, 21)
common = {"activation": "relu(z)", "loss": "correlation", "step": 0.3, "spherical": True}
for label, learner in {
    "once": lb.OnlineSGD(**common),
    "twice": lb.OnlineSGD(rule="extragradient", look_ahead=1.0, **common),
}.items():
    runs = learner.simulate("He3(z)/sqrt(6)", d=1000, time=times, seeds=8)
    found = np.abs(runs.overlap.squeeze()).mean("seed")
    print(f"{label}: mean overlap {float(found):.2f} after 40 d steps")
    picture = lb.plot(runs=np.abs(runs[["overlap_trace"]]).assign_attrs(runs.attrs))
