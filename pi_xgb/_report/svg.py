"""A matplotlib figure as an inline SVG of an HTML page, in the colours of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from .html import Html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, PAPER = "#010203", "#fcfdfe"
"""Placeholder colours, which no picture uses: the page's colours replace them."""

LOOK: dict[str, Any] = {
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.facecolor": PAPER,
    "legend.edgecolor": "#808080",
    "grid.color": "#808080",
    # Text stays text: a browser may have glyphs that matplotlib lacks.
    "svg.fonttype": "none",
    "svg.hashsalt": "pi_xgb",
}

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_FONT_FAMILY = re.compile(r"font-family:[^;]*;?\s*|font: (\S+) [^;]*")


@contextmanager
def page_colors() -> Iterator[None]:
    """Use matplotlib's defaults instead of the user's style, with the placeholder colours of :func:`as_svg`."""
    import matplotlib

    settings: Any = matplotlib.rcParams
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        settings.update(LOOK)
        yield


def as_svg(figure: Figure, alt: str, prefix: str) -> Html:
    """Return the figure as an element of a page; ``prefix`` makes its ids unique."""
    target = io.StringIO()
    figure.savefig(target, format="svg")
    root = ElementTree.fromstring(target.getvalue())
    _drop(root, (f"{_SVG}metadata", f"{_SVG}style"))
    used = set(_references(root))
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        _adapt(element, used, prefix)
    view = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": view, "role": "img", "aria-label": alt})
    return Html(ElementTree.tostring(root, encoding="unicode"))


def _drop(root: ElementTree.Element, unwanted: tuple[str, ...]) -> None:
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in unwanted]:
            parent.remove(child)


def _references(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        for value in element.attrib.values():
            yield from _REFERENCE.findall(value)
        if _HREF in element.attrib:
            yield element.attrib[_HREF].removeprefix("#")


def _adapt(element: ElementTree.Element, used: set[str], prefix: str) -> None:
    name = element.attrib.pop("id", None)
    if name in used:
        element.set("id", f"{prefix}-{name}")
    if _HREF in element.attrib:
        element.set("href", f"#{prefix}-{element.attrib.pop(_HREF).removeprefix('#')}")
    for key, value in list(element.attrib.items()):
        if key == "style":
            value = _FONT_FAMILY.sub(lambda found: f"font-size: {found[1]}" if found[1] else "", value)
            value = value.replace(INK, "currentColor").replace(PAPER, "var(--paper)")
        elif key == "d":
            value = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value).replace("\n", "")
        element.set(key, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
