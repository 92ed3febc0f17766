"""The learner of the tutorial obeys its own theory."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def learner_class(monkeypatch: pytest.MonkeyPatch) -> type:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, "mean_vector", raising=False)
    from mean_vector import MeanVector

    return MeanVector


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("link", ["relu(z)", "tanh(z1) + z2"])
def test_runs_lie_on_the_theory(learner_class: type, link: str, centred: bool) -> None:
    learner = learner_class(centred=centred)
    theory = learner.predict(link, alpha=[1.0, 4.0])
    runs = learner.simulate(link, d=400, alpha=[1.0, 4.0], seeds=24)
    error = runs.cosine.std("seed", ddof=1) / np.sqrt(24)
    # Four standard errors, and corrections of order 1 / d to the mean.
    assert (abs(runs.cosine.mean("seed") - theory.cosine) <= 4 * error + 2 / 400).all()


def test_the_file_has_sixty_lines() -> None:
    assert len((EXAMPLES / "mean_vector.py").read_text(encoding="utf-8").splitlines()) <= 60


def test_a_field_is_checked_and_described(learner_class: type) -> None:
    from learnability.errors import LearnabilityError

    with pytest.raises(LearnabilityError, match="`centred` was given as 3"):
        learner_class(centred=3)
    assert "centred : bool" in (learner_class.__doc__ or "")
