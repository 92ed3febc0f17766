"""The layers of a network as a field: a first layer, second layers and a readout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from learnability.errors import LearnabilityError
from learnability.fields import Kind
from learnability.learners.deep.first_layer import OracleFirstLayer, SpectralFirstLayer
from learnability.learners.deep.mehler_stages import MehlerReadout, MehlerSecondLayer
from learnability.learners.deep.plain import PlainSecondLayer
from learnability.learners.deep.stages import PreconditionedSecondLayer, RidgeReadout
from learnability.learners.deep.unfolding import UnfoldingLayer

__all__ = ["Layers"]

_SecondLayer = PreconditionedSecondLayer | PlainSecondLayer | MehlerSecondLayer | UnfoldingLayer
_Readout = RidgeReadout | MehlerReadout


class Layers(Kind):
    """Layers in their order; whatever has `learn` and is none of the others is a first layer."""

    accepted = (
        "a first layer, any number of PreconditionedSecondLayer, PlainSecondLayer, "
        "MehlerSecondLayer or UnfoldingLayer, and a readout"
    )
    type_name = "sequence of layers"
    examples = (
        (SpectralFirstLayer(20), RidgeReadout()),
        (OracleFirstLayer(None), MehlerReadout()),
    )

    def read(self, value: Any) -> tuple[Any, ...]:
        """Return the layers as a tuple.

        Raises
        ------
        ValueError
            When one of them is missing or in another place.
        LearnabilityError
            When a Mehler kernel or an unfolding follows a second layer.
        """
        found = tuple(value) if isinstance(value, Iterable) else ()
        if (
            len(found) < 2
            or not hasattr(found[0], "learn")
            or isinstance(found[0], _SecondLayer | _Readout)
            or not all(isinstance(layer, _SecondLayer) for layer in found[1:-1])
            or not isinstance(found[-1], _Readout)
        ):
            raise ValueError
        gaussian = MehlerSecondLayer | MehlerReadout | UnfoldingLayer
        if any(isinstance(layer, gaussian) for layer in found[2:]):
            raise LearnabilityError(
                "A Mehler kernel and an unfolding take the layer below as independent Gaussian "
                "variables, which the neurons of a second layer are not: use them next to the "
                "first layer, and PreconditionedSecondLayer or RidgeReadout further up."
            )
        return found
