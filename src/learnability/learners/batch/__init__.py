"""Full-batch gradient descent that reuses its batch, and its dynamical mean-field theory."""

from learnability.learners.batch.learner import BatchGD

__all__ = ["BatchGD"]
