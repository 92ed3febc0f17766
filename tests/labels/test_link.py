"""The public face of a link."""

from __future__ import annotations

import contextlib
import pickle
import random
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings

from learnability import Link, LinkError
from learnability.expressions.text import to_text
from learnability.expressions.tree import Tree

from tests.expressions.strategies import grammar_text, trees

RNG = np.random.default_rng(6)


def squared_norm(z):  # type: ignore[no-untyped-def]
    return (z**2).sum(axis=-1)


# ---- making one


def test_number_of_variables() -> None:
    assert Link("z").r == 1 and Link("3").r == 1
    assert Link("z1*z3").r == 3
    assert Link("z1", r=4).r == 4
    assert Link(squared_norm, r=2).r == 2
    assert Link(Link("z1", r=4)) == Link("z1", r=4)
    assert Link(Link(squared_norm, r=2)) == Link(squared_norm, r=2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("z1*z3", 2), "at least 3"),
        (("z1", 0), "1 to 9"),
        (("z1", 10), "1 to 9"),
        (("z1", 2.0), "whole number"),
        (("z1", True), "whole number"),
        (("z1", None, [0]), "only for a function"),
        ((squared_norm,), "needs the number of its variables"),
        ((lambda z: z, 2), "shape (5, 2)"),
        ((lambda z: z[..., 0] + 1j, 2), "complex"),
        ((lambda z: z[..., 5], 2), "IndexError"),
        ((lambda z: 1 / 0, 2), "ZeroDivisionError"),
        ((squared_norm, 2, "z1"), "a list of"),
        ((squared_norm, 2, ["z3"]), "at least 3"),
        ((squared_norm, 2, [float("nan")]), "numbers up to 1e12"),
        ((squared_norm, 2, [None]), "NoneType"),
    ],
)
def test_refusals(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(LinkError) as caught:
        Link(*arguments)  # type: ignore[arg-type]
    message = str(caught.value)
    assert words in message and "\n" not in message and message.endswith(".")


def test_immutable() -> None:
    link = Link("z")
    with pytest.raises(AttributeError):
        link.r = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del link._tree
    assert link.symmetries and link.breaks == ()
    form = link.polynomial
    assert form is not None
    form.clear()
    assert link.polynomial == {(1,): 1}


# ---- calling it


def test_shapes() -> None:
    two = Link("z1 + 2*z2")
    assert two(np.zeros((4, 5, 2))).shape == (4, 5)
    assert two([1, 2]) == 5.0 and two(np.array([1, 2])).dtype == np.float64
    one = Link("z**2")
    assert one(3) == 9.0
    assert one(np.ones(7)).shape == (7,)
    assert one(np.ones((7, 1))).shape == (7,)
    assert one(np.ones((7, 2))).shape == (7, 2)
    assert Link("3", r=2)(np.zeros((4, 2))).shape == (4,)
    assert Link(squared_norm, r=1)(np.full(5, 2.0)).tolist() == [4.0] * 5
    assert Link(lambda z: z[..., 0] > 0, r=1)(np.ones(3)).dtype == np.float64


def test_result_is_the_caller_s_own() -> None:
    z = np.ones((3, 2))
    for text in ["z1", "He1(z2)", "3"]:
        value = Link(text, r=2)(z)
        value += 1
    assert np.all(z == 1)


@pytest.mark.parametrize("z", [np.zeros((3, 3)), np.zeros(()), np.zeros((2, 1)), 1.0])
def test_wrong_last_axis(z: object) -> None:
    with pytest.raises(LinkError, match="last axis must have length 2"):
        Link("z1 + z2")(z)


def test_complex_input() -> None:
    with pytest.raises(LinkError, match="real numbers"):
        Link("z")(np.array([1j]))


def test_jax() -> None:
    link = Link("z1**2 + sign(z1*z2) + erf(z2)")
    z = RNG.standard_normal((20, 2)).astype(np.float32)
    value = link(jnp.asarray(z))
    assert isinstance(value, jax.Array) and value.dtype == jnp.float32
    np.testing.assert_allclose(value, link(z), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(jax.jit(link)(z), value, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(jax.vmap(link)(jnp.asarray(z)), value, rtol=1e-5, atol=1e-6)
    gradient = jax.vmap(jax.grad(Link("z1**2*z2")))(jnp.asarray(z))
    np.testing.assert_allclose(gradient[:, 1], z[:, 0] ** 2, rtol=1e-5)
    assert Link("3", r=2)(jnp.zeros((4, 2))).shape == (4,)
    assert Link("z")(jnp.arange(3)).tolist() == [0.0, 1.0, 2.0]


# ---- repr, equality, hash, pickle


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (Link("z1**2"), "Link('z**2')"),
        (Link("z1", r=3), "Link('z1', r=3)"),
        (Link("z3"), "Link('z3')"),
        (Link("2", r=2), "Link('2', r=2)"),
        (Link(squared_norm, r=2), "Link(squared_norm, r=2)"),
    ],
)
def test_repr(link: Link, expected: str) -> None:
    assert repr(link) == expected


@settings(max_examples=200)
@given(trees(leaves=8))
def test_repr_gives_an_equal_link(tree: Tree) -> None:
    try:
        link = Link(to_text(tree))
    except LinkError as error:
        assume("degree" not in str(error))
        raise
    for other in (Link(repr(link)), eval(repr(link)), Link(link), pickle.loads(pickle.dumps(link))):
        assert other == link and hash(other) == hash(link) and other.r == link.r
        assert repr(other) == repr(link)


def test_repr_is_not_a_door() -> None:
    for text in [
        "Link('z').r",
        "Link('Link(\\'z\\')')",
        "Link(z)",
        "Link('z', r=0)",
        "Link('z' 'z')",
    ]:
        with pytest.raises(LinkError):
            Link(text)


def test_equality() -> None:
    assert Link("z**2") == Link("z1**2") == Link("z1*z1") == Link("He2(z) + 1")
    assert Link("(z1 + z2)**2") == Link("z1**2 + 2*z1*z2 + z2**2")
    assert Link("z1") != Link("z1", r=2)
    assert Link("z1 - tanh(z2)") == Link("z1 + (-1)*tanh(z2)")
    assert Link("tanh(z)") != Link("tanh(2*z)")
    assert Link("z") != "z"
    assert len({Link("z1*z2"), Link("z2*z1"), Link("z1*z2*1")}) == 1


def test_equality_of_functions() -> None:
    assert Link(squared_norm, r=2) == Link(squared_norm, r=2)
    assert Link(squared_norm, r=2) != Link(squared_norm, r=3)
    assert Link(squared_norm, r=2) != Link(squared_norm, r=2, breaks=[0])
    assert Link(lambda z: z[..., 0], r=1) != Link(lambda z: z[..., 0], r=1)
    assert hash(Link(squared_norm, r=2)) == hash(Link(squared_norm, r=2))


def test_latex() -> None:
    assert "<msup>" in Link("z**2")._repr_html_()
    assert Link("z1*z2").latex == r"z_1 \, z_2"
    assert Link(squared_norm, r=2).latex == r"g(z_1, \ldots, z_2)"


# ---- structure


def test_polynomial_and_degree() -> None:
    assert Link("He3(z1)*z2").degree == 4 and Link("He3(z1)*z2").is_polynomial
    assert Link("0", r=2).degree == 0
    assert Link("abs(z)").degree is None and not Link("abs(z)").is_polynomial
    assert Link(squared_norm, r=2).polynomial is None


def test_breaks() -> None:
    assert Link("z1**2 + sign(z1*z2)", r=3).breaks == (Link("z1", r=3), Link("z2", r=3))
    assert Link("z1**2").breaks == ()
    assert Link(squared_norm, r=2).breaks is None
    assert Link(squared_norm, r=2, breaks=[]).breaks == ()
    declared = Link(squared_norm, r=2, breaks=[0.5, "z1 - z2", Link("z1"), squared_norm]).breaks
    assert declared is not None and all(b.r == 2 for b in declared)
    assert declared[:3] == (Link("z1 - 0.5", r=2), Link("z2 - 0.5"), Link("z1 - z2"))
    assert declared[3] == Link("z1", r=2) and declared[4] == Link(squared_norm, r=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sign(z1*z2)", (-1, 1)),
        ("sign(z1) + sign(z2)", (-2, 0, 2)),
        ("sign(z)*sign(z)", (1,)),
        ("where(0.5 < abs(z) < 2, 1, 0)", (0, 1)),
        ("0.1*sign(z1) + 0.2*sign(z2) + 0.3*sign(z3)", (-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6)),
        ("sign(relu(z))", (0, 1)),
        ("step(z - 4)", (0, 1)),
        ("5", (5,)),
        ("1/step(z)", (1,)),
    ],
)
def test_values(text: str, expected: tuple[float, ...]) -> None:
    assert Link(text).values == pytest.approx(expected, abs=1e-12)


