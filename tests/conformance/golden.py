"""Golden numbers: what every learner returned on every law of data when its version was written.

`make golden` adds what is missing to golden.json: runs of new learners and
of new versions. It never changes a number that is there.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from learnability.fields import declared, given
from learnability.inputs import INPUTS
from learnability.labels.link import Link
from learnability.learners import LEARNERS
from learnability.learners.base import Learner
from learnability.targets import TARGETS, Target

from tests.conformance.cases import VERBS, Asked, D, answered, needed, places, targets_of

FILE = Path(__file__).with_name("golden.json")
COMMAND = "make golden"
DIGITS = 6
SAMPLES = 6
FEW = 4

Entry = dict[str, Any]


def read() -> dict[str, Entry]:
    """All entries, by their keys."""
    found: dict[str, Entry] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


# ---- keys


def key_of_run(learner: type[Learner], question: str, verb: str, kind: str, law: str) -> str:
    """Learner and target with the versions of their numerics, question, verb and inputs."""
    versions = learner.numerics_version, TARGETS[kind].numerics_version
    return f"{learner.name} {versions[0]} | {verb} {question} | {kind} {versions[1]} | {law}"


def key_of_sample(kind: str, law: str) -> str:
    """Target with the version of its samples, and inputs."""
    return f"sample | {kind} {TARGETS[kind].numerics_version} | {law}"


# ---- what is kept of an array


def digest(values: Any) -> list[float | None]:
    """First, last, mean and root mean square of an array; None where it is not finite."""
    flat = np.asarray(values, dtype=float).ravel()
    if not flat.size:
        return []
    with np.errstate(all="ignore"):
        found = (flat[0], flat[-1], flat.mean(), np.sqrt(np.mean(flat**2)))
    return [float(f"{one:.{DIGITS}g}") if np.isfinite(one) else None for one in found]


def digests(result: xarray.Dataset) -> dict[str, Any]:
    """Of every number, and the words of the status."""
    numbers = {
        str(name): digest(values)
        for name, values in sorted(result.data_vars.items())
        if values.dtype.kind == "f"
    }
    words = result.status.values.ravel().tolist() if "status" in result else None
    return numbers if words is None else {**numbers, "status": words}


def sample_digests(target: Target) -> dict[str, Any]:
    """Of a sample in float64, and of the second batch of a stream in float32."""
    one = target.sample(3, n=SAMPLES, d=D)
    batch = next(target.batches(3, SAMPLES, D, first=1, dtype=np.float32))
    found = {name: digest(values) for name, values in one._asdict().items()}
    return found | {f"batch_{name}": digest(values) for name, values in batch._asdict().items()}


# ---- how a run is asked again


def plain(value: Any) -> Any:
    """A value as JSON has it; links are their text, records name their class."""
    if isinstance(value, Link):
        return value.text
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: plain(getattr(value, field.name))
            for field, about in declared(value)
            if given(value, field, about)
        }
        return {"class": type(value).__name__, **fields}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def fields_of(record: Any) -> dict[str, Any]:
    """The fields that were given."""
    found: dict[str, Any] = plain(record)
    return {name: value for name, value in found.items() if name != "class"}


def target_of(entry: Mapping[str, Any]) -> Target:
    """The target of an entry."""
    about = dict(entry["target"])
    kind, link, law = about.pop("kind"), about.pop("link"), about.pop("inputs", None)
    if law is not None:
        about["inputs"] = INPUTS[law["kind"]](**{k: v for k, v in law.items() if k != "kind"})
    return TARGETS[kind](link, **about)  # type: ignore[call-arg]


def described(target: Target) -> dict[str, Any]:
    """A target as JSON has it."""
    found = {"kind": target.kind, "link": target.link.text}
    if "inputs" in {field.name for field in dataclasses.fields(target)}:  # type: ignore[arg-type]
        found["inputs"] = {"kind": target.inputs.kind, **fields_of(target.inputs)}
    return found


def shortened(asked: Asked) -> Asked:
    """The same with few iterations: later ones multiply the rounding of a processor."""
    if getattr(asked.learner, "iterations", FEW) <= FEW:
        return asked
    learner: Any = dataclasses.replace(asked.learner, iterations=FEW)  # type: ignore[type-var]
    return dataclasses.replace(asked, learner=learner)


def entry_of(asked: Asked) -> Entry:
    """A run, and how it was asked."""
    asked = shortened(asked)
    at = {**needed(asked.question, asked.verb, asked.target), **asked.more}
    return {
        "fields": fields_of(asked.learner),
        "target": described(asked.target),
        "at": plain(at),
        "numbers": digests(asked.result),
    }


def wanted() -> dict[str, Any]:
    """Key -> what makes its entry, for all that is declared."""
    found: dict[str, Any] = {}
    for kind, law in places():
        target = targets_of(kind, law)[0]
        found[key_of_sample(kind, law)] = target
        for learner in LEARNERS.values():
            for question in learner.questions:
                for verb in VERBS:
                    if question.side(verb) is None:
                        continue
                    ways = answered(learner, question, verb, kind, law)
                    if ways:
                        found[key_of_run(learner, question.name, verb, kind, law)] = ways[0]
    return found


def main() -> None:
    """Write the entries that are missing."""
    entries = read()
    for key, made in wanted().items():
        if key not in entries:
            print(key)
            if isinstance(made, Asked):
                entries[key] = entry_of(made)
            else:
                entries[key] = {"target": described(made), "numbers": sample_digests(made)}
    lines = [f"{json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
