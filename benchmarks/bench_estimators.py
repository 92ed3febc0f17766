"""Overlap, prediction, counting and CPU time of the estimators, with all peers in the same run.

Overlap is |P P*|_F^2 / r in the metric of the covariance of x: the identity for Gaussian inputs,
not that of the rows at hand, which would flatter every method; on real inputs that of the table.
The method was developed on seeds below 9000; seeds here begin there. Peers: SIR, SAVE, DR, pHd,
outer product of gradients (OPG, 100 anchors), kernel gradient product (RFM, bandwidth and ridge
tuned by leave-one-out), PLS and an early-stopped network (its gradient product). Time is CPU
seconds of one thread.

Every fit is one line of the file of results, and lines that are there are not computed again: the
run can be stopped and taken up.

    python benchmarks/bench_estimators.py --panels time,stairs [--seeds 10] [--seconds 200]
    python benchmarks/bench_estimators.py --table
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from planted_problems import LINKS, Given, Network, Pls, Recursive, planted
from real_tables import AT_HAND, FINDERS, score, with_planted_target

from learnability.estimators import (
    GradientSubspace,
    IndexRegressor,
    IndexSubspace,
    MessagePassingSubspace,
    MomentSubspace,
    dimension_report,
    subspace_overlap,
)
from learnability.estimators._labels import read_labels
from learnability.estimators._search import moment_starts
from learnability.estimators._whitening import whiten

FIRST = 9000
FIVE = ["z1^2-z2^2", "He3(z1)", "z1+He3(z1)z2", "tanh(z1)+z2^2", "sign(z1z2)"]
REAL = ["|z|", "z1^2-z2^2", "sign(z1z2)", "tanh(z1)+z2^2", "z1+He3(z1)z2"]
INPUTS = {"breast_cancer": REAL, "cells": REAL[:4]}
# Name -> dimension, samples over dimension, links, peers: all, or the fast ones with all on three.
PLANTED: dict[str, tuple[int, float, list[str], str]] = {
    "stairs": (50, 50, ["z1^2+sign(z1z2z3)"], "some"),
    "phase": (500, 2, ["|z|"], "fast"),
    "time": (200, 20, ["tanh(z1)+z2^2"], "some"),
    "d200": (200, 5, FIVE, "some"),
    "d50-10": (50, 10, list(LINKS), "all"),
    "d50-5": (50, 5, list(LINKS), "all"),
    "parity5": (500, 5, ["sign(z1z2)"], "fast"),
    "parity8": (500, 8, ["sign(z1z2)"], "fast"),
}
FULL_SEEDS = 2
"""Seeds on which slow peers run where a panel has `some`."""


def finders(r: int, seed: int, *, slow: bool) -> dict[str, Any]:
    """The methods and their peers."""
    found: dict[str, Any] = {
        "message passing": MessagePassingSubspace(r, random_state=seed),
        "SIR": MomentSubspace("sir", r),
        "SAVE": MomentSubspace("save", r, clip=False),
        "DR": MomentSubspace("dr", r, clip=False),
        "pHd": MomentSubspace("phd", r, clip=False),
        "PLS": Pls(r),
    }
    if slow:
        found["IndexSubspace"] = IndexSubspace(r, random_state=seed)
        found["RFM"] = GradientSubspace("agop", r, random_state=seed)
        found["OPG"] = GradientSubspace("opg", r, n_anchors=100, random_state=seed)
        found["MLP"] = Network(r)
    return found


def overlaps(
    X: Any, y: Any, W: Any, seed: int, *, slow: bool, metric: Any = None
) -> dict[str, list[float]]:
    """Method -> overlap and CPU seconds; and the overlap of the starts of message passing."""
    found = {}
    for name, finder in finders(len(W), seed, slow=slow).items():
        start = time.process_time()
        directions = finder.fit(X, y).components_
        cpu = time.process_time() - start
        found[name] = [subspace_overlap(directions, W, metric), cpu]
    ones = np.ones(len(X))
    whitening = whiten(X, ones, "shrunk")
    labels = read_labels(y, ones)
    starts = moment_starts(X, labels, whitening, len(W), np.random.default_rng(seed))
    each = [subspace_overlap(whitening.pull_back(U).T, W, metric) for U in starts]
    found["best start"] = [max(each), 0.0]
    return found


def planted_panel(name: str, seeds: int) -> Iterator[tuple[str, Any]]:
    """Overlaps on Gaussian inputs."""
    d, alpha, links, peers = PLANTED[name]
    order = range(FIRST, FIRST + seeds)
    order = order if peers == "all" else order[::-1]  # Those with slow peers come last.
    for seed in order:
        for link in links:
            slow = peers == "all" or (peers == "some" and seed < FIRST + FULL_SEEDS)

            def work(link: str = link, seed: int = seed, slow: bool = slow) -> Any:
                X, y, W = planted(link, d, round(alpha * d), seed)
                return overlaps(X, y, W, seed, slow=slow)

            yield f"{link}|{seed}", work


def real_inputs_panel(seeds: int) -> Iterator[tuple[str, Any]]:
    """Overlaps on real inputs with a planted link, ten per cent of noise."""
    for seed in range(FIRST, FIRST + seeds):
        for data in (name for name in INPUTS if name in AT_HAND):
            for link in INPUTS[data]:

                def work(data: str = data, link: str = link, seed: int = seed) -> Any:
                    X, y, W = with_planted_target(data, link, seed)
                    return overlaps(X, y, W, seed, slow=True, metric=np.cov(X, rowvar=False))

                yield f"{data} {link}|{seed}", work


def nothing_panel(seeds: int) -> Iterator[tuple[str, Any]]:
    """Number of directions where there is none to find: d = 50, n = 400."""
    d, n = 50, 400

    def work(law: str, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        y = {
            "noise": lambda: rng.standard_normal(n),
            "permuted": lambda: rng.permutation(X[:, 0] + X[:, 1] ** 2),
            "sign(z1z2z3)": lambda: np.sign(X[:, 0] * X[:, 1] * X[:, 2]),
            "z^2exp(-z^2)": lambda: X[:, 0] ** 2 * np.exp(-(X[:, 0] ** 2)),
        }[law]()
        start = time.process_time()
        found = IndexSubspace(random_state=seed).fit(X, y)
        return {"auto": [float(len(found.components_) == 0), time.process_time() - start]}

    for seed in range(FIRST, FIRST + seeds):
        for law in ("noise", "permuted", "sign(z1z2z3)", "z^2exp(-z^2)"):
            yield f"{law}|{seed}", lambda law=law, seed=seed: work(law, seed)


def dimension_panel(seeds: int) -> Iterator[tuple[str, Any]]:
    """How often each rule counts right: d = 30, n = 600, r = 0 ... 4, noisy."""
    laws = [
        lambda z: 0 * z[0],
        lambda z: np.abs(z[0]),
        lambda z: z[0] + z[1] ** 2,
        lambda z: z[0] + z[1] * z[2],
        lambda z: z[0] + 1.5 * np.abs(z[1]) + z[2] * z[3],
    ]

    def work(r: int, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((600, 30))
        clean = laws[r](X.T)
        y = clean + 0.3 * (clean.std() or 1.0) * rng.standard_normal(600)
        start = time.process_time()
        found = dimension_report(X, y, random_state=seed)
        cpu = time.process_time() - start
        right = {
            "held-out information": [float(found.cv == r), cpu],
            "permutation": [float(found.permutation == r), cpu],
            "bulk edge": [float(found.bulk_edge == r), cpu],
        }
        if found.agree:
            right["where both agree"] = [float(found.cv == r), cpu]
        return right

    for seed in range(FIRST, FIRST + seeds):
        for r in range(5):
            yield f"r={r}|{seed}", lambda r=r, seed=seed: work(r, seed)


def prediction_panel(seeds: int) -> Iterator[tuple[str, Any]]:
    """Test R^2 at d = 50, n = 1000 with ten per cent of noise."""

    def work(link: str, seed: int) -> Any:
        X, y, W = planted(link, 50, 3000, seed)
        rng = np.random.default_rng(seed)
        y = y + 0.1 * y.std() * rng.standard_normal(len(y))
        train, test = slice(0, 1000), slice(1000, 3000)
        found = {}
        for name, model in {
            "IndexRegressor": IndexRegressor(IndexSubspace(len(W), random_state=seed)),
            "true directions": IndexRegressor(Given(W)),
            "RFM": Recursive(seed),
        }.items():
            start = time.process_time()
            score = model.fit(X[train], y[train]).score(X[test], y[test])
            found[name] = [float(score), time.process_time() - start]
        return found

    for seed in range(FIRST, FIRST + seeds):
        for link in LINKS:
            yield f"{link}|{seed}", lambda link=link, seed=seed: work(link, seed)


def tables_panel(seeds: int) -> Iterator[tuple[str, Any]]:
    """Score of a support vector machine on r coordinates of real tables, and on those of `auto`."""
    del seeds
    for data in AT_HAND:
        for r in ("auto", 1, 2, 3, 4, 5):  # Auto tries up to five.
            for name in ["IndexSubspace"] if r == "auto" else FINDERS:

                def work(data: str = data, r: Any = r, name: str = name) -> Any:
                    start = time.process_time()
                    value = score(data, name, r)
                    return {name: [value, time.process_time() - start]}

                yield f"{data} r={r}|{name}", work


def panel(name: str, seeds: int) -> Iterator[tuple[str, Any]]:
    """The fits of a panel: key, and what computes it."""
    others = {
        "real": real_inputs_panel, "nothing": nothing_panel, "dimension": dimension_panel,
        "prediction": prediction_panel, "tables": tables_panel,
    }  # fmt: skip
    return others[name](seeds) if name in others else planted_panel(name, seeds)


def run(names: list[str], seeds: int, out: Path, seconds: float, only: str) -> None:
    """Compute what the file of results does not have, until the time is over."""
    done = {(row["panel"], row["key"]) for row in read(out)}
    start = time.process_time()
    for name in names:
        for key, work in panel(name, seeds):
            if (name, key) in done or not key.startswith(only):
                continue
            if time.process_time() - start > seconds:
                return
            row = {"panel": name, "key": key, "found": work()}
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(name, key, {k: round(v[0], 3) for k, v in row["found"].items()}, flush=True)


def read(out: Path) -> list[dict[str, Any]]:
    """The lines of the file of results."""
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def table(out: Path) -> None:
    """Means over seeds: one line a problem and method."""
    panels: dict[str, dict[str, dict[str, list[Any]]]] = defaultdict(lambda: defaultdict(dict))
    worse: dict[str, list[bool]] = defaultdict(list)
    for row in read(out):
        problem = row["key"].rsplit("|", 1)[0]
        for name, value in row["found"].items():
            panels[row["panel"]][problem].setdefault(name, []).append(value)
        found = {name: value[0] for name, value in row["found"].items()}
        if "best start" in found:
            worse["message passing"].append(found["message passing"] >= found["best start"] - 0.02)
        if "best start" in found and "IndexSubspace" in found:
            own = max(found[name] for name in ("message passing", "RFM", "OPG", "DR", "SIR"))
            worse["IndexSubspace"].append(found["IndexSubspace"] >= own - 0.02)
    for name, problems in panels.items():
        print(f"\n{name}")
        means = defaultdict(list)
        for problem, methods in problems.items():
            print(f"  {problem}")
            for method, values in methods.items():
                v = np.array(values)
                means[method].append(v[:, 0].mean())
                print(
                    f"    {method:<20} {v[:, 0].mean():6.3f}  least {v[:, 0].min():6.3f}  above .9:"
                    f" {(v[:, 0] > 0.9).mean():4.0%}  {v[:, 1].mean():6.2f} CPU s  ({len(v)})"
                )
        if len(problems) > 1:
            print("  mean", {m: round(float(np.mean(v)), 3) for m, v in means.items()})
    for name, never in worse.items():
        print(f"{name}: at least its best start - 0.02 in {np.mean(never):.1%} of {len(never)}")


def main() -> None:
    """Run panels, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panels", default="time")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=np.inf, help="CPU seconds to stop after")
    parser.add_argument("--out", type=Path, default=Path("bench_estimators.jsonl"))
    parser.add_argument("--only", default="", help="how the problems' names begin")
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.table:
        table(chosen.out)
    else:
        run(chosen.panels.split(","), chosen.seeds, chosen.out, chosen.seconds, chosen.only)


if __name__ == "__main__":
    main()
