"""Random problems, on which theory is held to runs: seeds and criterion are fixed here.

Problem k of a family is drawn from the generator [stream, family, k], by default of stream 23. A
number that `predict` gives is right when it is within three standard errors of the difference, its
own stated error included, plus 2 % of the mean of the runs; at least 97 % have to be. A refusal is
counted, and is no number. Where the theory takes the seeds of the runs it is given them; the limit
of large d, where there is one, is judged apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnability import (
    BatchGD,
    FlowNetwork,
    GiantSteps,
    GradientFlow,
    KernelRidge,
    LinearModel,
    MultiIndex,
    OnlineSGD,
    RandomFeatures,
)
from learnability.inputs import Inputs, Isotropic, PowerLaw, Signs, Spiked
from learnability.learners.base import Learner

__all__ = ["FAMILIES", "Problem", "problem"]

Draw = Callable[[np.random.Generator], "Problem"]


class Problem(NamedTuple):
    """A learner, a target and where both are looked at.

    Attributes
    ----------
    learner : Learner
        What learns.
    target : MultiIndex
        What is learned.
    at : dict
        Arguments of `simulate`.
    observable : str
        What is compared.
    """

    learner: Learner
    target: MultiIndex
    at: dict[str, Any]
    observable: str


SINGLE = (
    "{a}*z + {b}*He2(z)",
    "tanh({c}*z) + {b}*z**2",
    "relu(z + {b})",
    "sign(z) + {b}*z",
    "sin({c}*z) + {b}*abs(z)",
    "{a}*z + {b}*He3(z)/sqrt(6)",
    "erf({c}*z)",
)
SEVERAL = (
    "z1 + {b}*z1*z2",
    "tanh({c}*z1) + {b}*z2**2",
    "sign(z1) + {b}*abs(z2)",
    "relu(z1 + {b}*z2) + {a}*z2",
    "z1 + {b}*z2*z3 + {a}*tanh(z3)",
    "z1 + {a}*z2 + {b}*He2(z1 - z2)",
)
CUBIC = "z1 + {}*He2(z1)/sqrt(2) + {}*He3(z1)/sqrt(6) + {}*z1*z2"
ACTIVATIONS = (
    "relu(z)", "relu(z)", "tanh(z)", "erf(z)", "sin(2*z)", "abs(z)", "relu(z + 0.5)",
    "tanh(z) + 0.2*z**2",
)  # fmt: skip
CURVED = (
    "z**2 - 1", "z**2 - 1", "He3(z)", "cosh(z/2)", "abs(z)", "z + 0.3*z**2", "relu(z)",
    "z*exp(-z**2/4)",
)  # fmt: skip
LAWS = (
    "flip(sign({link}), 0.15)", "flip(sign({link}), 0.4*exp(-z1**2))",
    "bernoulli(sigmoid(2*({link})))", "poisson(exp(0.4*tanh({link})))",
    "poisson(0.5 + abs({link}))",
    "categorical(0.2, 0.8*sigmoid({link}), 0.8 - 0.8*sigmoid({link}))",
    "({link})*(1 + 0.3*xi)", "tanh({link} + 0.7*xi)", "abs({link} + xi)", "{link} + z1*xi",
    "max({link}, xi)", "sign({link} + xi1) + 0.5*xi2",
)  # fmt: skip
KERNELS = ("exp(z)", "quadratic", "(1 + z)**3", "exp(z3 - z1/2 - z2/2)", "mehler", "1/(1.5 - z)")


def _link(rng: np.random.Generator, single: bool | None = None) -> str:
    alone = rng.random() < 0.6 if single is None else single
    a, b, c = rng.uniform(0.3, 1.5), rng.uniform(-1, 1), rng.uniform(0.5, 2)
    form = str(rng.choice(SINGLE if alone else SEVERAL))
    return form.format(a=round(a, 3), b=round(b, 3), c=round(c, 3))


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Uniform in the logarithm, three digits."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def _inputs(rng: np.random.Generator, kinds: tuple[str, ...], chances: tuple[float, ...]) -> Inputs:
    kind = str(rng.choice(kinds, p=chances))
    first, second = _between(rng, 1, 40), _between(rng, 1, 40)
    cosine = round(float(rng.uniform(0, 1)), 2)
    if kind == "spiked":
        return Spiked(strength=first, alignment=cosine)
    if kind == "two spikes":
        return Spiked(strength=(first, second), alignment=((cosine,), (0.0,)))
    if kind == "power-law":
        return PowerLaw(exponent=round(float(rng.uniform(0.2, 1)), 2))
    return Isotropic()


def _target(
    rng: np.random.Generator, kinds: tuple[str, ...], chances: tuple[float, ...]
) -> MultiIndex:
    inputs = _inputs(rng, kinds, chances)
    two = isinstance(inputs, Spiked) and inputs.count == 2
    link = _link(rng, True if two else None)
    noise = 0.0 if rng.random() < 0.5 else round(float(rng.uniform(0.05, 0.5)), 3)
    return MultiIndex(link, noise=noise, inputs=inputs)


def giant(rng: np.random.Generator) -> Problem:
    """Giant steps: activation, second layer, batch, step, spikes, widths."""
    target = _target(rng, ("isotropic", "spiked", "two spikes", "power-law"), (0.6, 0.2, 0.1, 0.1))
    inits: tuple[Any, ...] = ("ones", "ones", "signs", "symmetric", "gaussian", (1.0, -0.5, 2.0))
    init = inits[int(rng.integers(len(inits)))]
    steps = 1 if rng.random() < 0.7 else 2
    learner = GiantSteps(
        width=_between(rng, 0.3, 1.5),
        activation=str(rng.choice(ACTIVATIONS)),
        batch=_between(rng, 0.5, 8),
        steps=steps,
        step=_between(rng, 0.1, 4),
        init=init,
        reuse=bool(steps > 1 and rng.random() < 0.5),
        ridge=_between(rng, 0.01, 1),
        bias=0.5 if rng.random() < 0.2 else 0.0,
    )
    return Problem(learner, target, {"d": 400, "alpha": _between(rng, 0.5, 4)}, "error")


def uneven(rng: np.random.Generator) -> Problem:
    """Giant steps on few samples, after which rows have few effective dimensions."""
    inits: tuple[Any, ...] = ("ones", "signs", "symmetric", "gaussian", (1.0, -0.5, 2.0))
    steps = int(rng.integers(1, 4))
    noise = 0.0 if rng.random() < 0.5 else round(float(rng.uniform(0.05, 1)), 3)
    learner = GiantSteps(
        width=_between(rng, 0.3, 1.5),
        activation=str(rng.choice(CURVED)),
        batch=_between(rng, 0.3, 2),
        steps=steps,
        step=_between(rng, 0.5, 4),
        init=inits[int(rng.integers(len(inits)))],
        reuse=bool(steps > 1 and rng.random() < 0.3),
        ridge=_between(rng, 0.01, 1),
    )
    at = {"d": 300, "alpha": _between(rng, 0.4, 3)}
    return Problem(learner, MultiIndex(_link(rng), noise=noise), at, "error")


def lazy(rng: np.random.Generator) -> Problem:
    """Kernels and random features."""
    target = _target(rng, ("isotropic", "spiked", "two spikes", "power-law"), (0.4, 0.3, 0.1, 0.2))
    ridge = _between(rng, 0.01, 1)
    learner: Learner
    if rng.random() < 0.5:
        learner = KernelRidge(str(rng.choice(KERNELS)), ridge=ridge)
    else:
        learner = RandomFeatures(_between(rng, 0.3, 2), str(rng.choice(ACTIVATIONS)), ridge=ridge)
    return Problem(learner, target, {"d": 400, "alpha": _between(rng, 0.3, 2)}, "error")


def finite(rng: np.random.Generator) -> Problem:
    """Kernels and random features in small dimensions, n and p at powers of d."""
    noise = 0.0 if rng.random() < 0.5 else round(float(rng.uniform(0.05, 0.5)), 3)
    link = _link(rng) if rng.random() < 0.7 else CUBIC.format(*rng.uniform(-1, 1, 3).round(3))
    d, ridge = round(_between(rng, 20, 100)), _between(rng, 0.01, 1)
    n = min(round(d ** float(rng.uniform(0.9, 2.4))), 4000)
    learner: Learner
    if rng.random() < 0.5:
        learner = KernelRidge(str(rng.choice(KERNELS)), ridge=ridge)
    else:
        p = min(round(d ** float(rng.uniform(0.6, 2.2))), 4000)
        learner = RandomFeatures(p / d, str(rng.choice(ACTIVATIONS)), ridge=ridge)
    observable = "error" if rng.random() < 0.75 else "train_error"
    return Problem(learner, MultiIndex(link, noise=noise), {"d": d, "alpha": n / d}, observable)


def moving(rng: np.random.Generator) -> Problem:
    """One-pass SGD and gradient flows, from one start."""
    inputs = _inputs(rng, ("isotropic", "spiked"), (0.5, 0.5))
    noise = 0.0 if rng.random() < 0.5 else round(float(rng.uniform(0.05, 0.5)), 3)
    target = MultiIndex(_link(rng, True), noise=noise, inputs=inputs)
    activation = str(rng.choice(ACTIVATIONS))
    time = _between(rng, 0.3, 6)
    learner: Learner
    if rng.random() < 0.5:
        flow = str(rng.choice(("spherical", "normalised", "whitened")))
        learner = GradientFlow(activation, flow=flow, step=0.005)
    else:
        learner = OnlineSGD(
            1, activation, step=_between(rng, 0.05, 0.5), spherical=bool(rng.random() < 0.5)
        )
    overlap = round(float(rng.uniform(0.2, 0.7)), 2)
    start = (
        (1.0, overlap) if inputs.kind == "isotropic" else (1.0, overlap, round(0.7 * overlap, 3))
    )
    if isinstance(inputs, Spiked) and inputs.alignment == 1.0:
        start = (1.0, overlap, overlap)
    return Problem(learner, target, {"d": 1000, "time": [0.0, time], "start": start}, "error")


def whitened(rng: np.random.Generator) -> Problem:
    """Neurons on the whitened flow of n samples, then a readout."""
    inputs = _inputs(rng, ("isotropic", "spiked", "power-law"), (0.4, 0.3, 0.3))
    noise = 0.0 if rng.random() < 0.5 else round(float(rng.uniform(0.05, 0.5)), 3)
    target = MultiIndex(_link(rng, True), noise=noise, inputs=inputs)
    learner = FlowNetwork(
        int(rng.choice([8, 16, 32])), str(rng.choice(ACTIVATIONS)), ridge=_between(rng, 0.01, 1),
        bias=round(float(rng.uniform(0, 1.5)), 2), step=0.1,
    )  # fmt: skip
    return Problem(learner, target, {"d": 50, "alpha": _between(rng, 20, 300)}, "error")


def linear(rng: np.random.Generator) -> Problem:
    """Linear models of the squared, the huber and the logistic loss."""
    noise = 0.0 if rng.random() < 0.5 else round(float(rng.uniform(0.05, 0.5)), 3)
    at = {"d": 300, "alpha": _between(rng, 0.5, 5)}
    ridge, loss = _between(rng, 0.05, 5), str(rng.choice(("squared", "huber", "logistic")))
    if loss == "logistic":
        target = MultiIndex(f"sign({_link(rng)})")
        return Problem(LinearModel(loss, ridge), target, at, "misclassification")
    return Problem(LinearModel(loss, ridge), MultiIndex(_link(rng), noise=noise), at, "error")


def laws(rng: np.random.Generator) -> Problem:
    """Labels with a law of their own, for every learner that has samples in proportion to d."""
    which = int(rng.integers(6))
    allowed = (
        ("isotropic", "spiked", "two spikes"),
        ("isotropic", "spiked", "two spikes", "power-law"),
    )[which > 0]
    inputs = _inputs(rng, allowed, (1 / len(allowed),) * len(allowed))
    if which > 1 and rng.random() < 0.15:
        inputs = Signs(anisotropy=round(float(rng.uniform(0, 1)), 2))
    single = inputs.kind != "isotropic" or bool(rng.random() < 0.5)
    link = str(rng.choice(LAWS)).format(link=_link(rng, single))
    if single:
        link = link.replace("z1", "z")
    target = MultiIndex(link, inputs=inputs)
    ridge, alpha = _between(rng, 0.05, 2), _between(rng, 0.4, 3)
    activation = str(rng.choice(ACTIVATIONS))
    at: dict[str, Any] = {"d": 400, "alpha": alpha}
    learner: Learner
    if which == 0:
        neurons, spherical = int(rng.integers(1, 4)), bool(rng.random() < 0.5)
        learner = OnlineSGD(neurons, activation, step=_between(rng, 0.05, 0.5), spherical=spherical)
        at = {"d": 400, "time": [0.0, alpha]}
    elif which == 1:
        learner = BatchGD(
            int(rng.integers(1, 4)), activation=activation, step=_between(rng, 0.1, 1)
        )
    elif which == 2:
        learner = GiantSteps(
            width=_between(rng, 0.3, 1.5), activation=activation, batch=_between(rng, 0.5, 8),
            step=_between(rng, 0.1, 2), ridge=ridge,
            init=str(rng.choice(("ones", "symmetric", "gaussian"))),
        )  # fmt: skip
    elif which == 3:
        learner = KernelRidge(str(rng.choice(KERNELS)), ridge=ridge)
    elif which == 4:
        learner = RandomFeatures(_between(rng, 0.3, 2), activation, ridge=ridge)
    else:
        learner = LinearModel(str(rng.choice(("squared", "huber"))), ridge)
    return Problem(learner, target, at, "error")


FAMILIES: dict[str, tuple[int, int, Draw]] = {
    "giant": (100, 8, giant),
    "lazy": (100, 6, lazy),
    "moving": (60, 8, moving),
    "whitened": (30, 6, whitened),
    "linear": (40, 6, linear),
    "finite": (100, 12, finite),
    "uneven": (60, 12, uneven),
    "laws": (120, 8, laws),
}
"""Family -> problems, seeds of each, and how one is drawn."""


def problem(family: str, k: int, stream: int = 23) -> Problem:
    """Problem k of a family.

    Parameters
    ----------
    family : str
        One of FAMILIES.
    k : int
        From 0 on; those below the count of the family are judged, others are for development.
    stream : int
        Another one gives other problems.
    """
    place = list(FAMILIES).index(family)
    return FAMILIES[family][2](np.random.default_rng([stream, place, k]))
