"""
How hard is a function to learn?
================================

The report of a function says which of its directions open after which, at how many samples per
dimension, and which algorithm gets there.
"""

import learnability as lb

report = lb.hardness("z1**2 + sign(z1*z2*z3)")
print(report)

# %%
# The first direction opens at alpha = 0.575. It makes the sign visible, whose two directions then
# open at pi^2 / 4.

for step in report.staircase:
    print(step.kind, round(step.alpha, 4), step.directions.round(3).tolist())
picture = report.plot()
