"""
What the simplest method makes of a target
==========================================

A linear model sees a direction only through E[y z]. On labels sign(z) that is enough, and the
choice of the loss matters little; on sign(z1*z2) no number of samples helps it, while message
passing, which knows the link, finds both directions.
"""

import numpy as np

import learnability as lb

alpha = np.linspace(0.4, 6, 15)
logistic = lb.LinearModel(loss="logistic", ridge=0.5)
theory = logistic.predict("sign(z)", alpha=alpha)
runs = logistic.simulate("sign(z)", d=150, alpha=[1.0, 2.5, 5.0], seeds=6)
picture = lb.plot(theory, runs, variable="misclassification")

# %%
# The other losses at six samples per dimension, and the best that any method can do.

losses = [lb.LinearModel(loss=loss, ridge=0.5) for loss in ("hinge", "logistic")]
for learner in (*losses, lb.BayesAMP()):
    wrong = float(learner.predict("sign(z)", alpha=6.0).misclassification)
    print(f"{learner!r:50} {wrong:.4f}")

# %%
# A parity of two signs has no linear part.

for link in ("sign(z1*z2)", "sign(z1 + 0.5*z1*z2)"):
    found = logistic.predict(link, alpha=6.0)
    print(f"{link:24} wrong labels {float(found.misclassification):.3f}")
