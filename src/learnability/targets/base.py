"""What every target offers, and the checks they share."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.errors import LearnabilityError, refuse
from learnability.fields import declared, is_number
from learnability.inputs import Inputs
from learnability.labels.channel import Channel
from learnability.labels.link import Link
from learnability.markup import card, formula, html_table
from learnability.randomness import checked_seed

__all__ = [
    "Draw",
    "Sample",
    "Target",
    "beyond",
    "checked_memory",
    "checked_sizes",
    "free_memory",
]


class Sample(NamedTuple):
    """Data drawn from a target.

    Attributes
    ----------
    X : array, shape (n, d)
        Inputs.
    y : array, shape (n,)
        Labels.
    W : array, shape (r, d)
        Hidden weights, orthonormal rows.
    h : array, shape (n, r)
        Hidden coordinates: standardised X W^T, or the features of a hierarchical target.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    W: NDArray[Any]
    h: NDArray[Any]


Draw = Callable[[int, int, DTypeLike], Sample]
"""(number of the batch, n, dtype) -> its samples."""


class Target(ABC):
    """A law of labelled data in every dimension d, with its hidden weights."""

    kind: ClassVar[str]
    """The name by which learners declare what they support."""
    numerics_version: ClassVar[int] = 1
    """The version of the samples: stored runs of another version are not reused."""

    link: Link
    noise: float
    inputs: Inputs

    @property
    def r(self) -> int:
        """Number of variables of the link."""
        return self.link.r

    def _repr_html_(self) -> str:
        """The rich form in a notebook: what the labels are, and where the inputs come from."""
        noise = rf" + \sqrt{{{self.noise:g}}}\,\xi" if self.noise else ""
        rows = [("kind", self.kind), ("variables of the link", str(self.r)),
                ("variance of the label noise", f"{self.noise:g}"),
                ("inputs", escape(repr(self.inputs)))]  # fmt: skip
        rows += [
            (field.name, escape(str(getattr(value, "text", None) or value)))
            for field, _ in declared(self)
            if field.name != "noise" and (value := getattr(self, field.name)) is not None
        ]
        return card(formula(f"y = {self.link.latex}{noise}"), html_table((), rows))

    @property
    def channel(self) -> Channel:
        """The law P(y | z)."""
        return Channel(self.link, self.noise)

    def simplified(self) -> Target:
        """Return the target with `noise` that includes the noise which its label merely adds."""
        return self

    @property
    @abstractmethod
    def label_mean(self) -> float:
        """E[y]."""

    @property
    @abstractmethod
    def label_variance(self) -> float:
        """Var(y), noise included."""

    @property
    def link_of_inputs(self) -> Link | None:
        """The link, where its variables are orthonormal coordinates of the inputs; else None."""
        return None

    @property
    def label_noise(self) -> float:
        """E Var(y | z), the least error of any predictor of the label."""
        return self.channel.label_noise

    @property
    def signal_power(self) -> float | None:
        """E[f^2] without noise where it is known exactly and samples of it have heavy tails."""
        return None

    @property
    def label_values(self) -> tuple[float, ...] | None:
        """All labels, sorted, where they are finitely many; None otherwise."""
        return None if self.channel.noise else self.link.values

    @abstractmethod
    def degree_energies(self, degree: int, d: int | None = None) -> tuple[NDArray[Any], float]:
        """Return the energies |P_k f|^2 of the label without noise, by degree of the inputs.

        Parameters
        ----------
        degree : int
            The highest degree that has an entry of its own.
        d : int, optional
            Dimension, where the target depends on it.

        Returns
        -------
        (array of shape (degree + 1,), float)
            The energies of degrees 0 ... `degree`, and the energy of all higher ones.
        """

    @property
    @abstractmethod
    def depends_on_dimension(self) -> bool:
        """Whether the law changes with d, so that theory needs d."""

    @abstractmethod
    def check_dimension(self, d: int) -> None:
        """Refuse a dimension that has no room for the target.

        Parameters
        ----------
        d : int
            Dimension.

        Raises
        ------
        LearnabilityError
            When d is too small.
        """

    @abstractmethod
    def _drawing(self, seed: int, d: int) -> Draw:
        """Return the function that draws the batches of a seed, with its hidden weights."""

    def provenance(self) -> dict[str, Any]:
        """Return what a result records about its target."""
        return {
            "target": self.kind,
            "link": self.link.text or repr(self.link),
            "r": self.r,
            "noise": self.noise,
            "inputs": repr(self.inputs),
        }

    def sample(
        self,
        seed: int,
        n: int | None = None,
        d: int | None = None,
        *,
        alpha: float | None = None,
        dtype: DTypeLike = np.float64,
    ) -> Sample:
        """Draw n samples in dimension d.

        Parameters
        ----------
        seed : int
            The same seed gives the same numbers.
        n, d : int
            Number of samples and dimension.
        alpha : float, optional
            Instead of `n`: n = round(alpha * d).
        dtype : dtype
            The type of the inputs.

        Returns
        -------
        Sample
            The named tuple (X, y, W, h).

        Raises
        ------
        LearnabilityError
            When a size is not accepted, or the samples do not fit into memory.
        """
        seed = checked_seed(seed)
        n, d = checked_sizes(1, n, d, alpha, dtype)
        self.check_dimension(d)
        return self._drawing(seed, d)(0, n, dtype)

    def batches(
        self, seed: int, n: int, d: int, *, first: int = 0, dtype: DTypeLike = np.float64
    ) -> Iterator[Sample]:
        """Return endless fresh batches of n samples with the hidden weights of the same seed.

        Parameters
        ----------
        seed, n, d, dtype
            As in `sample`; batch number b is the same whatever was drawn before.
        first : int
            Number of the first batch.

        Yields
        ------
        Sample

        Raises
        ------
        LearnabilityError
            When a size is not accepted, or a batch does not fit into memory.
        """
        seed = checked_seed(seed)
        n, d = checked_sizes(1, n, d, None, dtype)
        self.check_dimension(d)
        draw = self._drawing(seed, d)
        return (draw(batch, n, dtype) for batch in itertools.count(first))


