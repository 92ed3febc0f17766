"""Gaussian inputs with a few long directions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from learnability.errors import LearnabilityError
from learnability.inputs import Inputs, Isotropic, Spiked
from learnability.inputs.spiked import Spiked as FromModule

from tests.inputs.laws import covariance, spiked

SIZES = strategies.integers(1, 4).flatmap(
    lambda r: strategies.tuples(strategies.just(r), spiked(r))
)


@settings(deadline=None)
@given(SIZES, strategies.integers(0, 10**6))
def test_the_frame_is_that_of_the_directions(drawn: tuple[int, Spiked], seed: int) -> None:
    """Orthonormal rows; hidden directions in the span of the axes; cosines as asked for."""
    r, inputs = drawn
    d = inputs.least_dimension(r)
    frame, (hidden, marked) = inputs.frame(r, d), inputs.directions(seed, r, d)
    k = inputs.count + r
    assert frame.scale.shape == (k,) and frame.spikes == inputs.count
    assert marked.shape == (k, d) and hidden.shape == (r, d)
    for rows in (frame.to_label, frame.hidden, hidden, marked):
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-7)
    np.testing.assert_allclose(frame.hidden @ marked, hidden, atol=1e-7)
    np.testing.assert_allclose(marked[: inputs.count] @ hidden.T, inputs.cosines(r, d), atol=1e-7)
    np.testing.assert_allclose(frame.scale[inputs.count :], 1.0)


@settings(deadline=None)
@given(SIZES)
def test_the_label_reads_the_whitened_hidden_coordinates(drawn: tuple[int, Spiked]) -> None:
    """to_label = (I + A^T theta A)^(-1/2) hidden diag(scale)."""
    r, inputs = drawn
    frame = inputs.frame(r, 50)
    A, theta = inputs.cosines(r, 50), inputs.strengths(50)
    gram = np.eye(r) + A.T @ np.diag(theta) @ A
    stretched = frame.hidden * frame.scale
    np.testing.assert_allclose(stretched @ stretched.T, gram, atol=1e-6)
    root = frame.to_label @ stretched.T  # W^(-1/2) gram = gram^(1/2), symmetric and positive.
    np.testing.assert_allclose(root, root.T, atol=1e-6)
    np.testing.assert_allclose(root @ root, gram, rtol=1e-6, atol=1e-6)


@settings(deadline=None)
@given(SIZES, strategies.integers(0, 1000))
def test_the_covariance_has_the_spikes(drawn: tuple[int, Spiked], seed: int) -> None:
    r, inputs = drawn
    d = inputs.least_dimension(r) + 2
    spikes = inputs.directions(seed, r, d).marked[: inputs.count]
    wanted = np.eye(d) + spikes.T @ np.diag(inputs.strengths(d)) @ spikes
    np.testing.assert_allclose(covariance(inputs, seed, r, d), wanted, atol=1e-8)


def test_one_spike_and_one_direction_have_the_frame_of_the_papers() -> None:
    frame = Spiked(8.0, alignment=0.6).frame(1, 100)
    np.testing.assert_allclose(frame.scale, [3.0, 1.0])
    np.testing.assert_allclose(frame.hidden, [[0.6, 0.8]])
    length = math.sqrt(1 + 8 * 0.36)
    np.testing.assert_allclose(frame.to_label, [[0.6 * 3 / length, 0.8 / length]])
    assert not frame.isotropic


def test_an_aligned_spike_is_the_hidden_direction() -> None:
    inputs = Spiked(3.0)
    frame = inputs.frame(1, 50)
    np.testing.assert_allclose(frame.to_label, [[1.0, 0.0]], atol=1e-12)
    hidden, marked = inputs.directions(0, 1, 50)
    np.testing.assert_allclose(marked[0], hidden[0], atol=1e-12)


def test_hidden_directions_are_those_of_isotropic_inputs() -> None:
    for inputs in (Spiked(4.0, alignment=0.3), Spiked((1.0, 2.0), alignment=0.0)):
        np.testing.assert_array_equal(
            inputs.directions(7, 2, 30).hidden, Isotropic().directions(7, 2, 30).hidden
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("r", [1, 3])
def test_spikes_of_strength_zero_change_no_bit(r: int, dtype: Any) -> None:
    def draw(inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(2)
        return inputs.draw(rng, 9, inputs.directions(5, r, 30), dtype)

    plain = draw(Isotropic())
    for inputs in (Spiked(0.0, alignment=0.3), Spiked((0.0, 0.0), alignment=(0.5, 0.1))):
        assert inputs.frame(r, 30).isotropic
        for mine, its in zip(draw(inputs), plain, strict=True):
            np.testing.assert_array_equal(mine, its)


def test_exponents_are_resolved_in_each_dimension() -> None:
    inputs = Spiked(exponent=0.5, alignment_exponent=0.25)
    assert inputs.strengths(10**4) == pytest.approx([100.0])
    assert inputs.cosines(1, 10**4) == pytest.approx(np.array([[0.1]]))
    assert inputs.strengths(10**8) == pytest.approx([10.0**4])
    assert inputs.cosines(1, 10**8) == pytest.approx(np.array([[0.01]]))
    ((p, q),) = inputs.frame(1, 10**4).to_label
    assert p**2 + q**2 == pytest.approx(1.0) and p == pytest.approx(0.1 * math.sqrt(101 / 2))
    several = Spiked(exponent=(0.5, 0.25), alignment=(0.2, 0.3))
    np.testing.assert_allclose(several.strengths(10**4), [100.0, 10.0])


def test_one_cosine_is_that_of_each_spike_with_its_direction() -> None:
    np.testing.assert_allclose(
        Spiked((1.0, 2.0), alignment=0.4).cosines(3, 10), [[0.4, 0, 0], [0, 0.4, 0]]
    )
    np.testing.assert_allclose(Spiked(1.0, alignment=0.4).cosines(2, 10), [[0.4, 0]])
    np.testing.assert_allclose(
        Spiked((1.0, 2.0, 3.0), alignment=(0.1, 0.2, 0.0)).cosines(2, 10),
        [[0.1, 0], [0, 0.2], [0, 0]],
    )
    three = Spiked((1.0, 2.0, 3.0), alignment=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(three.cosines(1, 10), [[0.1], [0.2], [0.3]])
    with pytest.raises(LearnabilityError, match="give a matrix"):
        three.cosines(2, 10)
    matrix = [[0.1, -0.2], [0.3, 0.4]]
    np.testing.assert_allclose(Spiked((1.0, 2.0), alignment=matrix).cosines(2, 10), matrix)


@given(strategies.floats(0.5, 1.0), strategies.floats(0.5, 1.0))
def test_cosines_that_no_directions_have_are_refused(a: float, b: float) -> None:
    """A matrix of cosines of orthonormal rows has singular values of at most 1."""
    inputs = Spiked((1.0, 1.0), alignment=[[a, b], [b, a]])  # Singular values a + b and |a - b|.
    if a + b <= 1:
        assert inputs.cosines(2, 10).shape == (2, 2)
    elif a + b > 1 + 1e-9:
        with pytest.raises(LearnabilityError, match="singular values are at most 1"):
            inputs.frame(2, 10)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "not both or neither"),
        ({"strength": 1.0, "exponent": 0.5}, "not both or neither"),
        ({"strength": -1.0}, "`strength` was given as -1.0"),
        ({"strength": math.nan}, "`strength` was given as nan"),
        ({"strength": [1.0, -1.0]}, "`strength` was given as"),
        ({"exponent": -0.1}, "`exponent` was given as -0.1"),
        ({"strength": 1.0, "alignment": 1.2}, "`alignment` was given as 1.2, but a cosine between"),
        ({"strength": 1.0, "alignment": "near"}, "`alignment` was given as 'near'"),
        ({"strength": 1.0, "alignment": []}, "`alignment` was given as"),
        ({"strength": 1.0, "alignment": 0.3, "alignment_exponent": 0.1}, "not both"),
        ({"strength": 1.0, "alignment": [0.3, 0.2]}, "for 2 spikes, but there are 1"),
    ],
)
def test_bad_spikes_end_in_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LearnabilityError, match=sentence):
        Spiked(**arguments)


def test_what_depends_on_the_hidden_directions_is_refused_with_them() -> None:
    with pytest.raises(LearnabilityError, match="a matrix of 1 spikes by 3 hidden directions"):
        Spiked(1.0, alignment=[[0.1, 0.2]]).frame(3, 20)
    with pytest.raises(LearnabilityError, match="give a smaller one"):
        Spiked(exponent=200.0).strengths(10**6)


def test_a_text_stands_for_numbers_rows_or_a_matrix() -> None:
    kind = Spiked.__dataclass_fields__["alignment"].metadata["declared"].kind
    assert kind.parse("0.5") == 0.5
    assert kind.read(kind.parse("0.5,-0.1")) == (0.5, -0.1)
    assert kind.read(kind.parse("0.5,0;0,0.1")) == ((0.5, 0.0), (0.0, 0.1))


def test_it_is_a_value() -> None:
    one = Spiked([4, 1], alignment=np.array([0.5, 0.2]))
    assert one == FromModule((4.0, 1.0), alignment=(0.5, 0.2)) and one.count == 2
    assert hash(one) == hash(Spiked((4.0, 1.0), alignment=[0.5, 0.2]))
