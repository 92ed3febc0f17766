"""One thread per process: workers do not compete, and a run has the same bits wherever it runs.

Sums of floating-point numbers depend on how they are split over threads. BLAS is limited by
threadpoolctl; JAX's CPU client reads the size of its pool from PJRT_NPROC when it starts, and
cannot be changed afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

__all__ = ["ENVIRONMENT", "one_thread", "one_thread_for_good"]

ENVIRONMENT = {
    "PJRT_NPROC": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""Variables of the environment with which a worker is started."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread inside a ``with`` block.

    If JAX starts inside, it keeps to one thread of the CPU until the process ends; if it was
    started before, it keeps its own.
    """
    import scipy.linalg  # noqa: F401  (its BLAS is limited only when it is loaded)
    from threadpoolctl import threadpool_limits

    before = os.environ.get("PJRT_NPROC")
    os.environ["PJRT_NPROC"] = "1"
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        if before is None:
            del os.environ["PJRT_NPROC"]
        else:
            os.environ["PJRT_NPROC"] = before


@lru_cache(maxsize=1)
def one_thread_for_good() -> None:
    """Compute with one thread until the process ends, whoever started it; done once."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    os.environ["PJRT_NPROC"] = "1"
    threadpool_limits(limits=1)
