"""How Sphinx builds the site. ``make docs`` (tools/docs.py) puts the pages together first, then runs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
os.environ.setdefault("COLUMNS", "80")


project = "retrograd"
author = "the retrograd developers"
copyright = "the retrograd developers"  # noqa: A001  (Sphinx calls it so)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "docsite.explorer",
    "docsite.mathml",
]
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
exclude_patterns = ["_static"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autoclass_content = "class"
napoleon_use_rtype = False
napoleon_preprocess_types = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "retrograd"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"}), ("classroom.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_show_search_summary = False  # it would fetch each page found, which a browser refuses to a file
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "color-brand-primary": "#0072b2",
        "color-brand-content": "#005f96",
        "color-background-primary": "#fdfcfa",
        "color-background-secondary": "#f6f4ef",
        "color-foreground-primary": "#1d2126",
        "color-foreground-muted": "#5d656e",
        "plot-ink": "#1d2126",
        "plot-soft": "#8d949b",
        "plot-line": "#d9d5cc",
        "plot-1": "#0072b2",
        "plot-2": "#b84a00",
        "plot-3": "#6b7a1f",
        "plot-4": "#8a4f9e",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cbdf0",
        "color-brand-content": "#7cc4f2",
        "color-background-primary": "#15181c",
        "color-background-secondary": "#1b1f24",
        "color-foreground-primary": "#e8e6e1",
        "color-foreground-muted": "#a3abb3",
        "plot-ink": "#e8e6e1",
        "plot-soft": "#8d949b",
        "plot-line": "#353b42",
        "plot-1": "#56b4e9",
        "plot-2": "#f0854a",
        "plot-3": "#b5c25a",
        "plot-4": "#c793d8",
    },
}
# Every colour of theirs can be read on its ground: 7 to 1.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
