"""The learner: its arguments, and the shape of its results."""

import numpy as np
import pytest

from learnability import LearnabilityError, MultiIndex, OnlineSGD
from learnability.learners.names import named

BAD = [
    ({"width": 0}, "`width` was given as 0"),
    ({"batch": 1.5}, "`batch`"),
    ({"step": -1.0}, "at least 0"),
    ({"step": float("nan")}, "`step`"),
    ({"look_ahead": "far"}, "`look_ahead`"),
    ({"rule": "adam"}, "extragradient"),
    ({"loss": "hinge"}, "correlation"),
    ({"engine": "fast"}, "reduced, full"),
    ({"activation": "z1*z2"}, "one variable"),
    ({"second_layer": (1.0, 2.0)}, "one for each of the 1 neurons"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_hyper_parameters_end_in_a_sentence(options, words):
    with pytest.raises(LearnabilityError, match=words):
        OnlineSGD(**options)


@pytest.mark.parametrize("time", [-1.0, [2.0, 1.0], [], [[1.0]], "soon", np.inf])
def test_bad_times_end_in_a_sentence(time):
    with pytest.raises(LearnabilityError, match="`time`"):
        OnlineSGD().simulate("z", d=10, time=time)


def test_negative_look_ahead_is_a_climb_and_accepted():
    assert OnlineSGD(rule="extragradient", look_ahead=-1.0).look_ahead == -1.0


def test_learners_are_records_with_text_or_functions_for_activations():
    assert OnlineSGD() == OnlineSGD(activation="relu(z1)")
    assert hash(OnlineSGD(second_layer=[1.0, 2.0], width=2))
    function = OnlineSGD(activation=lambda z: np.tanh(z[..., 0]))
    assert function.predict("z", time=0.1, start=(1.0, 0.0)).status == "solved"
    assert named("online-sgd", step=0.3, rule=None) == OnlineSGD(step=0.3)


def test_results_have_the_names_and_shapes_of_the_library():
    learner = OnlineSGD(width=2, activation="tanh(z)")
    target = MultiIndex("z1 + z2**2", noise=0.25)
    runs = learner.simulate(target, d=30, time=[0.5, 1.0, 1.0], seeds=[3, 7])
    assert runs.overlap.dims == ("seed", "estimate", "index")
    assert runs.overlap_trace.dims == ("seed", "time", "estimate", "index")
    assert runs.overlap_trace.shape == (2, 3, 2, 2) and list(runs.seed.values) == [3, 7]
    np.testing.assert_array_equal(runs.overlap, runs.overlap_trace[:, -1])
    length = np.sqrt(np.einsum("stjj->stj", runs.gram_trace.values))
    np.testing.assert_allclose(runs.cosine_trace, runs.overlap_trace / length[..., None])
    assert (runs.error > 0.25).all() and (
        (runs.subspace_overlap > 0) & (runs.subspace_overlap < 1)
    ).all()
    assert runs.attrs["d"] == 30 and runs.attrs["noise"] == 0.25
    theory = learner.predict(target, time=2.0, d=30, seeds=2)
    assert theory.overlap_trace.dims == ("seed", "estimate", "index") and float(theory.time) == 2
    alone = learner.predict(target, time=2.0, start=(np.eye(2), np.zeros((2, 2))))
    assert alone.overlap.dims == ("estimate", "index") and alone.error.dims == ()


def test_the_error_is_that_of_fresh_samples():
    """A full run, whose weights are known: the error against samples drawn anew."""
    learner = OnlineSGD(width=2, activation="tanh(z)", second_layer=(1.0, -0.5))
    target = MultiIndex("z1*z2 + z1", noise=0.3)
    start = ([[1.0, 0.2], [0.2, 0.8]], [[0.5, 0.1], [-0.2, 0.4]])
    error = float(learner.predict(target, time=0.0, start=start).error)
    from learnability.learners.online._starts import checked_start, start_weights

    X, y, W, _ = target.sample(0, n=200_000, d=10)
    weights = start_weights(0, W, 2, False, checked_start(start, 2, 2, False))
    squares = (np.array([1.0, -0.5]) @ np.tanh(weights @ X.T) - y) ** 2
    assert abs(error - squares.mean()) < 4 * squares.std() / np.sqrt(len(y))


def test_overlaps_are_resolved_up_to_the_symmetry_of_the_link():
    learner = OnlineSGD(activation="He2(z)/sqrt(2)", loss="correlation", spherical=True, step=0.1)
    found = learner.simulate("He2(z)/sqrt(2)", d=50, time=[40.0], seeds=8).overlap
    assert (found > 0.5).all()
    down = learner.predict("He2(z)/sqrt(2)", time=40.0, start=(1.0, -0.1)).overlap
    assert down.item() > 0.5
