"""Linear models fitted by a convex loss: least squares, Huber, logistic and hinge."""

from learnability.learners.linear.learner import LinearModel

__all__ = ["LinearModel"]
