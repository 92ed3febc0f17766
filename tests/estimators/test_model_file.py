"""Model files: data only, equal to the last bit, and nothing of a stranger's is run."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnability import LearnabilityError
from learnability.estimators import IndexSubspace, MomentSubspace, load_model, save_model

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 4))
Y = X[:, 0] + 0.1 * X[:, 1] ** 2


@pytest.fixture(scope="module")
def fitted() -> IndexSubspace:
    return IndexSubspace(1, random_state=0).fit(X, Y)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype != "O")
    if isinstance(one, list | tuple):
        return type(one) is type(other) and all(map(same, one, other)) and len(one) == len(other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if hasattr(one, "__dict__"):
        return type(one) is type(other) and same(vars(one), vars(other))
    return type(one) is type(other) and (one == other or (one != one and other != other))


def test_what_was_saved_comes_back(fitted: IndexSubspace, tmp_path: Path) -> None:
    save_model(fitted, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert same(again, fitted)
    assert (again.transform(X) == fitted.transform(X)).all()
    assert str(again.report_) == str(fitted.report_)
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_names_of_columns_and_special_numbers(tmp_path: Path) -> None:
    import pandas

    model = MomentSubspace("sir").fit(pandas.DataFrame(X, columns=list("abcd")), Y)
    model.note_ = (float("nan"), [-float("inf"), None, True, np.float32(0.1), {1: "a", "b": ()}])
    save_model(model, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert same(again, model) and again.feature_names_in_.tolist() == list("abcd")


def test_what_is_no_data_is_not_written(fitted: IndexSubspace, tmp_path: Path) -> None:
    held = MomentSubspace("sir").fit(X, Y)
    held.hook_ = print
    with pytest.raises(LearnabilityError, match=r"`model\.hook_` is a builtin_function"):
        save_model(held, tmp_path / "model.npz")
    held.hook_ = held
    with pytest.raises(LearnabilityError, match="nested"):
        save_model(held, tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


class Evil:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path(self.path),))

    def __init__(self, path: Path) -> None:
        self.path = path


def written(path: Path, document: Any, **entries: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(document))
        for name, data in entries.items():
            archive.writestr(f"{name.strip('_')}.npy", data)


def array_of(value: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, value, **options)
    return stream.getvalue()


def claiming(shape: str) -> bytes:
    """An .npy that says it is larger than it is."""
    return array_of(np.zeros(8)).replace(b"(8,)" + b" " * (len(shape) - 4), shape.encode(), 1)


HEAD = {"format": "learnability-model-1", "version": "0"}
STRANGE: dict[str, Any] = {
    "os.system": {"object": "os:system", "fields": {}},
    "another module": {"object": "subprocess:Popen", "fields": {"args": "touch evil"}},
    "a dotted name": {"object": "learnability.estimators.table_fit:Path.home", "fields": {}},
    "an import of theirs": {"object": "learnability.estimators.table_fit:Path", "fields": {}},
    "a function": {"object": "learnability.estimators.table_fit:fit_table", "fields": {}},
    "no estimator": [1, 2],
    "an unknown kind": {"code": "1"},
    "an array that is not there": {"array": 7},
    "a negative": {"array": -1},
    "a key that is a list": {"dict": [[{"list": []}, 1]]},
    "half a pair": {"dict": [[1]]},
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_document_is_refused(name: str, tmp_path: Path) -> None:
    written(tmp_path / "model.npz", {**HEAD, "model": STRANGE[name]})
    with pytest.raises(LearnabilityError, match="is not a model that can be read"):
        load_model(tmp_path / "model.npz")


def nested(depth: int) -> Any:
    form: Any = 1
    for _ in range(depth):
        form = {"list": [form]}
    return form


def test_bombs_and_pickles_are_refused(tmp_path: Path) -> None:
    path, trace = tmp_path / "model.npz", tmp_path / "trace"
    path.write_bytes(pickle.dumps(Evil(trace)))
    with pytest.raises(LearnabilityError, match="not a model"):
        load_model(path)
    for data in (
        array_of(np.array([Evil(trace)], dtype=object), allow_pickle=True),
        claiming("(9999999999999,)"),
        b"\x93NUMPY\x01\x00" + b"\xff" * 40,
        b"",
    ):
        written(path, {**HEAD, "model": {"array": 0}}, _0=data)
        with pytest.raises(LearnabilityError, match="not a model"):
            load_model(path)
    written(path, {**HEAD, "model": nested(60)})
    with pytest.raises(LearnabilityError, match="nested"):
        load_model(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(LearnabilityError, match="not a model"):
        load_model(path)
    with pytest.raises(LearnabilityError, match="cannot be read"):
        load_model(tmp_path / "none.npz")
    assert not trace.exists()


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learnability.estimators.model_file._LARGEST", 10_000)
    written(tmp_path / "model.npz", HEAD, _0=bytes(1_000_000))
    assert (tmp_path / "model.npz").stat().st_size < 10_000
    with pytest.raises(LearnabilityError, match="unpacks to more"):
        load_model(tmp_path / "model.npz")


def test_every_flipped_byte_is_seen(fitted: IndexSubspace, tmp_path: Path) -> None:
    """Each byte of the contents is under a checksum; of the rest a flip may change nothing."""
    path = tmp_path / "model.npz"
    save_model(fitted, path)
    whole = path.read_bytes()
    for place in np.random.default_rng(1).integers(0, len(whole), 300):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(place) % 8
        path.write_bytes(bytes(flipped))
        try:
            again = load_model(path)
        except LearnabilityError:
            continue
        assert same(again, fitted)


def test_another_version_is_told(fitted: IndexSubspace, tmp_path: Path) -> None:
    save_model(fitted, tmp_path / "model.npz")
    with zipfile.ZipFile(tmp_path / "model.npz") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts["model.json"])
    with zipfile.ZipFile(tmp_path / "old.npz", "w") as archive:
        archive.writestr("model.json", json.dumps({**document, "version": "0.0.1"}))
        for name, data in parts.items():
            if name != "model.json":
                archive.writestr(name, data)
    with pytest.warns(UserWarning, match=r"written by learnability '0\.0\.1'"):
        load_model(tmp_path / "old.npz")


def test_loading_imports_no_pickle_of_a_stranger(fitted: IndexSubspace, tmp_path: Path) -> None:
    """A module of the reader's folder with the name of one of ours is not run."""
    save_model(fitted, tmp_path / "model.npz")
    (tmp_path / "index_subspace.py").write_text("raise SystemExit('theirs ran')\n")
    code = "from learnability.estimators import load_model; print(load_model('model.npz').chosen_)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == fitted.chosen_, done.stderr
