"""The vocabulary of results: one row for each name, with its dims, label, unit and meaning.

Everything that names a result reads this table: the driver that labels what learners return, the
tables, the plots, the docs and the checks. A new observable is one new row.
"""

from __future__ import annotations

from typing import NamedTuple

from learnability.errors import LearnabilityError
from learnability.statuses import Status

__all__ = ["COORDINATES", "OBSERVABLES", "STDERR", "THRESHOLDS", "Row", "Status", "row_of"]

STDERR = "_stderr"
"""What the name of a standard error ends with."""


class Row(NamedTuple):
    """One name.

    Attributes
    ----------
    meaning : str
        One sentence.
    dims : tuple of str
        Inner dimensions; those of the question (alpha, seed, ...) come before them.
    label : str
        The label of an axis in a picture, with LaTeX.
    unit : str
        The unit of the values.
    by_ridge : bool
        Whether a learner with several ridges has one more inner dimension, `ridge`, in the end.
    """

    meaning: str
    dims: tuple[str, ...] = ()
    label: str = ""
    unit: str = ""
    by_ridge: bool = False


COORDINATES: dict[str, Row] = {
    "alpha": Row("Samples per dimension, n / d.", label=r"$\alpha = n/d$"),
    "kappa": Row("The order of the samples, log n / log d.", label=r"$\kappa = \log n / \log d$"),
    "n": Row("Number of samples.", label="$n$"),
    "d": Row("Dimension of the inputs.", label="$d$"),
    "time": Row("Steps per dimension, or the number of the iteration or step.", label="$t$"),
    "seed": Row("Seed of a run.", label="seed"),
    "estimate": Row("A row of the estimate: a posterior mean or a neuron.", label="estimate"),
    "other_estimate": Row("A second row of the estimate.", label="estimate"),
    "index": Row("A hidden direction, a row of W*.", label="index"),
    "marked": Row("A spike of the inputs.", label="spike"),
    "ridge": Row("Ridge of the regression.", label=r"ridge $\lambda$"),
    "step": Row("Number of a gradient step, from 1.", label="step"),
    "rank": Row("Place among singular values, largest first.", label="rank"),
    "feature_rank": Row("Place among the eigenvalues of features, largest first.", label="rank"),
    "control": Row("Labels as they are, permuted labels, or no step.", label="control"),
    "look": Row("Number of a measurement along a long run.", label="look"),
    "layer": Row("Number of a layer.", label="layer"),
    "level": Row("Degree of a polynomial.", label="degree"),
    "feature": Row("A feature of a hierarchical target.", label="feature"),
    "extremum": Row("Number of an extremum of the landscape.", label="extremum"),
    "singular_value": Row("Where a density of singular values is taken.", label="singular value"),
    "eigenvalue_at": Row("Where a density of eigenvalues is taken.", label="eigenvalue"),
}
"""Dimensions and coordinates."""

_MATRIX = ("estimate", "index")

OBSERVABLES: dict[str, Row] = {
    "overlap": Row(
        "Estimate times hidden directions, up to the symmetries of the link.", _MATRIX, "overlap"
    ),
    "error": Row(
        "Mean squared error against the noisy label, so at least the noise.",
        label="mean squared error",
        by_ridge=True,
    ),
    "misclassification": Row("Share of wrong labels.", label="share of wrong labels"),
    "subspace_overlap": Row(
        "Squared norm of the product of projectors over r.",
        label=r"subspace overlap $\|\hat P P^\star\|_F^2 / r$",
    ),
    "cosine": Row("The overlap with estimates of unit length.", _MATRIX, "cosine"),
    "correlation": Row(
        "Correlation of the field w.x with the argument of the label.",
        ("estimate", "index"),
        r"correlation $\rho$",
    ),
    "train_error": Row(
        "Mean squared error on the samples of the fit.", label="error on the samples", by_ridge=True
    ),
    "train_accuracy": Row("Share of the samples with the right label.", label="accuracy"),
    "accuracy": Row("Share of fresh samples with the right label.", label="accuracy"),
    "spike_overlap": Row(
        "Weights times the spikes of the inputs.", ("estimate", "marked"), "overlap"
    ),
    "gram": Row("Weights times weights.", ("estimate", "other_estimate"), "$W W^T$"),
    "length": Row("Squared length of the weights.", ("estimate",), "$|w|^2$"),
    "second_layer": Row("Weights of the second layer.", ("estimate",), "second layer"),
    "recovery_time": Row(
        "First time at which the overlap is reached, infinite if never.", label="time", unit="d"
    ),
    "iterations": Row("Number of iterations.", label="iterations"),
    "status": Row("How the run or the solution ended.", label="status", by_ridge=True),
    "eigenvalue": Row("Leading eigenvalues.", ("estimate",), "eigenvalue"),
    "edge": Row("Edge of the bulk of the spectrum.", label="edge"),
    "products": Row("Products with the matrix of samples.", label="products"),
    "overlap_trace": Row("The overlap along the run.", ("time", *_MATRIX), "overlap"),
    "error_trace": Row("The error along the run.", ("time",), "mean squared error"),
    "cosine_trace": Row("The cosine along the run.", ("time", *_MATRIX), "cosine"),
    "correlation_trace": Row("The correlation along the run.", ("time", *_MATRIX), "correlation"),
    "spike_overlap_trace": Row(
        "The overlap with the spikes along the run.",
        ("time", "estimate", "marked"),
        "overlap",
    ),
    "gram_trace": Row(
        "Weights times weights along the run.",
        ("time", "estimate", "other_estimate"),
        "$W W^T$",
    ),
    "length_trace": Row("The squared length along the run.", ("time", "estimate"), "$|w|^2$"),
    "second_layer_trace": Row(
        "The second layer along the run.", ("time", "estimate"), "second layer"
    ),
    "train_error_trace": Row(
        "The error on the samples along the run.", ("time",), "error on the samples"
    ),
}
"""Observables that tables and plots show first come first; families add their own below."""

