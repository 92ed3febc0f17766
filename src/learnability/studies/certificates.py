"""Certificates by which the scheduler, workers and client of one study trust only each other.

Dask executes whatever a connection sends, so every connection is encrypted and both ends show the
certificate of the study. It is made for the study, lies in a folder that only its user can read,
and is deleted with it. ``python -m learnability.studies.certificates FOLDER`` writes one for a job.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

__all__ = ["environment", "security", "write_certificate"]

_NAMES = ("certificate.pem", "key.pem")


def write_certificate(folder: str | Path) -> None:
    """Make a certificate and its key in a folder; only this user can read them.

    Parameters
    ----------
    folder : str or Path
        A folder that belongs to this user.
    """
    from distributed import Security

    made = Security.temporary()
    for name, text in zip(_NAMES, (made.tls_client_cert, made.tls_client_key), strict=True):
        handle = os.open(Path(folder) / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(str(text))


def security(folder: str | Path) -> Any:
    """Return the settings that Dask needs at both ends of a connection.

    Parameters
    ----------
    folder : str or Path
        A folder that `write_certificate` filled.
    """
    from distributed import Security

    certificate, key = (str(Path(folder) / name) for name in _NAMES)
    ends = {
        f"tls_{end}_{what}": place
        for end in ("client", "scheduler", "worker")
        for what, place in (("cert", certificate), ("key", key))
    }
    return Security(require_encryption=True, tls_ca_file=certificate, **ends)


def environment(folder: str) -> dict[str, str]:
    """Return the same as variables of the environment, for Dask's own commands.

    Parameters
    ----------
    folder : str
        The folder, as a shell script writes it.
    """
    certificate, key = (f"{folder}/{name}" for name in _NAMES)
    prefix = "DASK_DISTRIBUTED__COMM"
    found = {
        f"{prefix}__REQUIRE_ENCRYPTION": "True",
        f"{prefix}__DEFAULT_SCHEME": "tls",
        f"{prefix}__TLS__CA_FILE": certificate,
    }
    for end in ("CLIENT", "SCHEDULER", "WORKER"):
        found[f"{prefix}__TLS__{end}__CERT"] = certificate
        found[f"{prefix}__TLS__{end}__KEY"] = key
    return found


if __name__ == "__main__":
    write_certificate(sys.argv[1])
