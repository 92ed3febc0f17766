"""
Theory as lines, runs as crosses
================================

Every learner has two sides. `predict` is the theory in high dimension, `simulate` runs the
algorithm on samples, and both return the same names, so that one function draws them together.
"""

import numpy as np

import learnability as lb

amp = lb.BayesAMP()
theory = amp.predict("sign(z1*z2)", alpha=np.linspace(1, 6, 26))
runs = amp.simulate("sign(z1*z2)", d=120, alpha=[1.5, 3.5, 5.0], seeds=4)
picture = lb.plot(theory, runs)

# %%
# Below the threshold nothing is learned, however long message passing runs.

print(f"alpha_c = {theory.alpha_c:.4f}, pi^2/4 = {np.pi**2 / 4:.4f}")