OBSERVABLES |= {
    # Spectra and gradients of a first layer.
    "singular_values": Row("Singular values, largest first.", ("rank",), "singular value"),
    "singular_alignment": Row(
        "Squared projection of singular vectors on the hidden directions.", ("rank",), "alignment"
    ),
    "gradient_alignment": Row(
        "Share of the squared length of the gradient along the hidden directions.",
        label="alignment of the gradient",
    ),
    "gradient_correlation": Row(
        "Correlation of the gradient's fields with the argument of the label.",
        label="correlation of the gradient",
    ),
    "gradient_cosine": Row(
        "Cosine of each neuron's step with the hidden directions.",
        ("step", *_MATRIX),
        "cosine of the step",
    ),
    "label_correlation": Row(
        "Mean over neurons of the squared correlation of the field with the label's argument.",
        ("control",),
        r"$\rho^2$",
    ),
    "permuted_error": Row(
        "The error when the labels of the step were permuted.", label="error", by_ridge=True
    ),
    "none_error": Row("The error without a step.", label="error", by_ridge=True),
    "spike": Row("Strength of the spike of the first layer per neuron.", label="spike"),
    "alignment": Row("Cosine of the spike with the linear direction.", label="alignment"),
    "bulk": Row("Mean squared length of the bulk of a neuron.", label="bulk"),
    "spread": Row("Spread of the squared lengths of neurons, times d.", label="spread"),
    "outlier": Row("The singular value that leaves the bulk.", label="outlier"),
    "left": Row("Squared overlap of the left singular vector with the spike's.", label="left"),
    "right": Row("Squared overlap of the right singular vector with the spike's.", label="right"),
    "outlier_alignment": Row(
        "Squared projection of the outlier's right vector on the hidden directions.",
        label="alignment",
    ),
    "layer_singular_values": Row(
        "Singular values of the first layer before and after the steps, largest first.",
        ("time", "rank"),
        "singular value",
    ),
    "layer_alignment": Row(
        "Squared projection of their right vectors on the hidden directions.",
        ("time", "rank"),
        "alignment",
    ),
    "feature_eigenvalues": Row(
        "Eigenvalues of the covariance of the features, before and after the steps.",
        ("time", "feature_rank"),
        "eigenvalue",
    ),
    "layer_density": Row(
        "Density of the singular values of the first layer, outliers left out.",
        ("time", "singular_value"),
        "density",
    ),
    "feature_density": Row(
        "Density of the eigenvalues of the features, outliers left out.",
        ("time", "eigenvalue_at"),
        "density",
    ),
    "best_ridge": Row("The ridge of the smallest predicted error.", label="ridge"),
    # Networks in the mean-field scaling.
    "train_loss": Row("The loss on the samples at the end.", label="loss on the samples"),
    "accuracy_trace": Row(
        "The accuracy along the measurements; NaN after the end.", ("look",), "accuracy"
    ),
    # Landscapes of flows.
    "maxima": Row("Separatrices of the loss.", ("extremum",), "$S$"),
    "minima": Row("Minima of the loss.", ("extremum",), "$S$"),
    "recovery_probability": Row("Share of random starts that recover.", label="probability"),
    # Depth.
    "first_layer_overlap": Row(
        "Root mean square length of the unit rows of the first layer in the hidden subspace.",
        label="$M_W$",
    ),
    "first_layer_rank": Row(
        "How many directions the rows of the first layer span: their participation ratio.",
        label="effective rank",
    ),
    "feature_overlap": Row(
        "Size of the correlation of the fitted function with each feature.", ("feature",), "$M_h$"
    ),
    "robust_feature_overlap": Row(
        "The same correlation for values clipped at three deviations.",
        ("feature",),
        "$M_h$",
    ),
    "two_layer_error": Row("Error of the function that the second stage fits.", label="error"),
    "kernel_error": Row("Error of the best kernel in all d dimensions.", label="error"),
    "three_layer_bound": Row("Upper bound of the error of three layers.", label="error"),
    "three_layer_floor": Row("Lower bound of the error of three layers.", label="error"),
    "start_error": Row("The error before joint training.", label="error"),
    "n_first": Row("Samples that the first layer reads.", label="$n$"),
    "n_second": Row("Samples that the second stage reads.", label="$n$"),
    "n_third": Row("Samples that the third stage and those above it read.", label="$n$"),
    "n_total": Row("Different samples that the whole network reads.", label="$n$"),
    "kappa": COORDINATES["kappa"],  # Along alpha, where it is not an axis itself.
}

THRESHOLDS: dict[str, str] = {
    "alpha_c": "Above it a first direction is learned: weak recovery.",
    "alpha_algorithmic": "Above it message passing reaches the informed fixed point.",
    "alpha_information": "Above it the best estimator reaches the informed fixed point.",
    "alpha_full": "Above it the error is that of the noise.",
}
"""Attributes of a prediction that are ratios alpha."""


def row_of(name: str) -> Row:
    """Return the row of an observable or of its standard error.

    Raises
    ------
    LearnabilityError
        When the schema does not have the name.
    """
    base = name.removesuffix(STDERR)
    if base not in OBSERVABLES:
        raise LearnabilityError(f"The schema of results has no observable {name!r}.")
    row = OBSERVABLES[base]
    if base == name:
        return row
    return row._replace(meaning=f"Standard error of {base}.")
