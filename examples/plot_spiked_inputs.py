"""
Inputs with a long direction
============================

The law of the inputs is a noun of its own. Here a kernel learns a cubic of the long direction of
its inputs, better the longer that direction is.
"""

import learnability as lb

kernel = lb.KernelRidge("exp(z)", ridge=0.01)
for exponent in (0.0, 0.5, 0.8):
    target = lb.MultiIndex("He3(z)/sqrt(6)", inputs=lb.Spiked(exponent=exponent))
    runs = kernel.simulate(target, d=100, alpha=4.0, seeds=3)
    error = float(runs.error.mean())
    print(f"spike of strength d^{exponent}: error {error:.2f} of a variance of 1")

# %%
# Every learner says what it supports.

try:
    lb.BayesAMP().predict(target, alpha=1.0)
except lb.LearnabilityError as sentence:
    print(sentence)
