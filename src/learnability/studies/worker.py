"""One worker process with one thread: ``python -m learnability.studies.worker``.

It ends when the scheduler goes or when the process that started it dies.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time

__all__ = ["main"]


def main(address: str, folder: str, parent: int) -> None:
    """Serve a scheduler until it closes.

    Parameters
    ----------
    address : str
        Of the scheduler.
    folder : str
        For files.
    parent : int
        Process whose end is this one's end.
    """
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    import dask
    from distributed import Worker

    dask.config.set({"logging.distributed": "error"})

    async def serve() -> None:
        worker = Worker(
            address,
            nthreads=1,
            host="127.0.0.1",
            dashboard=False,
            local_directory=folder,
            memory_limit=0,
        )
        async with worker:
            await worker.finished()

    asyncio.run(serve())


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
