"""Samples on several devices: the same results as on one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from learnability.learners.linear_algebra.sharded_rows import sharded

RUN = """
import json, sys
import numpy as np
import jax
import learnability as lb
from learnability.learners.linear_algebra import sharded_rows as module
from learnability.learners.linear_algebra.thin_products import collect, project

X = np.random.default_rng(0).standard_normal((1001, 300), dtype=np.float32)
W = np.random.default_rng(1).standard_normal((2, 300))
G = np.random.default_rng(2).standard_normal((2, 1001))
samples = module.sharded(X)
shares = len(samples._rows.sharding.device_set) if isinstance(samples, module.ShardedRows) else 1
amp = lb.BayesAMP().simulate("abs(z)", d=801, alpha=0.9, seeds=[0, 1])
pca = lb.Spectral().simulate("abs(z)", d=301, alpha=3.0, seeds=[0, 1])
print(json.dumps({
    "devices": jax.device_count(), "shares": shares, "used": module._products.cache_info().hits,
    "numbers": [project(samples, W).tolist(), collect(samples, G).tolist(),
                amp.overlap.values.tolist(), amp.error.values.tolist(),
                pca.overlap.values.tolist(), pca.eigenvalue.values.tolist()],
}))
"""


def on_devices(count: int) -> dict[str, object]:
    flags = f"--xla_force_host_platform_device_count={count}"
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_two_devices_give_the_same_result() -> None:
    # Not at perfect recovery without noise, where float32 is at its end: there the order of the
    # samples alone changes the overlap of message passing by 1e-4.
    one, two = on_devices(1), on_devices(2)
    assert (one["devices"], one["shares"], one["used"]) == (1, 1, 0)
    assert (two["devices"], two["shares"]) == (2, 2)
    assert two["used"] > 50  # Both learners went through the devices.  # type: ignore[operator]
    for single, double in zip(one["numbers"], two["numbers"], strict=True):  # type: ignore[call-overload]
        expected = np.array(single)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(np.array(double), expected, atol=1e-5 * scale, rtol=0)


@pytest.mark.parametrize("X", [np.zeros((4, 5), np.float32), np.zeros((600, 500))])
def test_small_or_exact_samples_stay(X: np.ndarray) -> None:
    assert sharded(X) is X
