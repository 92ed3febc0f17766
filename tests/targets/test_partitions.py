"""Types of Hermite products and their sums."""

from __future__ import annotations

import itertools
import math

import numpy as np

from learnability.targets._partitions import (
    hermite_powers,
    partitions,
    symmetric_sum,
    types_up_to,
)


def test_types_count_all_products() -> None:
    for degree in range(5):
        found = [t for t in types_up_to(4, 5, 3) if t.degree == degree]
        assert sum(t.copies for t in found) == math.comb(8 + degree - 1, degree)
    assert partitions(4) == ((4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1))
    assert all(len(t.minus) <= 1 for t in types_up_to(3, 4, 1))


def test_sums_over_different_variables() -> None:
    z = np.random.default_rng(0).standard_normal((7, 5))
    powers = hermite_powers(z, 3)
    np.testing.assert_allclose(powers[3], z**3 - 3 * z)
    for partition in ((), (2,), (2, 1), (1, 1, 1), (2, 2), (3, 2, 1)):
        ways = {
            tuple(sorted(zip(places, partition, strict=True)))
            for places in itertools.permutations(range(5), len(partition))
        }
        direct = sum(math.prod((powers[b][:, i] for i, b in way), start=1.0) for way in ways)
        np.testing.assert_allclose(symmetric_sum(partition, powers), direct, atol=1e-10)
