"""Studies: a learner over a grid and seeds, on one core or a cluster, stored run by run."""

from typing import TYPE_CHECKING

from learnability.loading import loaded_later

if TYPE_CHECKING:
    from learnability.studies.repairs import Findings as Findings
    from learnability.studies.repairs import check as check
    from learnability.studies.repairs import repair as repair
    from learnability.studies.store import Store as Store
    from learnability.studies.summary import export as export
    from learnability.studies.summary import info as info
    from learnability.studies.sweep import StudyWarning as StudyWarning
    from learnability.studies.sweep import study as study
else:
    _HOMES = {
        "repairs": ("Findings", "check", "repair"),
        "store": ("Store",),
        "summary": ("export", "info"),
        "sweep": ("StudyWarning", "study"),
    }
    __getattr__, __dir__ = loaded_later(__name__, _HOMES)
    __all__ = sorted(name for names in _HOMES.values() for name in names)
