"""One worker process with one thread: ``python -m learnability.studies.worker``.

It ends when the scheduler goes or when the process that started it dies.
"""

from __future__ import annotations

import os
import sys
import threading
import time

__all__ = ["MORE_PATHS", "main"]

MORE_PATHS = "LEARNABILITY_MORE_PATHS"
"""The variable that holds the folders of modules of the process that started a worker."""


def main(address: str, folder: str, parent: int, limit: float) -> None:
    """Serve a scheduler until it closes.

    Parameters
    ----------
    address : str
        The address of the scheduler.
    folder : str
        The folder for its files.
    parent : int
        Number of the process with which this one ends.
    limit : float
        Bytes of memory above which it ends; the run that took them has then failed.
    """
    threading.Thread(target=_end_with, args=(parent, limit), daemon=True).start()
    import asyncio

    import dask
    from distributed import Worker

    from learnability.studies.certificates import security

    more = os.environ.get(MORE_PATHS, "").split(os.pathsep)
    sys.path += [path for path in more if path and path not in sys.path]

    dask.config.set({"logging.distributed": "error"})

    async def serve() -> None:
        worker = Worker(
            address,
            nthreads=1,
            host="tls://127.0.0.1",
            security=security(folder),
            dashboard=False,
            local_directory=folder,
            memory_limit=0,
        )
        async with worker:
            await worker.finished()

    asyncio.run(serve())


def _end_with(parent: int, limit: float) -> None:
    while os.getppid() == parent and _held() <= limit:
        time.sleep(0.2)
    os._exit(1)


def _held() -> float:
    """Return the bytes of memory that this process holds; zero where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return float(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0.0


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
