"""The best possible learner: Bayes-optimal message passing and its state evolution."""

from learnability.learners.bayes.learner import BayesAMP

__all__ = ["BayesAMP"]
