"""One thread a process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info

from learnability.studies.threads import ENVIRONMENT, one_thread

# The threads of JAX's client, after it has computed something.
COUNT = """
import os, sys
from learnability.studies.threads import one_thread
def threads():
    import jax.numpy as jnp
    jnp.ones((300, 300)).dot(jnp.ones((300, 300))).block_until_ready()
    return len(os.listdir("/proc/self/task"))
if sys.argv[1] == "capped":
    with one_thread():
        print(threads())
else:
    import scipy.linalg
    print(threads())
"""


def test_blas_is_limited_inside_and_not_after() -> None:
    before = [pool["num_threads"] for pool in threadpool_info()]
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} <= {1}
        assert os.environ["PJRT_NPROC"] == "1"
    assert [pool["num_threads"] for pool in threadpool_info()][: len(before)] == before
    assert "PJRT_NPROC" not in os.environ or ENVIRONMENT["PJRT_NPROC"] == "1"


@pytest.mark.skipif(
    not os.path.exists("/proc/self/task") or len(os.sched_getaffinity(0)) < 2,
    reason="needs two cores and /proc",
)
def test_jax_starts_fewer_threads() -> None:
    def counted(how: str) -> int:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PJRT_NPROC", "NPROC", "JAX_COMPILATION_CACHE_DIR")
        }  # Compiled code that another process left would start fewer threads, too.
        environment["OPENBLAS_NUM_THREADS"] = "1"
        done = subprocess.run(
            [sys.executable, "-c", COUNT, how],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        return int(done.stdout)

    assert counted("capped") < counted("free")
