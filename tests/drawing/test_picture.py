"""A figure that shows itself."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
import xarray
from matplotlib.figure import Figure
from PIL import Image

from learnability import LearnabilityError
from learnability.drawing.picture import Picture, checked_picture, finish
from learnability.drawing.style import ShowsItself, new_axes


def drawn() -> Picture:
    figure = Picture(figsize=(2, 1))
    figure.subplots().plot([0, 1])
    return figure


def test_a_notebook_gets_a_png_at_half_its_width() -> None:
    data, about = drawn()._repr_png_()
    picture = Image.open(BytesIO(data))
    assert picture.format == "PNG" and about == {"width": picture.width // 2}
    assert len(drawn().png(40)) < len(data)


def test_the_text_says_what_to_do_with_it() -> None:
    assert "2.0 x 1.0 inches" in repr(drawn()) and ".show()" in repr(drawn())
    assert isinstance(drawn(), Figure)


def test_without_a_screen_a_window_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "get_backend", lambda: "agg")
    with pytest.raises(LearnabilityError, match=r"No window can be opened here .*agg.*file="):
        drawn().show()
    drawn().show(warn=False)


def test_with_a_screen_a_window_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window of a backend that has no screen: what is asked of it is recorded."""
    from matplotlib import pyplot
    from matplotlib.backend_bases import FigureManagerBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    asked: list[object] = []

    class Manager(FigureManagerBase):
        def show(self) -> None:
            asked.append(self.canvas.figure)

        @classmethod
        def start_main_loop(cls) -> None:
            asked.append("loop")

    monkeypatch.setattr(FigureCanvasAgg, "manager_class", Manager)
    monkeypatch.setattr(pyplot, "get_backend", lambda: "tkagg")
    figure = drawn()
    figure.show()
    assert asked == [figure, "loop"]
    assert pyplot.get_fignums() == []


def test_the_file_has_its_numbers_beside_it_and_its_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "curve.svg"
    figure = drawn()
    assert finish(figure, xarray.Dataset({"a": 1.0}), path, show=False) is figure
    assert {file.suffix for file in path.parent.iterdir()} == {".svg", ".nc", ".csv"}
    assert "<svg" in path.read_text()


def test_a_picture_of_another_kind_is_refused() -> None:
    assert checked_picture(None) is None
    with pytest.raises(LearnabilityError, match=r"'a.txt', but \.pdf, \.svg, \.png are accepted"):
        checked_picture("a.txt")


def test_a_display_shows_itself_once_it_is_drawn() -> None:
    class Display(ShowsItself):
        pass

    display = Display()
    assert display._repr_png_() is None
    display.figure_ = new_axes().figure
    assert display._repr_png_()[0].startswith(b"\x89PNG")
    display.figure_ = Figure()  # Of the user: pyplot shows it.
    assert display._repr_png_() is None
