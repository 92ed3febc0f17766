"""
A learner of your own
=====================

A learner declares its fields, what it supports and which questions it answers, and computes.
Checks, loops, labels, studies and the command line come from the declarations. The learner is the
file ``mean_vector.py`` beside this script.
"""

import numpy as np
from mean_vector import MeanVector

import learnability as lb

learner = MeanVector()
theory = learner.predict("tanh(2*z1) + z2/2", alpha=np.linspace(0.2, 6, 30))
runs = lb.study(learner, "tanh(2*z1) + z2/2", d=200, alpha=[0.5, 2.0, 5.0], seeds=6)
picture = lb.plot(theory, runs, variable="subspace_overlap")
