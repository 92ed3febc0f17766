"""What pictures are made of: the house style, lines and crosses, curves, files."""

from learnability.drawing.curves import plot
from learnability.drawing.style import COLOURS, WIDTHS, house_style

__all__ = ["COLOURS", "WIDTHS", "house_style", "plot"]
