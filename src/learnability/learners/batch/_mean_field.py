"""Dynamical mean-field theory of gradient descent that reuses its batch, for any force.

As n = alpha d grows, the fields of one sample along the iterations become a process driven by
independent standard normals zeta_0, zeta_1, ... in R^p and z = W* x in R^r. Write the weights in
an orthonormal frame of directions that open one after another,

    w^t = m_t W* + sum_{s <= t} L(t, s) e_s,

where e_0 is the start and e_{s+1} the fresh direction that the force G_s adds. Conditioned on the
past, the field of a sample along e_s is kappa_s,

    kappa_0 = zeta_0,   kappa_{s+1} = zeta_{s+1} + gamma_s,
    h^t = m_t z + sum_{s <= t} L(t, s) kappa_s,   G_t = force(h^t, y),

where gamma_s is G_s orthonormalised against the forces before it: G_t = sum_{s <= t} Lambda(t, s)
gamma_s with alpha E[gamma_s gamma_r^T] = delta_sr I. The update of the weights is then

    m_{t+1} = (1 - step ridge) m_t - step alpha E[G_t z^T],
    L(t+1, s) = (1 - step ridge) L(t, s) - step alpha E[G_t kappa_s^T]   for s <= t,
    L(t+1, t+1) = -step Lambda(t, t).

This is the usual theory in other coordinates: its correlation is C(t, s) = w^t . w^s =
m_t m_s^T + sum_q L(t, q) L(s, q)^T, its response R(t, s) = sum_q L(t, q+1) Lambda^{-1}(q, s), its
kernel alpha E[G_t G_s^T] = Lambda Lambda^T. The other kernel, alpha E[dG_t / d xi^s], never
appears: by Gaussian integration by parts it is contained in E[G_t zeta^T]. So no derivative of the
force is taken, and kinks of the activation and jumps of the link need nothing special. A fresh
sample has the fields xi^t = m_t z + sum_s L(t, s) zeta_s.

The expectations are means over scrambled Sobol points. Each replicate is a solution of its own,
from beginning to end, so that their spread measures the whole error; one is in memory at a time.

References
----------
Celentano, Cheng, Montanari, arXiv:2112.07572; Gerbelot, Troiani, Mignacco, Krzakala, Zdeborova,
arXiv:2210.06591; Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala, arXiv:2402.03220. The
conditioning is Bolthausen's, Commun. Math. Phys. 325 (2014), as in Lu, arXiv:2101.07464.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.rules import sobol_normals
from learnability.labels.channel import Channel
from learnability.learners.batch._network import Network
from learnability.learners.networks.known_moments import knowing_weights
from learnability.learners.networks.starts import Start, root_of

__all__ = ["MeanField", "Plan", "mean_field", "planned"]

Array = NDArray[np.float64]

_LARGEST_BLOCK = 2**16
_SMALLEST_BLOCK = 2**10
_FEWEST_REPLICATES = 8
_MEMORY = 2**28
"""Bytes of the arrays of one replicate."""
_RANK = 1e-5
"""A force whose new part is smaller than this share of its norm opens no new direction."""


class MeanField(NamedTuple):
    """What theory says along the iterations 0 ... steps, once for each replicate.

    Attributes
    ----------
    overlap : array, shape (replicates, steps + 1, p, r)
        W W*^T.
    gram : array, shape (replicates, steps + 1, p, p)
        W W^T.
    error, train_error : array, shape (replicates, steps + 1)
        Mean squared error on fresh samples and on those of the batch.
    """

    overlap: Array
    gram: Array
    error: Array
    train_error: Array


class Plan(NamedTuple):
    """How many samples are drawn: `replicates` times 2**`log2_block`."""

    log2_block: int
    replicates: int


def planned(samples: int, p: int, r: int, steps: int) -> Plan:
    """Return replicates of a size that fits into memory, with at least `samples` points in all.

    Parameters
    ----------
    samples : int
        The least number of points.
    p, r, steps : int
        Neurons, hidden directions and iterations.
    """
    floats = 3 * p * (steps + 1) + r + 8
    most = min(_LARGEST_BLOCK, _MEMORY // (8 * floats))
    if most < _SMALLEST_BLOCK:
        raise LearnabilityError(
            f"The theory was asked for {steps} steps of {p} neurons, whose fields take "
            f"{8 * floats * _SMALLEST_BLOCK / 2**30:.1f} GiB; ask for fewer `steps`."
        )
    wanted = max(samples // _FEWEST_REPLICATES, _SMALLEST_BLOCK)
    log2_block = int(math.log2(min(most, wanted)))
    return Plan(log2_block, max(math.ceil(samples / 2**log2_block), _FEWEST_REPLICATES))


def mean_field(
    channel: Channel,
    network: Network,
    alpha: float,
    start: Start,
    *,
    step: float,
    ridge: float,
    steps: int,
    plan: Plan,
) -> MeanField:
    """Solve the equations above.

    Parameters
    ----------
    channel : Channel
        The law of the labels.
    network : Network
        What is trained.
    alpha : float
        Samples over dimension.
    start : Start
        Order parameters of the first weights.
    step, ridge, steps
        As for the descent.
    plan : Plan
        The number of points.

    Returns
    -------
    MeanField
        A solution that overflows continues with infinities and NaN.
    """
    p, r = start.overlap.shape
    march = _compiled(network, r, steps)
    seen = r + p * (steps + 1)
    found = []
    for replicate in range(plan.replicates):
        points = sobol_normals(seen + channel.latents, plan.log2_block, replicate)
        clean = np.asarray(channel.link(points[:, :r]), dtype=float)
        labels = channel.labels(points[:, :r], points[:, seen:])
        if not (np.isfinite(clean).all() and np.isfinite(labels).all()):
            raise LearnabilityError(
                f"{channel.link!r} gives labels that are not finite: no theory can be computed."
            )
        mean, variance, noise = channel.label_mean, channel.label_variance, channel.label_noise
        even = np.full(len(clean), 1 / len(clean))
        weights = (
            knowing_weights(clean, mean, variance - noise, even),
            knowing_weights(labels, mean, variance, even),
        )
        begin = root_of(start.rest), start.overlap
        found.append(march(points.T, clean, labels, weights, *begin, alpha, step, ridge))
    overlap, gram, error, train_error = (np.array(v) for v in zip(*found, strict=True))
    return MeanField(overlap, gram, error + channel.label_noise, train_error)


@lru_cache(maxsize=32)
def _compiled(network: Network, r: int, steps: int) -> Callable[..., tuple[Array, ...]]:
    """Return the march of one replicate through the iterations, in float64."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    p = network.width
    rows = p * (steps + 1)
    sizes = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((p, 2), (2,), (2,))]
    try:
        jax.eval_shape(network.force, *sizes)
        jax.eval_shape(network.output, sizes[0])
    except Exception:  # Whatever a user's function raises on a tracer.
        raise LearnabilityError(
            f"`activation` was given as {network.activation!r}, which JAX cannot trace, but the "
            'theory needs a formula such as "relu(z)" or a function of JAX arrays.'
        ) from None

    def march(
        points: Any,
        clean: Any,
        labels: Any,
        weights: Any,
        root: Any,
        m: Any,
        alpha: Any,
        step: Any,
        ridge: Any,
    ) -> Any:
        z, zeta = points[:r], points[r : r + rows]
        share = alpha / points.shape[1]  # alpha E[.] of a sum over the points.
        L = jnp.zeros((p, rows)).at[:, :p].set(root)

        def iterate(carry: Any, t: Any) -> Any:
            kappa, gamma, L, m = carry
            fields = L @ kappa + m @ z
            output = network.output(fields)
            fresh = network.output(L @ zeta + m @ z)
            seen = (
                m,
                m @ m.T + L @ L.T,
                ((fresh - clean) ** 2 @ weights[0]).clip(0.0),
                ((output - labels) ** 2 @ weights[1]).clip(0.0),
            )
            force = network.force(fields, output, labels)
            new, size = _orthonormal_part(force, gamma, share)
            # kappa_s with s > t is still zeta_s, which is independent of G_t: E[G_t kappa_s] = 0.
            known = (jnp.arange(rows) < (t + 1) * p) * share
            change = _products(force, kappa) * known
            L = (1 - step * ridge) * L - step * change
            m = (1 - step * ridge) * m - step * share * _products(force, z)
            at = ((t + 1) * p, 0)
            L = lax.dynamic_update_slice(L, -step * size, (0, (t + 1) * p))
            own = lax.dynamic_slice(kappa, at, new.shape)
            kappa = lax.dynamic_update_slice(kappa, own + new, at)
            gamma = lax.dynamic_update_slice(gamma, new, (t * p, 0))
            return (kappa, gamma, L, m), seen

        # The last step is one more than needed; what it writes at the last place is not read.
        carry = (zeta, jnp.zeros_like(zeta), L, m)
        return lax.scan(iterate, carry, jnp.arange(steps + 1))[1]

    compiled = jax.jit(march)

    def run(*arguments: Any) -> tuple[Array, ...]:
        with jax.enable_x64(True):
            return tuple(np.asarray(value) for value in compiled(*arguments))

    return run


def _orthonormal_part(force: Any, gamma: Any, share: Any) -> tuple[Any, Any]:
    """Return gamma_t (p, N) and Lambda(t, t) (p, p) from a force G_t and the earlier gamma.

    Directions in which the force repeats the earlier ones have gamma_t = 0 and Lambda = 0.
    """
    import jax.numpy as jnp

    rest = force - share * _products(force, gamma) @ gamma
    rest = rest - share * _products(rest, gamma) @ gamma  # Once more, against rounding.
    squares, axes = jnp.linalg.eigh(share * _products(rest, rest))
    new = squares > _RANK**2 * share * jnp.sum(force**2)
    size = jnp.sqrt(jnp.where(new, squares, 1.0))
    return (new / size)[:, None] * (axes.T @ rest), axes * (new * size)


def _products(few: Any, many: Any) -> Any:
    """Return few @ many.T for long rows, one row after another, which is several times faster."""
    import jax.numpy as jnp

    return jnp.stack([many @ row for row in few])
