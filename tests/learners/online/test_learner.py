"""The learner: its arguments, and the shape of its results."""

import numpy as np
import pytest

from learnability import LearnabilityError, Link, MultiIndex, OnlineSGD, SpikedIndex
from learnability.learners.networks.starts import start_of, weights_at

BAD = [
    ({"width": 0}, "`width` was given as 0"),
    ({"batch": 1.5}, "`batch`"),
    ({"step": -1.0}, "at least 0"),
    ({"step": float("nan")}, "`step`"),
    ({"look_ahead": "far"}, "`look_ahead`"),
    ({"rule": "adam"}, "extragradient"),
    ({"loss": "hinge"}, "correlation"),
    ({"engine": "fast"}, "reduced, full"),
    ({"look_ahead": 0.5}, "acts only with `rule` = 'extragradient' or 'sam' or 'lookahead'"),
    ({"repetitions": 3, "rule": "sam"}, "acts only with `rule` = 'repetition' or 'lookahead'"),
    ({"normalisation": "whitened", "rule": "sam"}, "acts only with `rule` = 'plain'"),
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


def test_results_have_the_names_and_shapes_of_the_library():
    learner = OnlineSGD(width=2, activation="tanh(z)")
    target = MultiIndex("z1 + z2**2", noise=0.25)
    runs = learner.simulate(target, d=30, time=[0.5, 1.0, 1.0], seeds=[3, 7])
    assert runs.overlap.dims == ("seed", "estimate", "index")
    assert runs.overlap_trace.dims == ("seed", "time", "estimate", "index")
    assert "spike_overlap" not in runs
    np.testing.assert_array_equal(runs.correlation_trace, runs.cosine_trace)
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
    X, y, W, _ = target.sample(0, n=200_000, d=10)
    given = start_of(start, 2, target.inputs.frame(2, 10))
    weights = weights_at(np.random.default_rng([0, 12]), W, given)
    squares = (np.array([1.0, -0.5]) @ np.tanh(weights @ X.T) - y) ** 2
    assert abs(error - squares.mean()) < 4 * squares.std() / np.sqrt(len(y))


def test_overlaps_are_resolved_up_to_the_symmetry_of_the_link():
    learner = OnlineSGD(activation="He2(z)/sqrt(2)", loss="correlation", spherical=True, step=0.1)
    found = learner.simulate("He2(z)/sqrt(2)", d=50, time=[40.0], seeds=8).overlap
    assert (found > 0.5).all()
    down = learner.predict("He2(z)/sqrt(2)", time=40.0, start=(1.0, -0.1)).overlap
    assert down.item() > 0.5


def test_spiked_results_have_the_same_names_and_the_spikes():
    learner = OnlineSGD(width=2, activation="tanh(z)")
    target = SpikedIndex("z + z**2", spike=3.0, alignment=0.4)
    runs = learner.simulate(target, d=30, time=[0.5, 1.0], seeds=2)
    plain = learner.simulate(MultiIndex("z + z**2"), d=30, time=[0.5, 1.0], seeds=2)
    assert set(runs) - set(plain) == {"spike_overlap", "spike_overlap_trace"}
    assert runs.spike_overlap.dims == ("seed", "estimate", "marked")
    assert (runs.error > 0).all()


STARTS = [
    (MultiIndex("z"), (1.0, 0.9)),
    (SpikedIndex("z", spike=4.0, alignment=1.0), (1.0, 0.9, 0.9)),
    (SpikedIndex("z", spike=4.0, alignment=1.0), (1.0, 0.9)),
    (SpikedIndex("z", spike=4.0, alignment=0.3), (1.0, 0.9, 0.1)),
]


@pytest.mark.parametrize("engine", ["reduced", "full"])
@pytest.mark.parametrize(("target", "start"), STARTS)
def test_runs_and_theory_begin_where_they_are_told(target, start, engine):
    learner = OnlineSGD(activation="z", engine=engine)
    found = learner.simulate(target, d=90, time=0.0, seeds=2, start=start)
    np.testing.assert_allclose(found.overlap, 0.9, rtol=1e-5)
    if len(start) > 2:
        np.testing.assert_allclose(found.spike_overlap, start[2], rtol=1e-4)
    more = {"d": 90} if target.depends_on_dimension else {}
    assert learner.predict(target, time=0.0, start=start, **more).overlap.item() == pytest.approx(
        0.9
    )


@pytest.mark.parametrize("verb", ["simulate", "predict"])
def test_starts_that_no_weights_have_are_refused_on_every_law_of_inputs(verb):
    """A spike that is the hidden direction has its overlap; W W^T is symmetric."""
    ask = getattr(OnlineSGD(activation="z"), verb)
    with pytest.raises(LearnabilityError, match="have a direction in common"):
        ask(SpikedIndex("z", spike=4.0, alignment=1.0), d=50, time=1.0, start=(1.0, 0.9, 0.1))
    two = getattr(OnlineSGD(activation="z", width=2), verb)
    Q, M = [[1.0, 0.3], [0.0, 1.0]], [0.1, 0.2]
    for target, start in ((MultiIndex("z"), (Q, M)), (SpikedIndex("z", spike=4.0), (Q, M, M))):
        more = {} if verb == "predict" and len(start) == 2 else {"d": 50}
        with pytest.raises(LearnabilityError, match="symmetric"):
            two(target, time=1.0, start=start, **more)


@pytest.mark.parametrize("rule", ["normalised", "whitened"])
def test_normalised_rules_act_on_isotropic_inputs_too(rule):
    """Sigma = I: both rules are one, and a spike of strength 0 changes nothing in law."""
    learner = OnlineSGD(activation="tanh(z)", step=0.5, normalisation=rule)
    runs = learner.simulate("tanh(2*z)", d=40, time=2.0, seeds=2000, start=(0.5, 0.2))
    spiked = learner.simulate(
        SpikedIndex("tanh(2*z)", spike=0.0, alignment=0.3), d=40, time=2.0, seeds=2000,
        start=(0.5, 0.2, 0.1),
    )  # fmt: skip
    plain = OnlineSGD(activation="tanh(z)", step=0.5).simulate(
        "tanh(2*z)", d=40, time=2.0, seeds=2000, start=(0.5, 0.2)
    )
    for name in ("overlap", "gram", "error"):
        x, y, z = (each[name].values.reshape(2000, -1)[:, 0] for each in (runs, spiked, plain))
        assert abs(x.mean() - y.mean()) < 4 * np.sqrt((x.var() + y.var()) / 2000)
        assert abs(x.mean() - z.mean()) > 4 * np.sqrt((x.var() + z.var()) / 2000)
    theory = learner.predict("tanh(2*z)", time=2.0, start=(0.5, 0.2))
    long = learner.simulate("tanh(2*z)", d=2000, time=2.0, seeds=64, start=(0.5, 0.2))
    gap = abs(float(long.overlap.mean() - theory.overlap.item()))
    assert gap < 4 * float(long.overlap.std(ddof=1)) / 8


def test_recovery_has_the_error_of_its_averages() -> None:
    """A function of unknown breaks has sampled averages, which differ by their scrambles."""
    learner = OnlineSGD(activation="tanh(z)", step=0.5)
    asked = {"question": "recovery", "time": 20, "start": (1.0, 0.2)}
    text = learner.predict("tanh(2*z) + z/2", **asked)
    known = Link("tanh(2*z) + z/2")
    blind = learner.predict(Link(lambda z: known(z), r=1), **asked)
    assert float(text.recovery_time_stderr) == 0.0 < float(blind.recovery_time_stderr)
    gap = float(text.recovery_time - blind.recovery_time)
    assert abs(gap) <= 4 * float(blind.recovery_time_stderr) + 1e-3


def test_a_recovery_that_the_averages_do_not_decide_is_no_number() -> None:
    from learnability.learners.online.learner import _recovery_by_rule

    times = np.array([[1.0, 1.2], [np.inf, 3.0], [np.inf, np.inf]])
    found = _recovery_by_rule(times, np.zeros(3, dtype=bool))
    assert found["status"].tolist() == ["recovered", "undecided", "stopped"]
    np.testing.assert_allclose(found["recovery_time"], [1.1, np.nan, np.inf])
    np.testing.assert_allclose(found["recovery_time_stderr"], [0.1, np.nan, np.nan])
