"""Sphinx's settings: Markdown pages, numpydoc docstrings; `make docs` treats warnings as errors."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "learnability"
author = "the learnability developers"
project_copyright = author
release = version = installed_version("learnability")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "_ext",
    "generated/examples/sg_execution_times*",
    "generated/examples/*.ipynb",
    "generated/examples/*.py",
]
templates_path = ["_templates"]
nitpicky = False

html_math_renderer = "mathml"  # readable without network
myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
nb_execution_mode = "cache"  # a page runs again when its code has changed
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
myst_heading_anchors = 3

autosummary_generate = True
# `hardness` and `Hardness` would be one file on a file system that ignores case.
autosummary_filename_map = {"learnability.Hardness": "learnability.Hardness_report"}
autodoc_typehints = "none"  # the docstrings name the types, with shapes
numpydoc_show_class_members = False  # the class template lists them
numpydoc_class_members_toctree = False


def picture_of(block, block_vars, gallery_conf):
    """Save the figure that an example calls `picture`, for its page and its thumbnail."""
    from sphinx_gallery.scrapers import figure_rst

    figure = block_vars["example_globals"].pop("picture", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=150)
    return figure_rst([path], gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/examples",
    "filename_pattern": "/plot_",
    "ignore_pattern": "mean_vector",
    "image_scrapers": (picture_of,),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # their page loads scripts from elsewhere
}
suppress_warnings = ["config.cache"]  # The scraper is a function, which is not pickled.

html_theme = "furo"
html_title = "learnability"
html_static_path = ["_static"]
html_css_files = ["learnability.css"]
html_js_files = ["focus.js"]


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


def make_thumbnails(app):
    """Small versions of the figures, for the gallery."""
    from PIL import Image

    folder = HERE / "_static" / "thumbnails"
    folder.mkdir(exist_ok=True)
    for path in (HERE / "_static").glob("*.png"):
        small = folder / path.name
        if not small.exists() or small.stat().st_mtime < path.stat().st_mtime:
            picture = Image.open(path).convert("RGB")
            picture.thumbnail((480, 300))
            picture.save(small, optimize=True)


def setup(app):
    """Run after numpydoc, which rewrites the docstrings at the default priority."""
    app.connect("builder-inited", make_thumbnails)
    app.connect("autodoc-process-docstring", escape_bars, priority=600)
    app.connect("autodoc-skip-member", skip_foreign)
