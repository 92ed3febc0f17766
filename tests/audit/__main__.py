"""Judge every random problem of a family: `python -m tests.audit giant [first last [stream]]`."""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError

from tests.audit.problems import FAMILIES, Problem, problem

ALLOWED, SLACK, SHARE = 3.0, 0.02, 0.97


def answered(found: Problem, **extra: Any) -> tuple[Any, Any]:
    """The theory's numbers and their stated errors, or None with the reason of a refusal."""
    at = {name: value for name, value in found.at.items() if name != "d"}
    try:
        answer = found.learner.predict(found.target, **at, **extra)
    except LearnabilityError as error:
        return None, str(error)
    if "status" in answer and (answer.status == "undecided").any():
        return None, str(answer.attrs.get("note", "undecided"))
    stated = answer.get(f"{found.observable}_stderr")
    value = 0.0 if stated is None else float(np.mean(stated))
    return np.asarray(answer[found.observable].values, dtype=float).ravel(), value


def compared(numbers: Any, stated: float, values: Any) -> dict[str, Any]:
    """Whether numbers of the theory, one or one for each seed, are those of the runs."""
    if not (np.isfinite(numbers).all() and np.isfinite(values).all()):
        agree = not (np.isfinite(numbers).any() or np.isfinite(values).any())
        return {"verdict": "diverged" if agree else "wrong", "theory": numbers.tolist(),
                "runs": values.tolist()}  # fmt: skip
    gaps = numbers - values if len(numbers) == len(values) else numbers.mean() - values
    stderr = float(gaps.std(ddof=1)) / math.sqrt(len(values))
    gap, mean = float(gaps.mean()), float(values.mean())
    right = abs(gap) <= ALLOWED * math.hypot(stderr, stated) + SLACK * mean
    return {"verdict": "right" if right else "wrong", "theory": float(numbers.mean()), "runs": mean,
            "relative": gap / mean, "stderr": stderr / mean, "stated": stated / mean}  # fmt: skip


def judged(family: str, k: int, stream: int = 23) -> dict[str, Any]:
    """One problem: in its dimension, given the seeds where the theory takes them, and the limit."""
    try:
        found, seeds = problem(family, k, stream), FAMILIES[family][1]
    except LearnabilityError as error:
        return {"k": k, "verdict": "refused", "way": str(error)}
    about: dict[str, Any] = {"k": k, "learner": repr(found.learner), "target": repr(found.target)}
    about |= {name: repr(value) for name, value in found.at.items()}
    d = found.at["d"]
    ways = {"given": {"d": d, "seeds": seeds}, "d": {"d": d}, "limit": {}}
    start = time.process_time()
    numbers = {way: answered(found, **extra) for way, extra in ways.items()}
    about["theory_seconds"] = round(time.process_time() - start, 2)
    known = [way for way, (number, _) in numbers.items() if number is not None]
    if not known:
        return about | {"verdict": "refused", "way": numbers["d"][1]}
    start = time.process_time()
    try:
        runs = found.learner.simulate(found.target, **found.at, seeds=seeds)
    except LearnabilityError as error:
        return about | {"verdict": "no runs", "way": str(error)}
    about["run_seconds"] = round(time.process_time() - start, 2)
    values = np.asarray(runs[found.observable].values, dtype=float).reshape(seeds)
    about |= {"way": known[0], **compared(*numbers[known[0]], values)}
    if "limit" in known[1:]:
        about["limit"] = compared(*numbers["limit"], values)
    return about


def main() -> int:
    """Print a line for each problem and the share that is right."""
    family = sys.argv[1]
    count = FAMILIES[family][0]
    first, last = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (0, count)
    stream = int(sys.argv[4]) if len(sys.argv) > 4 else 23
    verdicts, limits = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(first, last):
            found = judged(family, k, stream)
            verdicts.append(found["verdict"])
            limits += [found["limit"]["verdict"]] if "limit" in found else []
            print(json.dumps(found), flush=True)
    right, wrong = verdicts.count("right"), verdicts.count("wrong")
    share = right / max(right + wrong, 1)
    print(f"{family}: {right} right, {wrong} wrong ({share:.1%}), "
          f"{len(verdicts) - right - wrong} without a number")  # fmt: skip
    print(f"limits: {limits.count('right')} right, {limits.count('wrong')} wrong")
    return 0 if share >= SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
