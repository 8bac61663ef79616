"""The site: `make docs` builds it from these pages, the docstrings and the examples, without a network."""

import re
import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for gallery_settings.py

project = "LabelCut"
author = "The LabelCut developers"
copyright = author  # noqa: A001  (the name that Sphinx reads)
release = installed("labelcut")
version = ".".join(release.split(".")[:2])
language = "en"
smartquotes = False  # --label is an option, not a dash

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_templates", "gallery/*.ipynb", "gallery/GALLERY_HEADER.rst"]
templates_path = ["_templates"]

# Pages: Markdown that GitHub shows as well. Headings are link targets there, so they are here.
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4

# Reference: the docstrings. Types are in them; signatures stay short.
autosummary_generate = True
autosummary_filename_map = {
    "labelcut.Audit": "labelcut.Audit-class"
}  # not audit's file where case does not count
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template lists them, without the requests of scikit-learn
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery_settings.CutsLast",
    "reset_argv": "gallery_settings.file_name",
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,  # a time on a busy machine says nothing
    "download_all_examples": False,
    "capture_repr": (),
}

html_theme = "pydata_sphinx_theme"
html_title = "LabelCut"
html_static_path = ["_static"]
html_css_files = ["labelcut.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "history": [], "changelog": [], "contributing": []}
html_theme_options = {
    "logo": {"text": "LabelCut", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "github-dark",
}


def close_sessions(app, page, source):
    """Drop the empty line with which a session ends for doctest: on the page it is a gap."""
    source[0] = re.sub(r"^(```python\n>>> .*?\n)\n```$", r"\1```", source[0], flags=re.DOTALL | re.MULTILINE)


def setup(app):
    """Change sources as they are read."""
    app.connect("source-read", close_sessions)
