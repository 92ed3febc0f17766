"""A few giant gradient steps on the first layer, then ridge regression on the second."""

from learnability.learners.giant._training import Training, train
from learnability.learners.giant.flow_network import FlowNetwork
from learnability.learners.giant.learner import GiantSteps
from learnability.learners.giant.split import Split, best_split

__all__ = ["FlowNetwork", "GiantSteps", "Split", "Training", "best_split", "train"]
