"""
The few directions in a table
=============================

Where nobody knows the function, an estimator finds the directions of a table that a column depends
on. Here the table is drawn, so that the answer is known.
"""

import numpy as np

import learnability as lb

rng = np.random.default_rng(0)
X = rng.standard_normal((1500, 10))
y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(1500)

found = lb.estimators.MomentSubspace(n_components=1).fit(X, y)
direction = found.components_[0] / np.linalg.norm(found.components_[0])
print(direction.round(2))
assert abs(direction[:2].sum()) / np.sqrt(2) > 0.9
