"""Sphinx's settings: Markdown pages, numpydoc docstrings; `make docs` treats warnings as errors."""

from importlib.metadata import version as installed_version

project = "learnability"
author = "the learnability developers"
project_copyright = author
release = version = installed_version("learnability")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
# `hardness` and `Hardness` would be one file on a file system that ignores case.
autosummary_filename_map = {"learnability.Hardness": "learnability.Hardness_report"}
autodoc_typehints = "none"  # the docstrings name the types, with shapes
numpydoc_show_class_members = False  # the class template lists them
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = "learnability"


def escape_bars(app, what, name, obj, options, lines):
    """Keep the bars of a norm in a docstring, |f|^2, from being read as a substitution."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[k] = "``".join(parts)


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what classes inherit from scikit-learn, whose pages describe it."""
    return True if (getattr(obj, "__module__", None) or "").startswith("sklearn") else None


def setup(app):
    """Run after numpydoc, which rewrites the docstrings at the default priority."""
    app.connect("autodoc-process-docstring", escape_bars, priority=600)
    app.connect("autodoc-skip-member", skip_foreign)
