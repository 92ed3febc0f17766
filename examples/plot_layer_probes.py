"""
What each layer of a network can read
=====================================

A tree of depth 4 hides two levels of features between its directions and its label. Probes say how
linearly each level can be read off each layer of a network: here one that is trained layer by
layer, and then any model of yours, which gives its layers as arrays.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import learnability as lb
from learnability.learners.deep import train

# %%
# **A network trained on a tree.** The directions, the two features over them and the last feature
# become linear in layers 1, 2 and 3 in turn.
tree = lb.Hierarchical("tanh(z)", "He2(z)", N=(8, 2))
layers = (
    lb.SpectralFirstLayer(None), lb.UnfoldingLayer(2, width=100), lb.PreconditionedSecondLayer(50),
    lb.RidgeReadout(),
)  # fmt: skip
network = train(lb.Layerwise(layers), tree, n=4000, d=16)
fresh = next(tree.batches(0, 3000, 16, first=10**6, dtype=np.float32))
levels = tree.features(fresh.X, fresh.W)
probes = lb.layer_probes(network.layers, levels, inputs=fresh.X)
print(probes)
assert probes.value[0, 0] > 0.8 > probes.value[1, 0]  # Directions: in layer 1 only.
assert probes.value[0, 1] < 0.2 < 0.5 < probes.value[1, 1]  # Features over them: in layer 2.
assert probes.value[2, 2] > probes.value[0, 2]

# %%
# **Digits.** The layers of a classifier of scikit-learn, with how much ink an image has, its class,
# and whether the digit is odd. Ink is linear in the pixels and is forgotten from layer to layer.
# The class is more linear in the first hidden layer than in the pixels; the last layers have few
# neurons, in which it is linear only up to a softmax.
digits = load_digits()
pixels = digits.data / 16.0
model = MLPClassifier((64, 32, 16), max_iter=120, random_state=0, tol=1e-3).fit(
    pixels[:900], digits.target[:900]
)


def layers_of_the_classifier(inputs: np.ndarray) -> list[np.ndarray]:
    """The pixels and the three hidden layers."""
    found = [inputs]
    for weights, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        found.append(np.maximum(found[-1] @ weights + bias, 0))
    return found


held = slice(900, None)
levels = [pixels[held].sum(axis=1), np.eye(10)[digits.target[held]], digits.target[held] % 2]
found = lb.layer_probes(layers_of_the_classifier, levels, inputs=pixels[held])
print(found)
assert (np.diff(found.value[:, 0]) < 0).all()
assert found.value[1, 1] > found.value[0, 1] + 3 * found.stderr[0, 1]
