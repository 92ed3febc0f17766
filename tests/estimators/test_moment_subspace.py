import numpy as np
import pytest
import scipy.sparse

from learnability.errors import LearnabilityError
from learnability.estimators import MomentSubspace, _accumulator, _whitening, subspace_overlap

from tests.estimators.problems import planted

LINKS = {
    "odd": (lambda z: z[0] + 0.1 * z[0] ** 3, 1),
    "even": (lambda z: z[0] ** 2, 1),
    "both": (lambda z: z[0] + z[1] ** 2, 2),
}


@pytest.mark.parametrize(
    ("method", "sees"),
    [("sir", {"odd"}), ("phd", {"even"}), ("dr", {"odd", "even", "both"}),
     ("save", {"even"}), ("learned", {"odd", "even", "both"})],
)  # fmt: skip
def test_each_method_sees_what_its_moments_show(method, sees):
    for name, (link, r) in LINKS.items():
        X, y, W = planted(link, r, 4000, 10, 0)
        found = MomentSubspace(method, r, random_state=0).fit(X, y)
        overlap = subspace_overlap(found.components_, W)
        if name in sees:
            assert overlap > 0.9, (method, name)
    blind = {"sir": "even", "phd": "odd"}.get(method)
    if blind:
        X, y, W = planted(*LINKS[blind], 4000, 10, 0)
        assert subspace_overlap(MomentSubspace(method, 1).fit(X, y).components_, W) < 0.5


def test_pieces_give_what_the_whole_gives():
    X, y, _ = planted(lambda z: z[0] ** 2 + z[1], 2, 600, 5, 1)
    edges = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
    whole = MomentSubspace(slices=edges, clip=False).fit(X, y)
    pieces = MomentSubspace(slices=edges)
    for rows in np.array_split(np.arange(600), 4):
        pieces.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(pieces.components_, whole.components_, atol=1e-8)
    np.testing.assert_allclose(pieces.eigenvalues_, whole.eigenvalues_, atol=1e-8)


@pytest.mark.parametrize("method", ["sir", "dr", "save", "phd"])
@pytest.mark.parametrize("wide", [False, True])
def test_sparse_tables_give_what_dense_ones_give(method, wide, monkeypatch):
    if wide:
        monkeypatch.setattr(_accumulator, "WIDE", 3)
        monkeypatch.setattr(_whitening, "WIDE", 3)
    X = scipy.sparse.random_array((800, 12), density=0.4, rng=0, format="csr")
    y = np.asarray(X[:, [0]].todense()).ravel() + np.random.default_rng(0).standard_normal(800) / 9
    settings = {"method": method, "n_components": 1, "clip": False, "whitening": "exact"}
    sparse = MomentSubspace(**settings).fit(X, y)
    dense = MomentSubspace(**settings).fit(X.toarray(), y)
    assert subspace_overlap(sparse.components_, dense.components_) > 1 - 1e-6
    np.testing.assert_allclose(
        np.abs(sparse.transform(X)), np.abs(dense.transform(X.toarray())), atol=1e-3
    )


def test_heavy_tails_need_the_clip():
    overlaps = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, (600, 30))
        w = np.linalg.qr(rng.standard_normal((30, 1)))[0].T
        y, metric = np.abs(X @ w[0]), np.cov(X, rowvar=False)
        finders = (MomentSubspace("dr", 1, clip=clip).fit(X, y) for clip in (True, False))
        overlaps.append([subspace_overlap(found.components_, w, metric) for found in finders])
    on, off = np.mean(overlaps, axis=0)
    assert on > off + 0.3


def test_units_monotone_targets_and_words_change_nothing():
    X, y, _ = planted(lambda z: z[0] + z[1] ** 2, 2, 500, 6, 2)
    base = MomentSubspace().fit(X, y).transform(X)
    A = np.random.default_rng(0).standard_normal((6, 6))
    np.testing.assert_allclose(
        np.abs(MomentSubspace().fit(X @ A + 3, np.exp(y)).transform(X @ A + 3)), np.abs(base),
        atol=1e-6,
    )  # fmt: skip
    labels = np.where(y > 1, "high", "low")
    assert MomentSubspace().fit(X, labels).components_.shape == (2, 6)


def test_directions_are_never_padded():
    X, y, _ = planted(lambda z: z[0], 1, 300, 5, 0)
    with pytest.warns(UserWarning, match="no others are added"):
        found = MomentSubspace("sir", 3).fit(X, y > 0)
    assert found.components_.shape == (1, 5)


def test_missing_numbers_are_refused_by_column():
    import pandas

    table = pandas.DataFrame({"age": [1.0, 2, np.nan, 4], "height": [1.0, 2, 3, 5]})
    with pytest.raises(LearnabilityError, match="age"):
        MomentSubspace().fit(table, [1, 2, 3, 4])


def test_sir_rises_above_its_bulk_edge_only_on_signal():
    X, y, _ = planted(lambda z: z[0], 1, 2000, 40, 4)
    noise = np.random.default_rng(0).standard_normal(2000)
    assert MomentSubspace("sir", 1).fit(X, y).eigenvalues_[0] > 0.5
    found = MomentSubspace("sir", 1).fit(X, noise)
    assert found.eigenvalues_[0] < 1.1 * found.bulk_edge_
