"""The learner: an immutable record of declared fields that answers declared questions.

A learner defines `theory` and one of `run`, `run_seed` and `run_one`: the widest that it computes
at once, for all seeds, for one seed and all alphas, or for one seed and one alpha. The
rest (checks, loops, stacking, labels, progress, provenance) is written here and in `driver`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from learnability.errors import LearnabilityError
from learnability.learners.base.questions import At, Question
from learnability.learners.base.support import Support

if TYPE_CHECKING:
    import xarray

    from learnability.targets import TargetLike

__all__ = ["Found", "Learner"]


@dataclass(frozen=True)
class Found:
    """What a learner computed.

    Attributes
    ----------
    values : mapping
        Name of the schema -> array, leading dimensions first. X_stderr is the standard error of X.
    coords : mapping
        Name -> values along an inner dimension.
    attrs : mapping
        Numbers and words about the whole result, such as thresholds and a note.
    lead : tuple of str or None
        Leading dimensions where they are not those of the question.
    """

    values: Mapping[str, Any]
    coords: Mapping[str, Any] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    lead: tuple[str, ...] | None = None


class Learner(ABC):
    """A learner with its two sides, runs on samples and theory in high dimension."""

    name: ClassVar[str]
    """Its name on the command line."""
    supports: ClassVar[Support] = Support()
    questions: ClassVar[tuple[Question, ...]]
    """The first is asked when none is named."""
    numerics_version: ClassVar[int] = 1
    """Stored runs of another version are not used again."""

    def simulate(
        self,
        target: TargetLike,
        *,
        question: str | None = None,
        seeds: int | Sequence[int] = 1,
        **at: Unpack[At],
    ) -> xarray.Dataset:
        """Run the algorithm on samples.

        Parameters
        ----------
        target : MultiIndex, Hierarchical, Link or str
            Where the samples come from.
        question : str, optional
            What is asked; by default the first of `questions`.
        seeds : int or sequence of int
            Number of runs, or their seeds.
        **at
            Arguments of the question, such as `d`, `alpha` or `time`.

        Returns
        -------
        xarray.Dataset
            The observables of the question over its axes and `seed`.

        Raises
        ------
        LearnabilityError
            When the learner does not support the target, or an argument is not accepted.
        """
        from learnability.learners.base.driver import simulated

        return simulated(self, target, question, seeds, dict(at)).to_dataset()

    def predict(
        self,
        target: TargetLike,
        *,
        question: str | None = None,
        seeds: int | Sequence[int] | None = None,
        **at: Unpack[At],
    ) -> xarray.Dataset:
        """Say what the theory expects of the algorithm.

        Parameters
        ----------
        target : MultiIndex, Hierarchical, Link or str
            Where the samples come from.
        question : str, optional
            What is asked; by default the first of `questions`.
        seeds : int or sequence of int, optional
            Seeds of random starts or samples, where the theory depends on them.
        **at
            Arguments of the question, such as `alpha` or `time`; `d` where the target or the
            question depends on the dimension.

        Returns
        -------
        xarray.Dataset
            The observables of the question over its axes.

        Raises
        ------
        LearnabilityError
            When there is no theory, or an argument is not accepted.
        """
        from learnability.learners.base.driver import predicted

        return predicted(self, target, question, seeds, dict(at)).to_dataset()

    # ---- what a learner defines

    def run(self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int]) -> Found:
        """Answer for all seeds: arrays have the axes of the question, then the seeds, first.

        Parameters
        ----------
        question : str
            Name of the question.
        target : Target
            Where the samples come from; the declared support has been checked.
        at : mapping
            Arguments of the question in their final form; alphas and times are arrays.
        seeds : sequence of int
            The seeds of the runs.
        """
        from learnability.learners.base.driver import seed_by_seed

        return seed_by_seed(self, question, target, at, seeds)

    def run_seed(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Answer for one seed: arrays have the axes of the question first.

        Parameters
        ----------
        question, target, at
            As in `run`.
        seed : int
            The seed of the run.
        """
        from learnability.learners.base.driver import alpha_by_alpha

        return alpha_by_alpha(self, question, target, at, seed)

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Answer for one seed and one alpha, a float in `at`: arrays have inner dimensions only.

        Parameters
        ----------
        question, target, at
            As in `run`, except that alpha is a float.
        seed : int
            The seed of the run.
        """
        raise NotImplementedError

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Answer by theory: arrays have the axes of the question first.

        Parameters
        ----------
        question, target, at
            As in `run`.
        seeds : sequence of int or None
            Seeds, where the theory depends on random starts or samples.

        Raises
        ------
        LearnabilityError
            When there is no theory.
        """
        raise LearnabilityError(f"{self.name} has no known theory: `simulate` runs it.")

    def sketch(
        self, question: str, target: Any, at: Mapping[str, Any], most_steps: int
    ) -> Found | None:
        """Answer by theory within a second, less accurately; most learners do not define this.

        Parameters
        ----------
        question, target, at
            As in `run`.
        most_steps : int
            There is no sketch where an iteration would take more steps than this.

        Returns
        -------
        Found or None
            None where the theory itself is quick, or where a sketch would be unreliable.
        """
        return None

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse, before any work, what the declared support cannot express; by default nothing.

        Parameters
        ----------
        question, target, at
            As in `run`.
        verb : str
            "simulate" or "predict".

        Raises
        ------
        LearnabilityError
            When the question has no answer there.
        """
        del question, verb, target, at

    @property
    def ridges(self) -> tuple[float, ...]:
        """All values of the field `ridge`, also where there is one."""
        given: Any = getattr(self, "ridge", ())
        return given if isinstance(given, tuple) else (given,)
