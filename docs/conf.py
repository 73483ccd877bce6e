"""The site: `make docs`. What it shows is in this folder or made from the code."""

import os
import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from http_pages import write_http_pages  # noqa: E402

import likewise  # noqa: E402

project = "likewise"
author = copyright = "the likewise developers"
version = release = likewise.__version__
METADATA = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))
REPOSITORY = METADATA["project"]["urls"]["Source"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
default_role = "code"
pygments_style = "sphinx"
# The documents are read on GitHub and in the terminal too, where code without a language is plain.
suppress_warnings = ["myst.header", "config.cache"]

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "likewise"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["likewise.css"]
html_show_sourcelink = False
# No empty column beside pages that have none below them.
html_sidebars = {"start": [], "how-it-works": []}
html_theme_options = {
    "github_url": REPOSITORY,
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "image_srcset": ["2x"],  # sharp on screens with small pixels
    "ignore_pattern": r"^(?!.*plot_)",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("likewise",),
    "plot_gallery": os.environ.get("LIKEWISE_GALLERY", "1") == "1",
}


def absolute_links(app, docname, source):
    """Point links out of this folder to the repository; pictures are copied as they are."""
    source[0] = re.sub(
        r"(?<!!)(\[[^\]]*\])\(\.\./(?!examples|docs)([^)]+)\)",
        rf"\1({REPOSITORY}/blob/main/\2)",
        source[0],
    )


def setup(app):
    """Write the pages of the HTTP API before the others are read."""
    app.connect("builder-inited", lambda _: write_http_pages(HERE))
    app.connect("source-read", absolute_links)
