"""The page for a colleague in a real browser without network; `make browser` runs it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="`make browser` installs Chromium"),
]
LINKS = ("abs(z)", "sign(z1*z2)", "poisson(z**2)")
LARGEST = 2e6
"""Bytes of a page."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium that is cut off from the network and keeps its console and its requests."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=DRIVER)
    )
    driver.execute_cdp_cmd("Network.enable", {})
    cut = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", cut)
    yield driver
    driver.quit()


@pytest.mark.parametrize("link", LINKS)
def test_a_page_opens_without_network_and_errors(
    link: str, run: Any, browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    done = run("report", link, "--html", str(path), "--d", "40", "--seeds", "2")
    assert done.code == 0, done.err
    assert path.stat().st_size < LARGEST
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    seen = browser.execute_script(
        "const pictures = [...document.images];"
        "return {loaded: pictures.filter((one) => one.naturalWidth > 0).length,"
        " all: pictures.length, said: pictures.filter((one) => one.alt.length > 10).length,"
        " formulas: document.querySelectorAll('math').length, text: document.body.innerText}"
    )
    assert seen["all"] == seen["loaded"] == seen["said"] > 0
    assert seen["formulas"] > 0 and "alpha" in seen["text"]
    assert _requests(browser) == {path.as_uri()}


def _requests(browser: Any) -> set[str]:
    """What the page asked for, its embedded data left out."""
    messages = [json.loads(row["message"])["message"] for row in browser.get_log("performance")]
    asked = [message["params"]["request"]["url"] for message in messages
             if message["method"] == "Network.requestWillBeSent"]  # fmt: skip
    return {one for one in asked if not one.startswith("data:")}
