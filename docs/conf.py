"""The documentation site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

Pages of other folders of the repository are copied next to those of this folder before the build, and links between
pages are rewritten to their places on the site.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import warnings
from pathlib import Path

import pi_xgb

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "pi_xgb"
author = "The pi_xgb contributors"
copyright = "the pi_xgb contributors"
version = release = pi_xgb.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "pictures/*.ipynb", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]

# The pages.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_render_markdown_format = "myst"
nb_execution_mode = "off"  # notebooks are run by CI, and shown as they are committed
copybutton_prompt_text = ">>> |... |$ "
copybutton_prompt_is_regexp = False
copybutton_only_copy_prompt_lines = True
# The reference, made from the docstrings.
SPARK = importlib.util.find_spec("pyspark") is not None
autosummary_generate = [page.name for page in sorted(HERE.glob("api_*.md")) if SPARK or page.stem != "api_spark"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Methods that scikit-learn writes for its metadata routing; their text links into scikit-learn's pages.
_ROUTING = ("fit", "partial_fit", "predict", "predict_proba", "score", "split")
autodoc_default_options = {"exclude-members": ",".join(f"set_{method}_request" for method in _ROUTING)}

# Pictures that are drawn while the site is built.
warnings.filterwarnings("ignore", message=".*non-interactive.*")
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "pictures",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "thumbnail_size": (640, 448),
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),  # no text of the axes beside the picture
    "plot_gallery": os.environ.get("PI_XGB_DOCS_PICTURES", "1") != "0",
}

html_theme = "pydata_sphinx_theme"
html_title = f"pi_xgb {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "pi_xgb"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

COPIED = {
    **{page: f"evidence/{page.name}" for page in sorted((ROOT / "benchmarks").glob("*.md"))},
    **{page: f"notebooks/{page.name}" for page in sorted((ROOT / "notebooks").glob("*.ipynb"))},
    ROOT / "CHANGELOG.md": "project/changelog.md",
    ROOT / "CONTRIBUTING.md": "project/contributing.md",
}
"""Pages of other folders, and their places on the site."""
FOUND_FIRST = {
    "shap": ("faq", "How do I explain the model with SHAP?"),
    "onnx": ("deployment", "Deploy"),
    "early stopping": ("faq", "Does early stopping work?"),
    "missing labels": ("few_labels", "Rows without labels"),
    "soft labels": ("soft_labels", "Train on soft labels"),
    "gpu": ("deployment", "GPU"),
    "grid search": ("choosing", "By hand: `cv`, searches, Optuna"),
    "group gap": ("fairness", "Measure a group gap"),
}
"""What users search for, and the page and heading that the search of the site shows first."""
ON_SITE = COPIED | {page: page.name for page in HERE.glob("*.md")}
# No bracket within the words: in a notebook the text of a cell begins with one of JSON.
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def relinked(text: str, origin: Path, place: str) -> str:
    """A page's text with links to pages of the site; pictures stay, links to other files become their names."""

    def turned(link: re.Match[str]) -> str:
        picture, words, path, anchor = link.group(1), link.group(2), link.group(3), link.group(4) or ""
        if not path or "://" in path:
            return link.group(0)
        target = (origin.parent / path).resolve()
        if picture:
            return f"![{words}]({os.path.relpath(target, (HERE / place).parent)})"
        if target in ON_SITE:
            return f"[{words}]({os.path.relpath(ON_SITE[target], Path(place).parent)}{anchor})"
        named = f"`{target.relative_to(ROOT)}`"
        return named if words.strip("`") == target.name else f"{words} ({named})"

    return _LINK.sub(turned, text)


def copy_pages() -> None:
    """Copy the pages of other folders into this one."""
    for folder in ("evidence", "notebooks", "project"):
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir()
    for origin, place in COPIED.items():
        (HERE / place).write_text(relinked(origin.read_text(), origin, place))


def relink_own(app: object, page: str, source: list[str]) -> None:
    """Links to copied pages, examples without the empty line at their end, and entries of the index."""
    if page == "api_spark" and not SPARK:
        source[0] = "# Spark\n\nThis page is made where PySpark is installed.\n"
    origin = HERE / f"{page}.md"
    if origin in ON_SITE:
        source[0] = relinked(source[0], origin, origin.name).replace("\n\n```\n", "\n```\n")
    for words, (found, heading) in FOUND_FIRST.items():
        if found == page:  # a main entry of the index, which the search ranks above titles and text
            source[0] = re.sub(
                rf"^(#+ {re.escape(heading)})$", rf"\1\n\n```{{index}} ! {words}\n```", source[0], flags=re.M
            )


def setup(app: object) -> None:
    """Copy pages before Sphinx looks for them; rewrite links as it reads them."""
    copy_pages()
    app.connect("source-read", relink_own)  # type: ignore[attr-defined]
