"""Results of learners: files and tables."""

from learnability.results.files import FORMATS, save, whole_file
from learnability.results.tables import table

__all__ = ["FORMATS", "save", "table", "whole_file"]
