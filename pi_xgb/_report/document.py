"""An HTML document that loads nothing: its head, its style, and the reader's own colours."""

from __future__ import annotations

from .css import CSS
from .html import Html, tag

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page may load: nothing. Its own style sheet is allowed."""


def document(title: str, *body: Html) -> str:
    """The whole text, from the doctype on."""
    head = tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        Html('<meta name="color-scheme" content="light dark">'),
        tag("title", title),
        tag("style", Html(CSS)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', *body), lang='en')}\n"
