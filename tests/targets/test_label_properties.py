"""What every target says of its labels: their values, and their energies by degree."""

from __future__ import annotations

import numpy as np
import pytest

from learnability import Hierarchical, LearnabilityError, MultiIndex, SparseParity


def test_finitely_many_labels() -> None:
    assert MultiIndex("sign(z1*z2)").label_values == (-1.0, 1.0)
    assert MultiIndex("sign(z1*z2)", noise=0.1).label_values is None
    assert MultiIndex("z1*z2").label_values is None
    assert SparseParity(3, 0.5).label_values == (-1.0, 1.0)
    assert Hierarchical("sign(z)").label_values == (-1.0, 1.0)


def test_energies_by_degree() -> None:
    powers, rest = MultiIndex("2 + z1 + z1*z2 + He3(z1)*z3").degree_energies(2)
    np.testing.assert_allclose(powers, [4, 1, 1])
    assert rest == pytest.approx(6)
    assert MultiIndex("z1 + z1*z2", noise=0.5).degree_energies(2)[1] == 0.0
    with pytest.raises(LearnabilityError, match="signs inputs"):
        SparseParity(2).degree_energies(2)


def test_energies_of_a_tree_hold_all_of_its_variance() -> None:
    target = Hierarchical("tanh(3*z)", "He2(z)")
    powers, rest = target.degree_energies(7, 64)
    here = target.at(64)
    assert powers.sum() + rest == pytest.approx(here.variance + here.mean**2)
    np.testing.assert_allclose(powers, here.levels(7))
    # A product of two features of degree two has degree four.
    many = Hierarchical("z1*z2", "He2(z)", N=4).degree_energies(7)
    assert np.abs(many[0][5:]).max() < 1e-12 and many[1] >= 0