def test_values_of_others() -> None:
    assert Link("z").values is None and Link("z1*sign(z2)").values is None
    assert Link(lambda z: np.sign(z[..., 0]) * 2, r=2).values == (-2, 2)
    assert Link(squared_norm, r=2).values is None


# ---- links made from links


def test_derivatives() -> None:
    assert Link("z1**2*z2").gradient() == (Link("2*z1*z2"), Link("z1**2", r=2))
    assert Link("relu(z)").derivative() == Link("step(z)")
    z = RNG.standard_normal((30, 2))
    numeric = Link(lambda z: np.tanh(z[..., 0] * z[..., 1]), r=2, breaks=[]).derivative(2)
    np.testing.assert_allclose(numeric(z), Link("tanh(z1*z2)").derivative(2)(z), atol=1e-8)
    assert numeric.breaks == ()
    for i in (0, 3, 1.0):
        with pytest.raises(LinkError, match="from 1 to r = 2"):
            Link("z1*z2").derivative(i)  # type: ignore[arg-type]


def test_derivatives_too_long_for_a_text_stay_exact() -> None:
    link = Link("*".join(f"tanh({k}*z1 + z2)" for k in range(1, 25)))
    first = link.derivative(1)
    assert first.text is None and first.breaks == ()
    z = 1 + 0.3 * RNG.standard_normal((10, 2))
    h = np.array([1e-6, 0])
    np.testing.assert_allclose(first(z), (link(z + h) - link(z - h)) / 2e-6, rtol=1e-5, atol=1e-7)
    assert pickle.loads(pickle.dumps(first)) == first == link.derivative(1)


