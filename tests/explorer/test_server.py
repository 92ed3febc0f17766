"""The server: who may ask, what is refused in a sentence, and that a job can be stopped."""

from __future__ import annotations

import http.client
import json
import os
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

import learnability as lb
from learnability.explorer.frames import plain
from learnability.explorer.server import PAGES

from tests.explorer.conftest import Running
from tests.explorer.hostile import TABLES, TEXTS


def parse(server: Running, text: str) -> Any:
    body = {"verb": "parse", "values": {"expression": text}}
    return json.loads(server.open("api/quick", body)[1])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_pages_come_with_a_strict_policy(server: Running) -> None:
    for page in PAGES:
        status, text, headers = server.open(page)
        assert status == 200 and text.startswith(b"<!doctype html>")
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["Referrer-Policy"] == "no-referrer"
    for name, kind in (("app.js", "text/javascript"), ("style.css", "text/css")):
        status, _, headers = server.open(f"static/{name}")
        assert status == 200 and headers["Content-Type"] == kind


def test_no_file_of_the_front_end_names_another_machine(server: Running) -> None:
    from learnability.explorer.server import STATIC

    for path in STATIC.rglob("*"):
        if path.suffix in (".js", ".css", ".html") and "vendor" not in path.parts:
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
            assert "http://" not in text and "https://" not in text, path


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Host": "evil.example:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_foreign_host_or_origin_gets_403(server: Running, headers: dict[str, str]) -> None:
    given = {k: v.format(port=server.explorer.port) for k, v in headers.items()}
    body = {"verb": "parse", "values": {"expression": "z"}}
    assert server.open("explore", **given)[0] == 403
    assert server.open("api/quick", body, **given)[0] == 403
    assert server.open("static/app.js", **given)[0] == 403


def test_its_own_origin_is_accepted(server: Running) -> None:
    own = f"http://127.0.0.1:{server.explorer.port}"
    assert server.open("explore", Origin=own)[0] == 200


@pytest.mark.parametrize("token", ["", "x", "a" * 32, "..", "%2e%2e"])
def test_a_wrong_token_gets_403(server: Running, token: str) -> None:
    root = f"http://127.0.0.1:{server.explorer.port}/{token}"
    for path in ("", "/explore", "/static/app.js", "/api/declarations", "/api/ask", "/api/none"):
        assert server.open(root + path)[0] == 403
        assert server.open(root + path, {})[0] == 403


def test_files_beside_the_front_end_are_not_served(server: Running) -> None:
    for path in ("static/../server.py", "static/%2e%2e/server.py", "static//etc/passwd"):
        assert server.open(path)[0] in (403, 404)


def test_sixty_hostile_texts_leave_sentences_and_a_living_server(server: Running) -> None:
    for text in TEXTS:
        found = parse(server, text)
        assert found["event"] in ("result", "error"), text
        assert "fault" not in found, (text, found)
        if found["event"] == "result":
            assert "<script" not in found["mathml"]
        else:
            assert (
                found["sentence"].endswith((".", "`", ")", "?")) and len(found["sentence"]) < 3000
            )
    assert parse(server, "z1*z2")["r"] == 2


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[" * 5000, b"\xff\xfe", b"1", b'{"verb": "fit"}', b'{"verb": "__class__"}',
     b'{"verb": "parse", "values": {"expression": "z", "set": "noise=1"}}', b" " * 300_000],
)  # fmt: skip
def test_a_hostile_request_is_a_sentence(server: Running, body: bytes) -> None:
    for path in ("api/quick", "api/ask", "api/file"):
        status, text, _ = server.open(path, body)
        assert status in (200, 409) and (b"sentence" in text or b"error" in text)
    assert parse(server, "z")["event"] == "result"


def test_a_hostile_table_leaves_a_living_server(server: Running) -> None:
    kind = {"Content-Type": "application/octet-stream"}
    for name, table in TABLES.items():
        query = urlencode({"verb": "columns", "name": name})
        [first, *_] = server.events(f"api/table?{query}", table, **kind)
        assert first["event"] in ("error", "result") and "fault" not in first, (name, first)
        if first["event"] == "result":
            target = first["columns"][-1]["name"]
            query = urlencode({"verb": "fit", "name": name, "target": target, "components": "1"})
            [found, *_] = server.events(f"api/table?{query}", table, **kind)
            assert "fault" not in found, (name, found)
    too_large = b"a,b\n" + b"1,2\n" * (server.explorer.limits.upload // 4)
    with pytest.raises(OSError):
        server.open("api/table?verb=columns&name=x.csv", too_large, **kind)
    assert parse(server, "z")["event"] == "result"


def test_facts_come_as_events(server: Running) -> None:
    body = {"verb": "hardness", "values": {"expression": "sign(z1*z2)"}}
    first, second = server.events("api/ask", body), server.events("api/ask", body)
    assert [event["event"] for event in first] == ["started", "result", "end"]
    assert first[1]["facts"] == json.loads(json.dumps(plain(lb.hardness("sign(z1*z2)").to_dict())))
    assert second == first


def test_a_file_of_nothing_is_refused(server: Running) -> None:
    status, text, _ = server.open("api/file", {"verb": "file", "values": {"kind": "csv"}})
    assert status == 409 and b"nothing to save" in text


def test_a_job_that_is_left_leaves_no_process(server: Running) -> None:
    """The process is gone within two seconds, and another answers."""
    server.events("api/ask", {"verb": "hardness", "values": {"expression": "z"}})
    [before] = server.explorer.solvers.processes
    [folder] = server.explorer.solvers.folders
    place = urlsplit(server.base)
    client = http.client.HTTPConnection(place.netloc, timeout=60)
    values = {"expression": "abs(z)", "alpha": "1", "d": "2000", "runs": "4", "seeds": "40"}
    body = json.dumps({"verb": "simulate", "learner": "bayes-amp", "values": values})
    client.request("POST", f"{place.path}/api/ask", body, {"Content-Type": "application/json"})
    answer = client.getresponse()
    assert b"started" in answer.readline()
    client.sock.close()
    answer.close()
    end = time.monotonic() + 2
    while (alive(before) or Path(folder).exists()) and time.monotonic() < end:
        time.sleep(0.02)
    assert not alive(before) and not Path(folder).exists()
    assert parse(server, "z")["event"] == "result"
    body = {"verb": "hardness", "values": {"expression": "2*z"}}  # The answer on z is kept.
    assert server.events("api/ask", body)[1]["facts"]["kind"] == "trivial"
    [after] = server.explorer.solvers.processes
    assert after != before
