"""A few giant gradient steps on the first layer, then ridge regression on the second."""

from learnability.learners.giant._training import Training, train
from learnability.learners.giant.learner import GiantSteps

__all__ = ["GiantSteps", "Training", "train"]
