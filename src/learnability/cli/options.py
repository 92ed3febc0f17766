"""The options that several commands share: those of targets, of learners and of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "LEARNER",
    "TARGET",
    "Activation",
    "Alignment",
    "AlignmentExponent",
    "Alpha",
    "Anisotropy",
    "Batch",
    "Depth",
    "Directions",
    "Epsilon",
    "Expression",
    "Kernel",
    "LearnerName",
    "LookAhead",
    "Loss",
    "Noise",
    "Out",
    "Polynomial",
    "Ridge",
    "Rule",
    "Spherical",
    "SpikeExponent",
    "SpikeStrength",
    "Start",
    "StepSize",
    "Steps",
    "StoreFile",
    "Time",
    "Width",
    "given",
]

LearnerName = Annotated[
    str,
    typer.Argument(
        metavar="LEARNER",
        help="bayes-amp, spectral, online-sgd, batch-gd, random-features, kernel-ridge, "
        "giant-steps, layerwise, gradient-flow or mean-field-langevin.",
    ),
]
Expression = Annotated[
    str, typer.Argument(metavar="EXPR", help="The link, such as 'z1**2 + sign(z1*z2*z3)'.")
]
Alpha = Annotated[
    str | None,
    typer.Option(
        metavar="GRID", help="Samples over dimension: a:b:n (n points from a to b), x,y,z or one."
    ),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="GRID", help="For online-sgd instead of --alpha: steps over dimension."),
]
Polynomial = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR", help="P of a hierarchical target g(h), h = N^(-1/2) sum a_i P(z_i)."
    ),
]
Epsilon = Annotated[
    float | None, typer.Option(help="N = d^epsilon directions under a feature of it; 0.5.")
]
Directions = Annotated[
    int | None, typer.Option(help="N itself, instead of --epsilon, for each feature.")
]
Depth = Annotated[
    int | None, typer.Option(help="Layers that a hierarchical target needs; 3, more for trees.")
]
Noise = Annotated[float, typer.Option(help="Variance of the label noise.")]
SpikeStrength = Annotated[
    float | None,
    typer.Option("--spike", help="Spiked inputs: strength theta of the long direction."),
]
SpikeExponent = Annotated[
    float | None, typer.Option(help="Spiked inputs: theta = d^this, instead of --spike.")
]
Alignment = Annotated[
    float | None,
    typer.Option(help="Spiked inputs: cosine of the spike with the hidden direction; 1."),
]
AlignmentExponent = Annotated[
    float | None, typer.Option(help="Spiked inputs: that cosine is d^-this.")
]
Anisotropy = Annotated[
    float | None, typer.Option(help="Of the parity of mean-field-langevin, from 0 to 1.")
]
Start = Annotated[
    str | None,
    typer.Option(help="Where bayes-amp begins: auto, random, spectral or informed."),
]
Width = Annotated[
    float | None,
    typer.Option(help="Neurons; over dimension for random-features and giant-steps."),
]
Activation = Annotated[
    str | None,
    typer.Option(metavar="EXPR", help="Activation of the neurons, such as 'relu(z)'."),
]
Loss = Annotated[
    str | None, typer.Option(help="Of online-sgd and batch-gd: squared or correlation.")
]
Kernel = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR", help="k of the kernel k(x.x'/d) of kernel-ridge, such as 'exp(z)'."
    ),
]
Ridge = Annotated[
    float | None,
    typer.Option(help="Ridge of the readout, the kernel, batch-gd or the layers of layerwise."),
]
Batch = Annotated[
    float | None,
    typer.Option(help="Samples of a step: of online-sgd, or over dimension of giant-steps."),
]
StepSize = Annotated[
    float | None,
    typer.Option("--step", help="Step size in units of 1/d; of giant-steps over the neurons."),
]
Steps = Annotated[
    int | None,
    typer.Option(help="Number of steps of batch-gd, giant-steps and layerwise's first layer."),
]
Rule = Annotated[
    str | None,
    typer.Option(help="Of online-sgd: plain, extragradient, repetition, sam or lookahead."),
]
LookAhead = Annotated[float | None, typer.Option(help="Look-ahead of online-sgd in units of 1/d.")]
Spherical = Annotated[
    bool | None, typer.Option("--spherical", help="Keep the neurons of online-sgd on the sphere.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Save the result (.nc, .csv, .zarr) instead of printing a table."
    ),
]
StoreFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keep every finished run here, and use those that are."),
]

TARGET = (
    "polynomial",
    "epsilon",
    "directions",
    "depth",
    "spike",
    "spike_exponent",
    "alignment",
    "alignment_exponent",
    "anisotropy",
)
LEARNER = (
    "start",
    "width",
    "activation",
    "loss",
    "kernel",
    "ridge",
    "batch",
    "step",
    "steps",
    "rule",
    "look_ahead",
    "spherical",
)


def given(context: typer.Context, names: tuple[str, ...]) -> dict[str, Any]:
    """What a command was given for some of its options, those that it has."""
    return {name: context.params[name] for name in names if name in context.params}
