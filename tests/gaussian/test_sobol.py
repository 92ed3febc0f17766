"""Sobol points without `scipy.stats` are those of `scipy.stats`, bit for bit."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import qmc

from learnability.gaussian.sobol import sobol_uniforms


@pytest.mark.parametrize("m", range(1, 13))
@pytest.mark.parametrize("log2_n", [0, 11])
def test_the_points_are_those_of_scipy(m, log2_n):
    ours = sobol_uniforms(m, log2_n, np.random.default_rng([7, m]))
    theirs = qmc.Sobol(m, scramble=True, rng=np.random.default_rng([7, m])).random_base2(log2_n)
    np.testing.assert_array_equal(ours, theirs)


def test_points_of_few_dimensions_do_not_load_scipy_stats():
    code = (
        "import sys; from learnability.gaussian.rules import sobol_normals; "
        "sobol_normals(10, 4, 0); sys.exit('scipy.stats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
