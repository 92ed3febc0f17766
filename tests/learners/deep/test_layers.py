"""Layers in their order."""

from __future__ import annotations

import pytest

from learnability import LearnabilityError
from learnability.learners.deep import (
    Layerwise,
    MehlerReadout,
    MehlerSecondLayer,
    OracleFirstLayer,
    PreconditionedSecondLayer,
    RidgeReadout,
)

FIRST, SECOND, LAST = OracleFirstLayer(), PreconditionedSecondLayer(), RidgeReadout()


def test_layers_in_their_order() -> None:
    for found in ((FIRST, LAST), [FIRST, MehlerSecondLayer(), SECOND, LAST]):
        assert Layerwise(found).layers == tuple(found)
    for above in ((SECOND, MehlerReadout()), (SECOND, MehlerSecondLayer(), LAST)):
        with pytest.raises(LearnabilityError, match="next to the first layer"):
            Layerwise((FIRST, *above))
    for wrong in ((FIRST,), (SECOND, LAST), (FIRST, LAST, LAST), (FIRST, SECOND), 3, (LAST, LAST)):
        with pytest.raises(LearnabilityError, match="a first layer, any number of"):
            Layerwise(wrong)  # type: ignore[arg-type]
