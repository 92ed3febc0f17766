"""The target functions of the literature, by name."""

from __future__ import annotations

from dataclasses import dataclass

from learnability.errors import LinkError
from learnability.labels.link import Link

__all__ = ["CATALOGUE", "Entry", "catalogue"]


@dataclass(frozen=True)
class Entry:
    """A named target function.

    Attributes
    ----------
    name : str
        Its name.
    text : str
        Its formula.
    about : str
        Where it is used, and for what.
    noise : float
        Variance of the label noise it comes with.
    """

    name: str
    text: str
    about: str
    noise: float = 0.0

    @property
    def link(self) -> Link:
        """The link."""
        return Link(self.text)


CATALOGUE = (
    Entry("linear", "z", "linear regression"),
    Entry("phase-retrieval", "abs(z)", "real phase retrieval, the easy class"),
    Entry("square", "z**2", "phase retrieval from squares, He2 up to a constant"),
    Entry("perceptron", "sign(z)", "the perceptron"),
    Entry("relu", "relu(z)", "one rectified neuron"),
    Entry("tanh", "tanh(z)", "one smooth neuron"),
    Entry("sine", "sin(z)", "the single-index target of one giant step"),
    Entry("hermite-2", "He2(z)", "information exponent 2"),
    Entry("hermite-3", "He3(z)", "information exponent 3, learned in two steps when data repeat"),
    Entry("hermite-4", "He4(z)", "information exponent 4, easy when data repeat"),
    Entry("window", "where(0.5 < abs(z) < 1.608310598815743, 1, 0)", "looks easy, is hard"),
    Entry("bump", "z**2*exp(-z**2)", "looks easy, is hard"),
    Entry("noisy-phase-retrieval", "abs(z)", "phase retrieval with label noise", 0.1),
    Entry("probit", "sign(z + sqrt(0.5)*xi)", "the perceptron with noise inside it"),
    Entry("logistic", "bernoulli(sigmoid(2*z))", "logistic regression"),
    Entry("poisson-square", "poisson(z**2)", "photon counts of phase retrieval"),
    Entry("flipped-parity-2", "flip(sign(z1*z2), 0.1)", "the parity with classification noise"),
    Entry("linear-plus-abs", "z1 + abs(z2)", "a trivial direction, then an easy one"),
    Entry("quadratic", "z1 + 2*z2 + z1*z2 + 3*z2**2", "a two-index polynomial"),
    Entry("committee", "(tanh(z1) + tanh(z2) + tanh(z3))/3", "a soft committee machine"),
    Entry("product-2", "z1*z2", "leap 2"),
    Entry("product-3", "z1*z2*z3", "leap 3, yet easy"),
    Entry("product-4", "z1*z2*z3*z4", "leap 4, yet easy"),
    Entry("parity-2", "sign(z1*z2)", "the weak-recovery transition at pi^2/4"),
    Entry("parity-3", "sign(z1*z2*z3)", "the hard class"),
    Entry("stair", "z1 + He3(z1)*z2 + He3(z2)*z3", "a CSQ staircase of three steps"),
    Entry("grand-staircase", "z1**2 + sign(z1*z2*z3)", "z1 opens first, then z2 and z3"),
    Entry("grand-staircase-he4", "He4(z1) + sign(z1*z2*z3)", "a staircase that needs repetition"),
    Entry("saddle", "z1 + z2 + z1**2 - z2**2", "two giant steps find both directions"),
    Entry("bowl", "z1 + z2 + z1**2 + z2**2 - 2", "giant steps stop at the first direction"),
    Entry("stair-products", "z1 + z1*z2 + z1*z3", "only z2 + z3 is relevant besides z1"),
    Entry("stair-he3", "z1 + z1*z2 + He3(z1)*z3", "both later directions open at once"),
    Entry(
        "five-terms",
        "z1 + He2(z2) + He2(z1)*z2 + He4(z1)*He2(z2)*z3 + He2(z2)*He2(z3)",
        "the long staircase of giant steps",
    ),
    Entry("hidden-polynomial", "He2(z) + He3(z)", "the inner polynomial of hierarchical targets"),
)


def catalogue(name: str) -> Entry:
    """Return the entry of a name.

    Parameters
    ----------
    name : str
        The name of the entry.

    Examples
    --------
    >>> catalogue("parity-2").text
    'sign(z1*z2)'
    """
    for entry in CATALOGUE:
        if entry.name == name:
            return entry
    names = ", ".join(entry.name for entry in CATALOGUE)
    raise LinkError(f"The catalogue has no entry {name!r}; it has {names}.")
