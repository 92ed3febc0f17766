"""Reports that several tests look at."""

from __future__ import annotations

import pytest

from learnability.reports import Hardness

from tests.reports.shared import report_on

TEXTS = ["abs(z)", "z**2*exp(-z**2)", "sign(z1) + 3*sign(abs(z2) - 1)", "sign(z1*z2)", "7"]


@pytest.fixture(params=TEXTS)
def report(request: pytest.FixtureRequest) -> Hardness:
    return report_on(request.param)
