"""Results of learners: files and tables, and the layer that writes."""

from learnability.results.files import FORMATS, save
from learnability.results.tables import table
from learnability.results.writing import (
    check_place,
    own_folder,
    the_place,
    whole_file,
    whole_folder,
)

__all__ = [
    "FORMATS",
    "check_place",
    "own_folder",
    "save",
    "table",
    "the_place",
    "whole_file",
    "whole_folder",
]
