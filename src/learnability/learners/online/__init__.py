"""One-pass SGD: simulated at any dimension, predicted by its equations of motion."""

from learnability.learners.online.learner import OnlineSGD

__all__ = ["OnlineSGD"]