@pytest.mark.parametrize(
    "text", ["z1**2 + sign(z1*z2*z3)", "tanh(z1)*z2 + max(z3, 0)", "He4(z1) - z2*z3"]
)
def test_rotation(text: str) -> None:
    link = Link(text)
    Q = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    z = RNG.standard_normal((40, 3))
    rotated = link.rotate(Q)
    assert rotated.text is not None and rotated.r == 3
    np.testing.assert_allclose(rotated(z), link(z @ Q.T), rtol=1e-9, atol=1e-9)
    breaks, moved = link.breaks, rotated.breaks
    assert breaks is not None and moved is not None and len(breaks) == len(moved)
    for before, after in zip(breaks, moved, strict=True):
        np.testing.assert_allclose(np.abs(after(z)), np.abs(before(z @ Q.T)), atol=1e-9)


def test_rotation_by_a_signed_permutation_is_exact() -> None:
    assert Link("z1 + z2**3").rotate([[0, 1], [-1, 0]]) == Link("z2 - z1**3")


def test_rotation_falls_back_to_a_function() -> None:
    link = Link(" + ".join(f"abs(z{k % 9 + 1} - {k})" for k in range(40)))
    Q = np.linalg.qr(RNG.standard_normal((9, 9)))[0]
    rotated = link.rotate(Q)
    z = RNG.standard_normal((5, 9))
    assert rotated.text is None and rotated.breaks is not None and len(rotated.breaks) == 40
    np.testing.assert_allclose(rotated(z), link(z @ Q.T), rtol=1e-9)
    np.testing.assert_allclose(rotated.rotate(Q.T)(z), link(z), rtol=1e-9)


def test_rotation_of_a_function() -> None:
    Q = np.linalg.qr(RNG.standard_normal((2, 2)))[0]
    link = Link(lambda z: z[..., 0] ** 3, r=2, breaks=["z1"]).rotate(Q)
    z = RNG.standard_normal((5, 2))
    np.testing.assert_allclose(link(z), (z @ Q.T)[:, 0] ** 3)
    assert link.breaks == (Link("z1", r=2).rotate(Q),)


@pytest.mark.parametrize("Q", [np.ones((2, 2)), np.eye(3), [[np.nan, 0], [0, 1]]])
def test_rotation_needs_an_orthogonal_matrix(Q: object) -> None:
    with pytest.raises(LinkError, match="`Q`"):
        Link("z1*z2").rotate(Q)  # type: ignore[arg-type]


def test_every_accepted_text_answers_every_question() -> None:
    rng = random.Random(12)
    accepted = []
    while len(accepted) < 400:
        with contextlib.suppress(LinkError):
            accepted.append(Link(grammar_text(rng, hostile=0.0)))
    for link in accepted:
        assert link(np.zeros((3, link.r))).shape == (3,)
        assert link.gradient()[0].r == link.r
        assert link.breaks is not None and len(link.latex) > 0
        assert link.values is None or len(link.values) <= 64
        assert Link(repr(link)) == link
        assert link.degree is None or link.degree <= 64


# ---- what is loaded


def test_light_imports() -> None:
    code = (
        "import sys, learnability\n"
        "assert 'numpy' not in sys.modules\n"
        "assert 'Link' in dir(learnability) and learnability.__version__\n"
        "link = learnability.Link('z1**2 + He3(z2)')\n"
        "link([1.0, 2.0]), link.polynomial, hash(link), link.symmetries\n"
        "heavy = {'scipy', 'jax', 'xarray', 'matplotlib', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_link_after_another() -> None:
    z = np.linspace(-3, 3, 25)[:, None]
    inner = Link("z**2 - 1")
    for outer in (Link("relu(z)"), Link(lambda h: np.maximum(h[..., 0], 0), r=1, breaks=[0.0])):
        found = outer.after(inner)
        np.testing.assert_allclose(found(z), np.maximum(z[:, 0] ** 2 - 1, 0))
        breaks = found.breaks
        assert breaks is not None
        assert any(np.allclose(b(np.array([[1.0], [-1.0]])), 0) for b in breaks)
    assert Link("tanh(z)").after(Link("z1*z2")) == Link("tanh(z1*z2)")
    with pytest.raises(LinkError, match="a link of one"):
        Link("z1*z2").after(inner)
