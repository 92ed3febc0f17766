"""How the library is used: what a type checker accepts, and what it refuses, marked as such.

`test_front_door` checks this file with mypy and never runs it. A line marked `# refused:` must end
in an error of that code, and no other line in any.
"""

import numpy as np

import learnability as lb
from learnability import inputs
from learnability.inputs import Spiked
from learnability.learners.base import Learner

# ---- right

target = lb.MultiIndex("z1**2 + sign(z1*z2*z3)", noise=0.1)
spiked = lb.MultiIndex("z", inputs=lb.Spiked(strength=4.0, alignment=0.5))
deep = lb.Hierarchical("tanh(3*z)", "He2(z)", epsilon=0.5)
report = lb.hardness(target)
words: str = report.kind or "?"
more_words = lb.hardness(deep).conditions
sgd = lb.OnlineSGD(activation="tanh(z)", schedule=None)
variables: int = sgd.activation.r
by_function = lb.GiantSteps(activation=np.tanh)
amp = lb.BayesAMP(start="random", damping=0.7)
weight: float = amp.damping
theory = amp.predict(target, alpha=np.linspace(0.1, 4, 80))
runs = amp.simulate(target, d=500, alpha=[1.0, 2.0], seeds=4)
more = lb.study(amp, target, d=500, alpha=np.linspace(0.1, 4, 20), seeds=72, store="a.study")
path = amp.predict("abs(z)", question="path", alpha=1.0, steps=20)
mean = float(theory.error.mean())
picture = lb.plot(theory, runs)
sample = target.sample(0, n=10, d=20)
rows: tuple[int, ...] = sample.X.shape
law: lb.inputs.Inputs = inputs.Isotropic()
one: Learner = lb.Spectral(method="asymmetric")
several: list[Learner] = [lb.KernelRidge(ridge=0.1), lb.RandomFeatures(width=2.0), lb.GiantSteps()]
found = lb.estimators.MomentSubspace(n_components=1)
spike: float = float(np.max(Spiked(strength=1.0).strengths(10)))

# ---- wrong

lb.BayesAMP(dampng=3)  # refused: call-arg
lb.BayesAMP(damping="much")  # refused: arg-type
amp.predikt("z")  # refused: attr-defined
amp.predict("z", alfa=1.0)  # refused: call-arg
amp.simulate("z", d=10, alpha=1.0, sedes=4)  # refused: call-arg
amp.simulate("z", d="ten", alpha=1.0)  # refused: arg-type
amp.predict(3, alpha=1.0)  # refused: arg-type
amp.damping = 0.1  # refused: misc
print(amp.dampng)  # refused: attr-defined
lb.BayesAmp()  # refused: attr-defined
lb.MultiIndex("z", noize=0.1)  # refused: call-arg
lb.Spiked(strenght=4.0)  # refused: call-arg
lb.hardness("z", "w")  # refused: call-overload
print(lb.hardness.reports)  # refused: attr-defined
print(lb.estimator)  # refused: attr-defined
print(lb.estimators.Nothing)  # refused: attr-defined
lb.study("bayes-amp", "z", d=10, alpha=1.0)  # refused: arg-type
lb.Link(3)  # refused: arg-type
print(report.alfa_c)  # refused: attr-defined
lb.OnlineSGD(activation=3)  # refused: arg-type