def beyond(energy: float, powers: NDArray[Any]) -> float:
    """Return an energy minus its parts; a difference within rounding counts as zero."""
    rest = energy - float(powers.sum())
    return rest if rest > 1e-12 * energy else 0.0


def checked_sizes(
    r: int, n: int | None, d: int | None, alpha: float | None, dtype: DTypeLike
) -> tuple[int, int]:
    """Return the sizes n and d of samples that fit into memory.

    Parameters
    ----------
    r : int
        The smallest dimension.
    n, d : int
        Number of samples and dimension.
    alpha : float or None
        Instead of `n`: n = round(alpha * d), at least 1.
    dtype : dtype
        The type of the inputs, float32 or float64.

    Raises
    ------
    LearnabilityError
        When a size is not accepted, or the samples need more memory than is free.
    """
    if isinstance(d, bool) or not isinstance(d, int | np.integer) or d < r:
        raise refuse("d", d, f"a whole number of at least {r}")
    if (n is None) == (alpha is None):
        raise LearnabilityError(
            "Give either `n` or `alpha` (then n = round(alpha * d)), not both or neither."
        )
    if alpha is not None:
        if not is_number(alpha) or alpha <= 0:
            raise refuse("alpha", alpha, "a finite number above 0")
        n = max(round(float(alpha) * int(d)), 1)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise refuse("n", n, "a whole number of at least 1")
    try:
        known = np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        known = False
    if not known:
        raise refuse("dtype", dtype, "float32 or float64")
    needed = int(n) * int(d) * np.dtype(dtype).itemsize
    checked_memory(f"{n} samples in dimension {d}", needed, "use fewer, or `batches`")
    return int(n), int(d)


_LITTLE = 2.0**20
"""Requests for fewer bytes are granted without a look at the free memory."""


def checked_memory(what: str, needed: float, advice: str = "use smaller sizes") -> None:
    """Refuse work that needs more bytes than are free.

    Parameters
    ----------
    what : str
        What needs them, as the subject of the sentence.
    needed : float
        Number of bytes.
    advice : str
        What to do instead.

    Raises
    ------
    LearnabilityError
        When they are not free; the sentence says how many are needed.
    """
    if needed <= _LITTLE:
        return
    free = free_memory()
    if needed > free:
        raise LearnabilityError(
            f"{what} need {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free: {advice}."
        )


def free_memory() -> float:
    """Return the bytes of memory that are free; infinity where the system does not say."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024
    except OSError:
        pass
    return np.inf
