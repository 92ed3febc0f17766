"""Studies: a learner over a grid and seeds, on one core or a cluster, stored run by run."""

from learnability.studies.store import Store
from learnability.studies.study import StudyWarning, study

__all__ = ["Store", "StudyWarning", "study"]
