"""A result as plain arrays with their labels, which costs less to make than many runs.

`Labelled` holds what an `xarray.Dataset` is made of. Learners and studies make it first; the
command line prints it as it is, and never loads xarray, which takes longer than a short run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray

__all__ = ["Labelled", "Values", "labelled"]


class Labelled(NamedTuple):
    """A result as the parts of an `xarray.Dataset`.

    Attributes
    ----------
    variables : dict
        Name -> (dims, array).
    coords : dict
        Name -> (dims, array), or one number or word.
    attrs : dict
        Provenance.
    """

    variables: dict[str, tuple[tuple[str, ...], NDArray[Any]]]
    coords: dict[str, Any]
    attrs: dict[str, Any]

    def to_dataset(self) -> xarray.Dataset:
        """Return the result as a user gets it."""
        import xarray

        return xarray.Dataset(*self)

    def values(self, name: str) -> Values:
        """Return a variable or coordinate; a dimension without coordinates is counted from zero."""
        if name in self.variables:
            dims, array = self.variables[name]
            return Values(name, dims, np.asarray(array))
        if name not in self.coords:
            return Values(name, (name,), np.arange(self.sizes[name]))
        given = self.coords[name]
        dims, array = given if isinstance(given, tuple) else ((), given)
        return Values(name, (dims,) if isinstance(dims, str) else tuple(dims), np.asarray(array))

    def has(self, name: str) -> bool:
        """Return whether there is a variable or a coordinate of this name."""
        return name in self.variables or name in self.coords

    @property
    def sizes(self) -> dict[str, int]:
        """Dimension -> length."""
        held = [self.values(name) for name in (*self.variables, *self.coords)]
        return {dim: length for one in held for dim, length in one.sizes.items()}

    def at(self, where: Mapping[str, int]) -> Labelled:
        """Return the result at one place along some dimensions."""
        variables = {name: self.values(name).at(where) for name in self.variables}
        coords = {name: self.values(name).at(where) for name in self.coords}
        return Labelled(
            {name: (one.dims, one.array) for name, one in variables.items()},
            {name: (one.dims, one.array) for name, one in coords.items()},
            self.attrs,
        )


class Values(NamedTuple):
    """An array with the names of its dimensions.

    Attributes
    ----------
    name : str
        Its name in the result.
    dims : tuple of str
        One for each axis.
    array : array
        The values.
    """

    name: str
    dims: tuple[str, ...]
    array: NDArray[Any]

    @property
    def sizes(self) -> dict[str, int]:
        """Dimension -> length."""
        return dict(zip(self.dims, self.array.shape, strict=True))

    def at(self, where: Mapping[str, int]) -> Values:
        """Return the values at one place along some dimensions; others are ignored."""
        place = tuple(where.get(dim, slice(None)) for dim in self.dims)
        left = tuple(dim for dim in self.dims if dim not in where)
        return Values(self.name, left, np.asarray(self.array[place]))

    def along(self, dim: str, length: int = 1) -> Values:
        """Return the values repeated along a new first dimension."""
        shape = (length, *self.array.shape)
        return Values(self.name, (dim, *self.dims), np.broadcast_to(self.array, shape))


def labelled(dataset: xarray.Dataset | Labelled) -> Labelled:
    """Return the parts of a result, in whichever form it comes."""
    if isinstance(dataset, Labelled):
        return dataset
    return Labelled(
        {str(name): (_words(one.dims), one.values) for name, one in dataset.data_vars.items()},
        {str(name): (_words(one.dims), one.values) for name, one in dataset.coords.items()},
        {str(name): value for name, value in dataset.attrs.items()},
    )


def _words(dims: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(map(str, dims))
