"""Gradient flows of one neuron on inputs with one long direction."""

from learnability.learners.flow.learner import GradientFlow

__all__ = ["GradientFlow"]
