"""What a store holds, in words, and one of its studies as a result."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError, visible
from learnability.studies.assembly import assemble
from learnability.studies.points import Layout
from learnability.studies.sealing import DAMAGED
from learnability.studies.store import Store

if TYPE_CHECKING:
    import xarray

__all__ = ["export", "info"]

_MOST_ERRORS = 20


def info(path: str | Path) -> str:
    """Return the studies of a store: what was asked, what is finished, what failed.

    Parameters
    ----------
    path : str or Path
        The store; it is only read, and may be in use.
    """
    with Store(path, write=False) as store:
        lines = [f"{Path(path).name}: {store.size()}"]
        for number, layout in store.studies().items():
            done = len(store.finished(layout.keys))
            failures = store.failures(layout.keys)
            lines += ["", f"study {number}: {layout.learner} on {layout.target}"]
            lines += [f"  {name:<12}{_shown(labels)}" for name, labels in _rows(layout)]
            lines.append(f"  {done} of {len(layout.keys)} runs finished, {len(failures)} failed")
            counts = Counter(failures.values()).most_common()
            lines += [f"  {count} failed: {error}" for error, count in counts[:_MOST_ERRORS]]
    return visible("\n".join(lines))


def export(path: str | Path, number: int | None = None) -> xarray.Dataset:
    """Return a study of a store as one result; runs that are not finished are NaN.

    Parameters
    ----------
    path : str or Path
        The store; it is only read, and may be in use.
    number : int, optional
        The number of the study, as `info` lists them; by default the one asked last.
    """
    with Store(path, write=False) as store:
        studies = store.studies()
        if not studies:
            raise LearnabilityError(f"The store {str(path)!r} holds no study yet.")
        if number is not None and number not in studies:
            known = ", ".join(map(str, studies))
            raise LearnabilityError(
                f"Study {number} was asked for, but the store {str(path)!r} holds {known}."
            )
        layout = studies[list(studies)[-1] if number is None else number]
        try:
            return assemble(layout, store.results(layout.keys)).to_dataset()
        except LearnabilityError:
            raise
        except DAMAGED as error:
            raise LearnabilityError(
                f"The runs of {str(path)!r} do not fit together ({type(error).__name__}: {error}): "
                "`learnability study check` says what is damaged."
            ) from None


def _rows(layout: Layout) -> list[tuple[str, Any]]:
    return [*layout.scalars.items(), *layout.axes.items()]


def _shown(labels: Any) -> str:
    if not isinstance(labels, list):
        return f"{labels:g}" if isinstance(labels, float) else str(labels)
    texts = [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]
    if len(texts) <= 6:
        return ", ".join(texts)
    return f"{', '.join(texts[:3])}, ..., {texts[-1]} ({len(texts)} values)"
