"""The page in a real browser: Debian's Chromium, driven by Selenium.

`make test` runs the first two when Chromium is there; `make browser` installs it and runs all.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest

import learnability as lb
from learnability.explorer.frames import plain
from learnability.explorer.server import PAGES

from tests.explorer.conftest import Running
from tests.explorer.hostile import TABLES, TEXTS

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = Path(os.environ.get("AXE", ".venv/axe/package/axe.min.js"))
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="`make browser` installs Debian's chromium and its driver"
)
CURVE = {"expression": "abs(z)", "alpha": "0.5,1,1.5", "runs": "1,1.5", "d": "40", "seeds": "2"}


class Tab:
    """One window of the browser."""

    def __init__(self, base: str, width: int = 1280, dark: bool = False) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        service = webdriver.ChromeService(executable_path=DRIVER)
        self.base, self.driver = base, webdriver.Chrome(options=options, service=service)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        if dark:
            scheme = {"name": "prefers-color-scheme", "value": "dark"}
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def open(self, page: str, **values: str) -> None:
        self.driver.get(f"{self.base}/{page}?{urlencode(values)}" if values else
                        f"{self.base}/{page}")  # fmt: skip
        self.until("return document.body.dataset.ready === 'yes'")

    def run(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    def until(self, script: str, seconds: float = 60) -> Any:
        """What a script returns, once that is something."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.05)
        shown = self.run("return document.getElementById('main').innerText")
        raise AssertionError(f"{script} did not come true; the page says:\n{shown}")

    def type(self, text: str) -> None:
        """Type a formula as a user does, and leave the field."""
        self.run(
            "const f = document.getElementById('formula'); f.focus(); f.value = arguments[0];"
            "f.dispatchEvent(new Event('input')); f.dispatchEvent(new Event('change'));",
            text,
        )

    def facts(self, link: str) -> Any:
        """The facts on the page, once they are those of a link."""
        return json.loads(
            self.until(
                "const f = document.querySelector('#facts [data-facts]')?.dataset.facts;"
                f"return f && JSON.parse(f).link === {json.dumps(link)} && f"
            )
        )

    def click(self, label: str) -> None:
        self.until(
            "const b = [...document.querySelectorAll('button')].find((b) => b.textContent === "
            f"{json.dumps(label)} && !b.hidden); if (b) b.click(); return Boolean(b)"
        )

    def numbers(self, side: str) -> list[list[str]]:
        """The rows of the table of numbers of one side: axis, seed, value, error."""
        rows = self.run(
            "const tables = [...document.querySelectorAll('main table')];"
            "return [...tables.at(-1).querySelectorAll('tbody tr')]"
            ".map((row) => [...row.children].map((cell) => cell.textContent))"
        )
        return [row[2:] for row in rows if row[0] == side]

    def addresses(self) -> set[str]:
        """Hosts of all requests that the page made."""
        logs = [json.loads(row["message"])["message"] for row in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in logs
                 if m["method"] == "Network.requestWillBeSent"]  # fmt: skip
        own = [one for one in asked if not one.startswith(("data:", "blob:", "chrome"))]
        return {urlsplit(one).netloc for one in own}


@pytest.fixture(scope="module")
def tabs(server: Running) -> Iterator[Callable[..., Tab]]:
    opened: dict[Any, Tab] = {}

    def tab(**about: Any) -> Tab:
        key = json.dumps(about)
        if key not in opened:
            opened[key] = Tab(server.base, **about)
        return opened[key]

    yield tab
    for one in opened.values():
        one.driver.quit()


