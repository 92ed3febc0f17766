"""Studies: a learner over a grid and seeds, on one core or a cluster, stored run by run."""

from learnability.studies.repairs import Findings, check, repair
from learnability.studies.store import Store
from learnability.studies.summary import export, info
from learnability.studies.sweep import StudyWarning, study

__all__ = ["Findings", "Store", "StudyWarning", "check", "export", "info", "repair", "study"]
