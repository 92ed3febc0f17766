"""The page for a colleague."""

from __future__ import annotations

from pathlib import Path


def test_the_page_holds_the_report_and_the_curves(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "new" / "page.html"
    done = run("report", "abs(z)", "--html", str(path), "--d", "20", "--seeds", "2")
    assert (done.code, done.err) == (0, "") and str(path) in done.out
    page = path.read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 4
    assert "Learning curve of message passing" in page and "troiani2024" in page
    assert path.stat().st_size < 2e6 and "<script" not in page


def test_a_curve_without_an_answer_is_left_out(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "page.html"
    done = run("report", "tanh(z)", "--depth", "3", "--html", str(path), "--d", "0")
    assert done.code == 0 and "is left out" in done.err
    assert path.read_text(encoding="utf-8").count("data:image/png;base64,") == 1


def test_bad_files_and_sizes_are_refused(run) -> None:  # type: ignore[no-untyped-def]
    assert "`--html` was given as 'page.pdf'" in run("report", "z", "--html", "page.pdf").err
    assert "`--d` was given as 3" in run("report", "z", "--d", "3").err