def test_facts_are_those_of_the_report(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.open("explore", **{**CURVE, "expression": "z"})
    tab.type("sign(z1*z2)")
    assert tab.facts("sign(z1*z2)") == plain(lb.hardness("sign(z1*z2)").to_dict())
    tab.type("sign(z1*")
    assert "cannot be read" in tab.until(
        "return document.getElementById('formula-error').innerText"
    )


def test_crosses_are_runs_of_those_seeds(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.open("explore", **CURVE)
    tab.until("return document.querySelector('[data-theory=yes]')")
    tab.click("Run it")
    tab.until("return document.querySelector('[data-runs=yes]')")
    runs = lb.BayesAMP().simulate("abs(z)", d=40, alpha=[1.0, 1.5], seeds=2)
    seen = {(float(at), int(seed)): float(value) for at, seed, value, _ in tab.numbers("run")}
    for at in (1.0, 1.5):
        for seed in (0, 1):
            assert seen[at, seed] == runs.overlap.sel(alpha=at, seed=seed).item()
    theory = lb.BayesAMP().predict("abs(z)", alpha=[0.5, 1.0, 1.5])
    shown = [(float(value), float(error or 0)) for *_, value, error in tab.numbers("theory")]
    assert [value for value, _ in shown] == theory.overlap.values[:, 0, 0].tolist()
    spread = theory.overlap_stderr.values[:, 0, 0].tolist()
    assert [error for _, error in shown] == pytest.approx(spread, rel=0.06)
    assert len(tab.addresses()) == 1
    shared = tab.driver.current_url
    tab.driver.get("about:blank")
    tab.driver.get(shared)  # The runs come back with the address.
    tab.until("return document.querySelector('[data-runs=yes]')")
    again = {(float(at), int(seed)): float(value) for at, seed, value, _ in tab.numbers("run")}
    assert again == seen


@pytest.mark.browser
def test_the_state_is_in_the_address(tabs: Callable[..., Tab]) -> None:
    """Back and forward, and an address that was shared: all of the page comes back."""
    tab = tabs()
    tab.open("explore", **{**CURVE, "expression": "z"})
    tab.facts("z")
    tab.type("tanh(z)")
    tab.facts("tanh(z)")
    shared = tab.driver.current_url
    assert "tanh" in shared and "alpha" in shared
    tab.driver.back()
    tab.facts("z")
    assert tab.run("return document.getElementById('formula').value") == "z"
    tab.driver.forward()
    tab.facts("tanh(z)")
    tab.driver.get("about:blank")
    tab.driver.get(shared)
    tab.facts("tanh(z)")
    assert tab.run("return document.querySelector('[data-option=alpha]').value") == "0.5,1,1.5"


@pytest.mark.browser
def test_stop_leaves_no_process(tabs: Callable[..., Tab], server: Running) -> None:
    tab = tabs()
    tab.open("explore", expression="abs(z)", alpha="1", runs="4", d="2000", seeds="40")
    tab.until("return document.querySelector('[data-theory=yes]')")
    [before] = server.explorer.solvers.processes
    tab.click("Run it")
    tab.until("return document.querySelector('.progress:not([hidden])')")
    time.sleep(1)
    tab.click("Stop")
    end = time.monotonic() + 2
    gone = False
    while not gone and time.monotonic() < end:
        try:
            os.kill(before, 0)
            time.sleep(0.02)
        except ProcessLookupError:
            gone = True
    assert gone


@pytest.mark.browser
def test_what_is_copied_gives_the_numbers_of_the_page(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.open("explore", **{**CURVE, "run": "1"})
    tab.until("return document.querySelector('[data-runs=yes]')")
    seen = {(float(at), int(seed)): float(value) for at, seed, value, _ in tab.numbers("run")}
    tab.click("Copy as Python")
    script = tab.until(
        "const p = document.querySelector('[aria-label=\"What was copied\"]');"
        "return p.textContent.startsWith('import') && p.textContent"
    )
    names: dict[str, Any] = {}
    exec(script, names)
    runs = names["runs"].overlap
    found = {(at, seed): runs.sel(alpha=at, seed=seed).item() for at, seed in seen}
    assert found == seen and len(seen) == 4
    theory = [float(value) for _, _, value, _ in tab.numbers("theory")]
    assert theory == names["theory"].overlap.values[:, 0, 0].tolist()


@pytest.mark.browser
def test_errors_of_the_threshold_shrink(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.open("explore", **{**CURVE, "expression": "z1*z2", "alpha": "0.2,0.4"})
    final = tab.facts("z1*z2")["alpha_c_error"]
    errors = tab.run("return document.querySelector('#facts [data-facts]').dataset.estimates")
    shown = [*map(float, errors.split()), final]
    assert len(shown) == 3 and shown[0] > shown[1] > shown[2] > 0


@pytest.mark.browser
def test_hostile_texts_leave_a_sentence_or_a_formula(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.open("explore", **CURVE)
    for text in TEXTS:
        tab.type(text)
        kept = tab.run("return document.getElementById('formula').value")
        tab.until(f"return document.querySelector('.typeset').dataset.of === {json.dumps(kept)}")
        said = tab.run(
            "return document.getElementById('formula-error').innerText"
            " || document.querySelector('.typeset math')?.outerHTML"
        )
        assert bool(said) == bool(kept.strip()), text
        assert not tab.run("return document.querySelector('main script, main img')")
    tab.type("z1*z2")
    tab.facts("z1*z2")


@pytest.mark.browser
def test_hostile_tables_leave_a_sentence_or_a_table(
    tabs: Callable[..., Tab], tmp_path: Path
) -> None:
    from selenium.webdriver.common.by import By

    plain_names = [name for name in TABLES if "/" not in name and "\\" not in name]
    assert len(plain_names) >= 20
    tab = tabs()
    for name in plain_names:
        (tmp_path / name).write_bytes(TABLES[name])
        tab.open("data")
        tab.driver.find_element(By.ID, "table-file").send_keys(str(tmp_path / name))
        said = tab.until(
            "return document.querySelector('main .error').innerText"
            " || document.querySelector('main h2')?.innerText"
        )
        assert "fault of the library" not in said, (name, said)
        assert not tab.run("return document.querySelector('main script, main img')")


@pytest.mark.browser
def test_a_dropped_table_has_its_directions(tabs: Callable[..., Tab], tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = X[:, 1] + 0.1 * rng.standard_normal(300)
    rows = [",".join(f"{v:.5f}" for v in [*x, t]) for x, t in zip(X, y, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("a,b,c,d,y\n" + "\n".join(rows))
    tab = tabs()
    tab.open("data", components="1")
    tab.driver.find_element(By.ID, "table-file").send_keys(str(path))
    tab.click("Find the directions")
    tab.until("return document.getElementById('directions')?.dataset.directions === '1'")
    assert "Direction 1, standardised weights (90 %): b " in tab.run(
        "return document.querySelector('#directions pre').textContent"
    )


@pytest.mark.browser
def test_the_race_says_what_repetition_buys(tabs: Callable[..., Tab]) -> None:
    """He3 takes d² samples without repetition and d with it: a user clicks one example."""
    tab = tabs()
    tab.open("explore", **{**CURVE, "expression": "z"})
    tab.facts("z")
    tab.click("He3(z)")
    tab.facts("He3(z)")
    needed = tab.run(
        "const d = [...document.querySelectorAll('#facts details')]"
        ".find((d) => d.open && d.firstChild.textContent === 'Samples needed');"
        "return [...d.querySelectorAll('tbody tr')].map((r) => [...r.children]"
        ".map((c) => c.textContent))"
    )
    found = {row[0]: row[1] for row in needed}
    assert (found["one-pass SGD"], found["SGD with repetition"]) == ("d2", "d")


@pytest.mark.browser
def test_learners_race_and_functions_are_compared(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.open("race", **{"expression": "He2(z)", "learners": "2", "1.learner": "online-sgd",
                        "1.time": "0:1:3", "1.rule": "repetition", "2.learner": "bayes-amp",
                        "2.alpha": "1,2"})  # fmt: skip
    tab.until("return document.querySelectorAll('[data-theory=yes]').length === 2")
    heads = tab.run("return [...document.querySelectorAll('h2')].map((h) => h.textContent)")
    assert heads[:2] == ["Lane 1: online-sgd, rule repetition", "Lane 2: bayes-amp"]
    tab.open("compare", links="z\nHe3(z)")
    tab.until("return document.querySelectorAll('.cards .stairs').length === 2")


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_no_serious_fault(tabs: Callable[..., Tab], page: str, dark: bool) -> None:
    tab = tabs(width=390, dark=dark)
    tab.open(page)
    time.sleep(1)
    if page == "gallery":  # The formula of the eleventh card is wider than a phone.
        tab.until("return document.querySelectorAll('.cards .typeset').length > 10")
    assert len(tab.addresses()) == 1
    wide = tab.run("return document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"the page is {wide} pixels wider than a phone"
    if not AXE.is_file():
        pytest.skip("`make browser` fetches axe-core where npm is installed")
    tab.run(AXE.read_text(encoding="utf-8") + "; window.axe = axe;")
    found = tab.driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((r) => done(r.violations.filter((v) =>"
        " ['serious', 'critical'].includes(v.impact)).map((v) => [v.id, v.nodes[0].html])))"
    )
    assert found == []
