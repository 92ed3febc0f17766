"""scikit-learn estimators for data whose link is unknown."""

from learnability.estimators.dimension import DimensionReport, dimension_report
from learnability.estimators.displays import SpectrumDisplay, StabilityDisplay
from learnability.estimators.forecasts import Forecast, forecast
from learnability.estimators.gradient_subspace import GradientSubspace
from learnability.estimators.index_classifier import IndexClassifier
from learnability.estimators.index_regressor import IndexRegressor
from learnability.estimators.index_subspace import IndexSubspace
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.model_file import load_model, save_model
from learnability.estimators.moment_subspace import MomentSubspace
from learnability.estimators.out_of_core import held_out_score, parquet_rows
from learnability.estimators.prediction_reports import PredictionReport, prediction_report
from learnability.estimators.sparse_subspace import SparseSubspace
from learnability.estimators.staircase_displays import BlindnessDisplay, LandingsDisplay
from learnability.estimators.subspaces import (
    bootstrap_subspace,
    principal_angles,
    split_half,
    subspace_overlap,
)
from learnability.estimators.summary_display import SummaryDisplay

__all__ = [
    "BlindnessDisplay",
    "DimensionReport",
    "Forecast",
    "GradientSubspace",
    "IndexClassifier",
    "IndexRegressor",
    "IndexSubspace",
    "LandingsDisplay",
    "MessagePassingSubspace",
    "MomentSubspace",
    "PredictionReport",
    "SparseSubspace",
    "SpectrumDisplay",
    "StabilityDisplay",
    "SummaryDisplay",
    "bootstrap_subspace",
    "dimension_report",
    "forecast",
    "held_out_score",
    "load_model",
    "parquet_rows",
    "prediction_report",
    "principal_angles",
    "save_model",
    "split_half",
    "subspace_overlap",
]
